"""The events of each hook: kinds, actors, causes, to-dos, titles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.agents.claude.hooks import HOOKS as AGENT_HOOKS
from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.handlers.hooks.dispatch import DECIDERS, RECORDERS
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.events import HIDDEN, KINDS
from quarterdeck.core.model.runtime_event import EventName
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.titles import body_of, title_of, ui_of
from quarterdeck.wire import read_event, write_json
from tests.support.recorded_feeds import FEEDS, IN_ONE_SESSION, RECORDINGS, feed_of, session_feed
from tests.support.scene import Scene, bash


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda p: p.stem)
def test_every_recorded_payload_becomes_events_of_a_known_kind(recording: Path) -> None:
    payload = json.loads(recording.read_text())
    event = read_hook(payload, event_id="e1", at=1.0)
    result = reduce(State(runner_id="r"), HookReceived(event=event, attended=True))
    own_kinds = [e.kind for e in result.events if e.kind != "run.start"]
    assert own_kinds or event.event in {EventName.TEXT_STREAMED, EventName.TODO_DONE}
    assert "unknown.hook" not in own_kinds or event.event == EventName.TEXT_STREAMED
    for made in result.events:
        assert isinstance(made.data, KINDS[made.kind])
        assert title_of(made) != made.kind
        assert read_event(write_json(made)) == made


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda p: p.stem)
def test_every_recorded_payload_gives_the_feed_that_it_always_gave(recording: Path) -> None:
    assert feed_of(recording) == json.loads(FEEDS.read_text())[recording.stem]


def test_all_recorded_payloads_of_one_session_give_the_feed_that_they_always_gave() -> None:
    assert session_feed() == json.loads(FEEDS.read_text())[IN_ONE_SESSION]


def test_every_registered_hook_has_a_handler() -> None:
    assert {hook.event for hook in AGENT_HOOKS.values()} - {EventName.TEXT_STREAMED} == {*DECIDERS, *RECORDERS}
    assert DECIDERS.keys().isdisjoint(RECORDERS)


def test_a_result_points_to_the_call_it_answers() -> None:
    scene = Scene().receives("PreToolUse", **bash("ls", "t1"))
    announced = scene.last.events[-1].event_id
    scene.receives("PostToolUse", **bash("ls", "t1"))
    cause = scene.last.events[-1].cause
    assert cause is not None
    assert (cause.parent_event_id, cause.tool_use_id, cause.hook_request_id) == (announced, "t1", "e2")


def test_each_sub_agent_is_an_actor() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go")
    scene.receives("SubagentStart", agent_id="a1", agent_type="Explore").records("subagent.start")
    assert scene.last.events[0].actor_id == "agent:root"
    scene.receives("PreToolUse", **bash("ls", "t1", agent="a1"))
    assert scene.last.events[0].actor_id == "subagent:a1"
    assert scene.session.actors["subagent:a1"].display_name == "Explore"
    scene.receives("SubagentStop", agent_id="a1", agent_type="Explore").records("subagent.stop")


def test_a_to_do_list_is_followed_until_it_is_done() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go")
    scene.receives("PostToolUse", **todo_write(("find", "in_progress"), ("fix", "pending")))
    scene.records("tool.post", "todo.add", "todo.update", "todo.add")
    scene.receives("PostToolUse", **todo_write(("find", "completed"), ("fix", "completed")))
    scene.records("tool.post", "todo.done", "todo.done")
    scene.receives("Stop").is_now(AgentState.COMPLETE).folds()


def test_complete_needs_a_to_do_and_all_of_them_done() -> None:
    assert Scene().receives("UserPromptSubmit", prompt="go").receives("Stop").is_now(AgentState.SETTLED)
    scene = (
        Scene().receives("UserPromptSubmit", prompt="go").receives("PostToolUse", **todo_write(("a", "in_progress")))
    )
    scene.receives("Stop").is_now(AgentState.SETTLED)


def test_an_item_that_leaves_the_list_is_done_as_removed() -> None:
    scene = Scene().receives("PostToolUse", **todo_write(("a", "pending"), ("b", "pending")))
    scene.receives("PostToolUse", **todo_write(("b", "pending"))).records("tool.post", "todo.done")
    assert scene.last.events[1].data.reason == "removed"


def test_tasks_come_from_their_hooks_and_their_tools_once() -> None:
    scene = Scene().receives("TaskCreated", task_id="1", task_subject="find").records("todo.add")
    scene.receives(
        "PostToolUse", tool_name="TaskCreate", tool_input={"subject": "find"}, tool_response={"task": {"id": "1"}}
    )
    scene.records("run.start", "tool.post")
    scene.receives("PostToolUse", tool_name="TaskUpdate", tool_input={"taskId": "1", "status": "in_progress"})
    scene.records("tool.post", "todo.update")
    scene.receives("TaskCompleted", task_id="1", task_subject="find").records("todo.done")


def todo_write(*items: tuple[str, str]) -> dict[str, Any]:
    todos = [{"content": text, "status": status} for text, status in items]
    return {"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_use_id": "w"}


def test_titles_are_plain_english() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="add a limiter\nplease")
    titles = [title_of(e) for e in scene.events]
    assert titles == ["▸ Run: add a limiter", "❯ add a limiter please"]
    scene.receives("PreToolUse", tool_name="Read", tool_input={"file_path": "/w/app/login.py"}, tool_use_id="t")
    assert title_of(scene.events[-1]) == "● Read(login.py)"
    scene.receives("PostToolUse", tool_name="Read", tool_input={}, tool_use_id="t")
    assert title_of(scene.events[-1]) == "⎿ Read result"
    scene.receives("PermissionRequest", **bash("rm -rf x"))
    assert title_of(scene.events[-1]) == "⚠ Permission: Bash(rm -rf x)"
    scene.receives("Nonsense")
    assert title_of(scene.events[-1]) == "? Nonsense"


def test_rendering_hints_follow_the_table() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="x").receives("PreToolUse", **bash("ls", "t"))
    hints = ui_of(scene.events[-1])
    assert (hints.collapsed_default, hints.badge) == (True, "TOOL")
    scene.receives("PostToolUseFailure", error="boom", **bash("ls", "t"))
    assert (ui_of(scene.events[-1]).badge, body_of(scene.events[-1])) == ("FAIL", "boom")
    scene.receives("PostToolBatch", tool_calls=[])
    assert scene.events[-1].kind in HIDDEN


def test_long_text_is_cut_in_the_middle() -> None:
    assert cut("a" * 200, 11) == "aaaaa…aaaaa"


def test_context_is_recorded_once_and_then_only_when_it_changes() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="x", permission_mode="default")
    assert scene.events[0].context is not None
    assert scene.events[0].context.cwd == "/w/app"
    scene.receives("PreToolUse", permission_mode="default", **bash("ls", "t"))
    assert scene.events[-1].context is None
    scene.receives("PreToolUse", permission_mode="plan", **bash("ls", "t2"))
    assert scene.session.context.permission_mode == "plan"
