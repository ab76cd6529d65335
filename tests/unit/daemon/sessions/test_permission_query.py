"""A permission request over an SDK is read like the agent's own hook."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Session
from quarterdeck.daemon.sessions.permission_query import event_of
from quarterdeck.sessions.launcher import PermissionQuery

QUERY = PermissionQuery(
    agent="claude",
    entrypoint="sdk-py",
    session_id="tag",
    tool_name="Bash",
    tool_input={"command": "ls"},
    tool_use_id="t1",
    agent_id="a1",
    title="List files",
)
SESSION = Session(
    session_id="s1", started_at=0.0, last_event_at=0.0, context=Context(cwd="/w", permission_mode="plan", tag="tag")
)


def test_a_request_over_an_sdk_is_the_event_of_the_permission_hook() -> None:
    made = event_of(QUERY, SESSION, "e1")
    payload = {
        "hook_event_name": "PermissionRequest",
        "session_id": "s1",
        "cwd": "/w",
        "permission_mode": "plan",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t1",
        "agent_id": "a1",
        "title": "List files",
    }
    by_hook = AGENTS["claude"].read_event(payload, event_id="e1", at=made.at, entrypoint="sdk-py", tag="tag")
    own = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "permission_suggestions": [], "title": "List files"}
    assert made == replace(by_hook, payload=own)


def test_of_a_session_that_is_not_known_only_the_request_counts() -> None:
    made = event_of(replace(QUERY, tool_use_id="not an id", agent_id=None), None, "e1")
    assert (made.session_id, made.context) == ("tag", Context(entrypoint="sdk-py", tag="tag"))
    assert (made.tool_use_id, made.agent_id) == (None, None)
