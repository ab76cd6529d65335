"""Runs, their order and their counters; decisions as they are recorded."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.step import decision_data, sent_decision
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Allow, Answer, Ask, Block, Decision, Deny, NoOpinion, Source
from quarterdeck.core.model.event_data.request_data import DecisionData
from tests.support.scene import Scene, bash


def test_a_prompt_opens_a_run_and_its_stop_closes_it() -> None:
    scene = Scene()
    scene.receives("SessionStart", source="startup").records("session.start").is_now(AgentState.IDLE)
    scene.receives("UserPromptSubmit", prompt="go").records("run.start", "user.prompt").is_now(AgentState.RUNNING)
    scene.receives("Stop").records("stop.request", "run.end").is_now(AgentState.SETTLED)
    assert [e.run_id for e in scene.events] == ["s1:R0", "s1:R1", "s1:R1", "s1:R1", "s1:R1"]
    assert scene.events[-1].data.status == "completed"
    scene.folds()


def test_the_first_event_of_a_session_and_of_each_run_names_the_transcript() -> None:
    scene = Scene().receives("SessionStart", source="startup", transcript_path="/t/s1.jsonl")
    for words in ("one", "two"):
        scene.receives("UserPromptSubmit", prompt=words)
    named = {e.event_id: e.cause.transcript_path for e in scene.events if e.cause and e.cause.transcript_path}
    assert named == dict.fromkeys(["s1:R0:E1", "s1:R1:E1", "s1:R2:E1"], "/t/s1.jsonl")


def test_a_new_prompt_closes_the_run_that_never_stopped() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one").receives("UserPromptSubmit", prompt="two")
    scene.records("run.end", "run.start", "user.prompt")
    assert scene.last.events[0].data.status == "aborted"
    assert scene.last.events[1].run_id == "s1:R2"


def test_the_end_of_a_session_closes_its_run() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one").receives("SessionEnd", reason="other")
    scene.records("run.end", "session.end").is_now(AgentState.ENDED).folds()
    assert scene.last.events[1].run_id == "s1:R0"


def test_a_clear_ends_the_conversation_but_does_not_say_ended() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one").receives("Stop").receives("SessionEnd", reason="clear")
    scene.is_now(AgentState.SETTLED)
    assert scene.session.ended_at is not None
    scene.receives("SessionStart", session="s2", source="clear")
    assert scene.state.sessions["s2"].agent_state is AgentState.IDLE


def test_a_tool_call_without_a_prompt_opens_a_run() -> None:
    scene = Scene().receives("PreToolUse", **bash("ls", "t1")).records("run.start", "tool.pre")
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
    scene = Scene().receives(hook, **payload)
    assert [e.run_id for e in scene.events] == ["s1:R0"]


def test_a_resumed_session_opens_a_run_which_an_untouched_prompt_completes() -> None:
    scene = Scene().receives("SessionStart", source="resume").records("session.start", "run.start")
    assert scene.last.events[1].data.trigger.type == "resume"
    scene.is_now(AgentState.IDLE).receives("UserPromptSubmit", prompt="on")
    assert scene.last.events[0].data.status == "completed"


def test_a_task_notification_is_the_systems_prompt_and_closes_nothing() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one")
    scene.receives("UserPromptSubmit", prompt="<task-notification>\n<task-id>x</task-id>").records("user.prompt")
    assert scene.last.events[0].actor_id == "system"
    assert scene.last.events[0].run_id == "s1:R1"


def test_a_stop_with_work_in_the_background_keeps_its_run() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one")
    scene.receives("Stop", background_tasks=[{"id": "a", "status": "running"}]).records("stop.request")
    scene.is_now(AgentState.RUNNING).receives("Stop", background_tasks=[]).records("stop.request", "run.end")


def test_a_blocked_stop_keeps_its_run() -> None:
    scene = Scene(hold_stop=True).receives("UserPromptSubmit", prompt="one")
    scene.receives("Stop", id="r").records("stop.request").holds("r")
    scene.decides("r", Block("run the tests first")).records("stop.decision").is_now(AgentState.RUNNING)
    assert scene.session.run is not None
    scene.receives("Stop", id="r2", stop_hook_active=True).decides("r2", NoOpinion()).records(
        "stop.decision", "run.end"
    )
    scene.is_now(AgentState.SETTLED).folds()


def test_a_failed_stop_ends_the_run_as_failed() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one").receives("StopFailure", error="rate_limit")
    scene.records("stop.failure", "run.end")
    assert scene.last.events[1].data.status == "failed"


def test_a_run_counts_what_it_did() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one")
    scene.receives("PreToolUse", **bash("a", "t1")).receives("PostToolUse", **bash("a", "t1"))
    scene.receives("PreToolUse", **bash("b", "t2")).receives("PermissionRequest", id="r", **bash("b"))
    scene.receives("PostToolUseFailure", error="boom", **bash("b", "t2")).receives("Stop")
    counters = scene.last.events[-1].data.counters
    assert (counters.tool_uses, counters.tool_failures, counters.permission_requests) == (2, 1, 1)


def test_sessions_do_not_disturb_each_other() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one").receives("UserPromptSubmit", session="s2", prompt="two")
    scene.receives("Stop", session="s2")
    assert scene.state.sessions["s1"].run is not None
    assert scene.state.sessions["s2"].run is None


@pytest.mark.law("E2")
def test_event_ids_continue_when_an_ended_session_is_resumed() -> None:
    scene = Scene().receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="one")
    scene.receives("SessionEnd", reason="other").receives("SessionStart", source="resume").receives(
        "UserPromptSubmit", prompt="b"
    )
    ids = [e.event_id for e in scene.events]
    assert len(ids) == len(set(ids))
    assert scene.session.run is not None
    assert scene.session.run.run_id == "s1:R3"
    scene.folds()


def test_a_late_result_does_not_change_a_resting_session() -> None:
    scene = (
        Scene().receives("UserPromptSubmit", prompt="one").receives("PreToolUse", **bash("a", "t1")).receives("Stop")
    )
    scene.receives("PostToolUse", **bash("a", "t1")).is_now(AgentState.SETTLED)
    scene.receives("SessionEnd", reason="other").receives("PostToolUse", **bash("a", "t1")).is_now(
        AgentState.ENDED
    ).folds()


@pytest.mark.parametrize("hook", ["PostToolUse", "PostToolUseFailure", "PostToolBatch", "Stop"])
@pytest.mark.parametrize("end", ["SessionEnd", "Stop"])
def test_a_hook_after_the_end_opens_no_run_and_changes_no_state(hook: str, end: str) -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one").receives(end, reason="other")
    before = (scene.session.agent_state, scene.session.ended_at)
    scene.receives(hook, **bash("a", "t1"))
    assert (scene.session.agent_state, scene.session.ended_at) == before
    assert scene.session.run is None
    scene.folds()


@pytest.mark.parametrize(("hook", "state"), [("PreToolUse", "running"), ("PermissionRequest", "waiting_permission")])
def test_new_work_revives_an_ended_session(hook: str, state: str) -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="one").receives("SessionEnd", reason="other")
    scene.receives(hook, **bash("a", "t1"))
    assert (scene.session.ended_at, scene.session.agent_state) == (None, state)
    assert scene.session.run is not None
    scene.folds()


def test_a_recorded_decision_has_a_field_for_each_field_of_every_decision() -> None:
    assert all(set(kind.__struct_fields__) <= set(DecisionData.__struct_fields__) for kind in get_args(Decision))


@pytest.mark.parametrize(
    "decision",
    [
        Allow(updated_input={}, updated_permissions=[{"type": "setMode"}]),
        Deny("no"),
        Deny("", interrupt=True),
        Ask("a rule"),
        Answer({"Which?": "that"}, {"Which?": "a note"}),
        Block("go on"),
        NoOpinion(),
    ],
)
def test_a_decision_is_read_from_its_record_as_it_was_sent(decision: Decision) -> None:
    request = next(iter(Scene().receives("PermissionRequest", **bash("ls")).state.requests.values()))
    recorded = decision_data(request, decision, Source.USER, "ann")
    assert sent_decision(replace(request, decision=recorded)) == decision


@pytest.mark.parametrize(("kind", "sent"), [("deny", Deny("")), ("answer", Answer({})), ("block", Block(""))])
def test_a_recorded_decision_that_lacks_a_field_is_read_without_an_error(kind: str, sent: Decision) -> None:
    request = next(iter(Scene().receives("PermissionRequest", **bash("ls")).state.requests.values()))
    damaged = DecisionData(request_id="r1", decision_type=kind, source=Source.USER, by="ann")
    assert sent_decision(replace(request, decision=damaged)) == sent
