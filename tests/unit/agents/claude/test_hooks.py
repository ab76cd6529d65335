"""Claude Code's answers, word for word as the real CLI reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.agents.claude.hooks import HOOKS, read_hook, write_answer
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.decisions import Allow, Answer, Ask, Block, Decision, Deny, NoOpinion, PlanMode
from quarterdeck.core.model.runtime_event import EventName
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce

RECORDINGS = Path(__file__).parents[3] / "recordings" / "claude-code-hooks"
QUESTION = {"questions": [{"question": "Which database?", "options": []}]}
SUGGESTED = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]


def permission(**decision: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def before_tool(**answer: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **answer}}


@pytest.mark.law("D15")
@pytest.mark.parametrize(
    ("hook", "tool_input", "decision", "written"),
    [
        ("PermissionRequest", {}, Allow(), permission(behavior="allow")),
        (
            "PermissionRequest",
            {"command": "rm"},
            Allow(updated_input={"command": "ls"}),
            permission(behavior="allow", updatedInput={"command": "ls"}),
        ),
        (
            "PermissionRequest",
            {},
            Allow(updated_permissions=SUGGESTED),
            permission(behavior="allow", updatedPermissions=SUGGESTED),
        ),
        ("PermissionRequest", {}, Deny("no «é»"), permission(behavior="deny", message="no «é»")),
        ("PermissionRequest", {}, Deny("no", True), permission(behavior="deny", message="no", interrupt=True)),
        ("PermissionRequest", {}, Block("no"), permission(behavior="deny", message="no")),
        (
            "PermissionRequest",
            QUESTION,
            Answer({"Which database?": "Postgres"}),
            permission(behavior="allow", updatedInput={**QUESTION, "answers": {"Which database?": "Postgres"}}),
        ),
        ("PermissionRequest", {}, NoOpinion(), None),
        ("PermissionRequest", {}, Ask(), None),
        ("PreToolUse", {}, Allow(), before_tool(permissionDecision="allow")),
        ("PreToolUse", {}, Deny("no"), before_tool(permissionDecision="deny", permissionDecisionReason="no")),
        ("PreToolUse", {}, Ask("why"), before_tool(permissionDecision="ask", permissionDecisionReason="why")),
        (
            "PreToolUse",
            QUESTION,
            Answer({"Which database?": ["A", "B"]}, {"Which database?": "fast"}),
            before_tool(
                permissionDecision="allow",
                updatedInput={
                    **QUESTION,
                    "answers": {"Which database?": "A, B"},
                    "annotations": {"Which database?": {"notes": "fast"}},
                },
                additionalContext="The user answered:\nWhich database? A, B (note: fast)",
            ),
        ),
        ("PreToolUse", {}, NoOpinion(), None),
        ("Stop", {}, Block("go on"), {"decision": "block", "reason": "go on"}),
        ("Stop", {}, Allow(), None),
        ("SubagentStop", {}, Block("go on"), {"decision": "block", "reason": "go on"}),
        ("UserPromptSubmit", {}, Block("no"), {"decision": "block", "reason": "no"}),
        ("PostToolUse", {}, Block("look"), {"decision": "block", "reason": "look"}),
        (
            "Elicitation",
            {},
            Answer({"name": "x"}),
            {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept", "content": {"name": "x"}}},
        ),
        (
            "Elicitation",
            {},
            Deny("no"),
            {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "decline"}},
        ),
        (
            "Elicitation",
            {},
            Deny("no", True),
            {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "cancel"}},
        ),
        ("Notification", {}, Block("no"), None),
        ("Unheard", {}, Allow(), None),
    ],
)
def test_each_answer_is_written_as_the_cli_reads_it(
    hook: str, tool_input: dict[str, Any], decision: Decision, written: dict[str, Any] | None
) -> None:
    assert write_answer(hook, "Bash", tool_input, decision) == written


def test_an_approved_plan_is_returned_with_its_mode() -> None:
    """A bare allow leaves the plan's dialog open on 2.1.325."""
    plan = {"plan": "1. build", "planFilePath": "/p.md"}
    bare = permission(behavior="allow", updatedInput=plan)
    assert write_answer("PermissionRequest", "ExitPlanMode", plan, Allow()) == bare
    change = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    answer = permission(behavior="allow", updatedInput=plan, updatedPermissions=change)
    assert write_answer("PermissionRequest", "ExitPlanMode", plan, Allow(mode=PlanMode.ACCEPT_EDITS)) == answer


def test_all_events_of_the_cli_are_known() -> None:
    recorded = {p.stem.partition(".")[0] for p in RECORDINGS.glob("[A-Z]*.json")}
    assert len(HOOKS) == 33
    assert recorded <= set(HOOKS)
    assert {name for name, hook in HOOKS.items() if hook.since == "2.1.325"} == {
        "DirectoryAdded",
        "PreModelSwitch",
        "PostModelSwitch",
    }


def test_a_hook_that_is_not_registered_has_a_reason() -> None:
    assert all(hook.why for hook in HOOKS.values() if hook.transport == "never")
    assert HOOKS["WorktreeCreate"].transport == "never"


def test_a_payload_is_read_with_its_context() -> None:
    payload = json.loads((RECORDINGS / "PreToolUse.Bash.subagent.json").read_text())
    event = read_hook(payload, event_id="e1", at=5.0, entrypoint="cli", tag="t1", pid=7)
    assert (event.hook_name, event.tool_name, event.agent_id) == ("PreToolUse", "Bash", "af04114f0a7e96312")
    assert (event.context.cwd, event.context.entrypoint, event.context.tag) == ("/home/dev/project", "cli", "t1")
    assert (event.id, event.at, event.payload) == ("e1", 5.0, payload)


@pytest.mark.parametrize("payload", [None, 7, "x", [1], True])
def test_a_payload_that_is_no_object_is_wrapped(payload: Any) -> None:
    assert read_hook(payload, event_id="e", at=0.0).payload == {"value": payload}


@pytest.mark.law("I5")
@pytest.mark.parametrize("bad", ["../x", "a b", "", "x" * 129, "a\n", 7, None])
def test_an_id_that_could_be_a_path_is_rejected(bad: Any) -> None:
    event = read_hook({"session_id": bad, "agent_id": bad, "tool_use_id": bad}, event_id="e", at=0.0)
    assert (event.session_id, event.agent_id, event.tool_use_id) == ("unknown", None, None)


@pytest.mark.law("E7")
def test_an_unknown_hook_never_waits() -> None:
    for name in ("Unheard", "__proto__", "constructor", "", "PermissionRequest2"):
        event = read_hook({"hook_event_name": name}, event_id="e", at=0.0)
        assert event.event == EventName.UNKNOWN
        assert reduce(State(runner_id="r"), HookReceived(event=event, attended=True)).is_silent
