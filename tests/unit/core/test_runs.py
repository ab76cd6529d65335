"""Runs, their order and their counters."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Block, NoOpinion
from tests.support.scene import Scene, bash


def test_a_prompt_opens_a_run_and_its_stop_closes_it() -> None:
    scene = Scene()
    scene.hears("SessionStart", source="startup").records("session.start").is_now(AgentState.IDLE)
    scene.hears("UserPromptSubmit", prompt="go").records("run.start", "user.prompt").is_now(AgentState.RUNNING)
    scene.hears("Stop").records("stop.request", "run.end").is_now(AgentState.SETTLED)
    assert [e.run_id for e in scene.events] == ["s1:R0", "s1:R1", "s1:R1", "s1:R1", "s1:R1"]
    assert scene.events[-1].data.status == "completed"
    scene.folds()


def test_a_new_prompt_closes_the_run_that_never_stopped() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one").hears("UserPromptSubmit", prompt="two")
    scene.records("run.end", "run.start", "user.prompt")
    assert scene.last.events[0].data.status == "aborted"
    assert scene.last.events[1].run_id == "s1:R2"


def test_the_end_of_a_session_closes_its_run() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one").hears("SessionEnd", reason="other")
    scene.records("run.end", "session.end").is_now(AgentState.ENDED).folds()
    assert scene.last.events[1].run_id == "s1:R0"


def test_a_clear_ends_the_conversation_but_does_not_say_ended() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one").hears("Stop").hears("SessionEnd", reason="clear")
    scene.is_now(AgentState.SETTLED)
    assert scene.session.ended_at is not None
    scene.hears("SessionStart", session="s2", source="clear")
    assert scene.state.sessions["s2"].agent_state is AgentState.IDLE


def test_work_without_a_prompt_opens_a_run_of_its_own() -> None:
    scene = Scene().hears("PreToolUse", **bash("ls", "t1")).records("run.start", "tool.pre")
    assert scene.last.events[0].data.trigger.type == "other"


@pytest.mark.parametrize(
    ("hook", "payload"),
    [
        ("Notification", {"message": "idle", "notification_type": "idle_prompt"}),
        ("SessionStart", {"source": "startup"}),
        ("Setup", {"trigger": "init"}),
        ("PreCompact", {"trigger": "manual"}),
        ("CwdChanged", {"old_cwd": "/a", "new_cwd": "/b"}),
        ("SomethingNew", {"x": 1}),
    ],
)
def test_lifecycle_events_open_no_run(hook: str, payload: dict[str, Any]) -> None:
    scene = Scene().hears(hook, **payload)
    assert [e.run_id for e in scene.events] == ["s1:R0"]


def test_a_resumed_session_opens_a_run_which_an_untouched_prompt_completes() -> None:
    scene = Scene().hears("SessionStart", source="resume").records("session.start", "run.start")
    assert scene.last.events[1].data.trigger.type == "resume"
    scene.is_now(AgentState.IDLE).hears("UserPromptSubmit", prompt="on")
    assert scene.last.events[0].data.status == "completed"


def test_a_task_notification_is_the_systems_prompt_and_closes_nothing() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one")
    scene.hears("UserPromptSubmit", prompt="<task-notification>\n<task-id>x</task-id>").records("user.prompt")
    assert scene.last.events[0].actor_id == "system"
    assert scene.last.events[0].run_id == "s1:R1"


def test_a_stop_with_work_in_the_background_keeps_its_run() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one")
    scene.hears("Stop", background_tasks=[{"id": "a", "status": "running"}]).records("stop.request")
    scene.is_now(AgentState.RUNNING).hears("Stop", background_tasks=[]).records("stop.request", "run.end")


def test_a_stop_that_we_block_keeps_its_run() -> None:
    scene = Scene(hold_stop=True).hears("UserPromptSubmit", prompt="one")
    scene.hears("Stop", id="r").records("stop.request").holds("r")
    scene.decides("r", Block("run the tests first")).records("stop.decision").is_now(AgentState.RUNNING)
    assert scene.session.run is not None
    scene.hears("Stop", id="r2", stop_hook_active=True).decides("r2", NoOpinion()).records("stop.decision", "run.end")
    scene.is_now(AgentState.SETTLED).folds()


def test_a_failed_stop_ends_the_run_as_failed() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one").hears("StopFailure", error="rate_limit")
    scene.records("stop.failure", "run.end")
    assert scene.last.events[1].data.status == "failed"


def test_a_run_counts_what_it_did() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one")
    scene.hears("PreToolUse", **bash("a", "t1")).hears("PostToolUse", **bash("a", "t1"))
    scene.hears("PreToolUse", **bash("b", "t2")).hears("PermissionRequest", id="r", **bash("b"))
    scene.hears("PostToolUseFailure", error="boom", **bash("b", "t2")).hears("Stop")
    counters = scene.last.events[-1].data.counters
    assert (counters.tool_uses, counters.tool_failures, counters.permission_requests) == (2, 1, 1)


def test_sessions_do_not_disturb_each_other() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one").hears("UserPromptSubmit", session="s2", prompt="two")
    scene.hears("Stop", session="s2")
    assert scene.state.sessions["s1"].run is not None
    assert scene.state.sessions["s2"].run is None


@pytest.mark.law("E2")
def test_event_ids_go_on_when_a_session_that_ended_is_resumed() -> None:
    scene = Scene().hears("SessionStart", source="startup").hears("UserPromptSubmit", prompt="one")
    scene.hears("SessionEnd", reason="other").hears("SessionStart", source="resume").hears(
        "UserPromptSubmit", prompt="b"
    )
    ids = [e.event_id for e in scene.events]
    assert len(ids) == len(set(ids))
    assert scene.session.run is not None
    assert scene.session.run.run_id == "s1:R3"
    scene.folds()


def test_a_late_result_does_not_wake_a_session_that_rests() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one").hears("PreToolUse", **bash("a", "t1")).hears("Stop")
    scene.hears("PostToolUse", **bash("a", "t1")).is_now(AgentState.SETTLED)
    scene.hears("SessionEnd", reason="other").hears("PostToolUse", **bash("a", "t1")).is_now(AgentState.ENDED).folds()


@pytest.mark.parametrize("hook", ["PostToolUse", "PostToolUseFailure", "PostToolBatch", "Stop"])
@pytest.mark.parametrize("end", ["SessionEnd", "Stop"])
def test_what_comes_after_the_end_opens_no_run_and_wakes_nobody(hook: str, end: str) -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one").hears(end, reason="other")
    before = (scene.session.agent_state, scene.session.ended_at)
    scene.hears(hook, **bash("a", "t1"))
    assert (scene.session.agent_state, scene.session.ended_at) == before
    assert scene.session.run is None
    scene.folds()


@pytest.mark.parametrize(("hook", "state"), [("PreToolUse", "running"), ("PermissionRequest", "waiting_permission")])
def test_real_work_brings_an_ended_session_back_whole(hook: str, state: str) -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="one").hears("SessionEnd", reason="other")
    scene.hears(hook, **bash("a", "t1"))
    assert (scene.session.ended_at, scene.session.agent_state) == (None, state)
    assert scene.session.run is not None
    scene.folds()
