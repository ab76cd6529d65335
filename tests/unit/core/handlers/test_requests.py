"""Requests: held, decided, late, resolved elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Allow, Answer, Block, Deny, NoOpinion, Source
from tests.support.scene import Scene, bash, with_request

QUESTIONS = {"questions": [{"question": "Which database?", "header": "DB", "options": [{"label": "Postgres"}]}]}


def test_a_person_decides_and_the_late_deadline_changes_nothing() -> None:
    scene = with_request().records("permission.request").holds("r1").is_now(AgentState.WAITING_PERMISSION)
    scene.decides("r1", Deny("not on main")).answers_with("r1", Deny("not on main")).records("permission.decision")
    scene.expires("r1").does_nothing()
    scene.folds()


def test_a_request_finds_the_call_it_is_about() -> None:
    scene = with_request()
    assert scene.request("r1").tool_use_id == "t1"
    assert scene.last.events[0].cause is not None
    assert scene.last.events[0].cause.parent_event_id == "s1:R1:E3"


def test_of_two_identical_calls_the_open_one_is_meant() -> None:
    scene = Scene().receives("PreToolUse", **bash("ls", "t1")).receives("PreToolUse", **bash("ls", "t2"))
    scene.receives("PermissionRequest", id="r1", **bash("ls"))
    assert scene.request("r1").tool_use_id == "t2"


@pytest.mark.law("D3")
def test_the_first_decision_wins_and_the_second_learns_who_was_first() -> None:
    scene = with_request().decides("r1", Allow(), by="ann").replies("applied")
    digest = scene.request("r1").digest
    scene.decides("r1", Deny("no"), digest=digest, by="bob").replies("already_decided").records("permission.decision")
    late = scene.last.events[0].data
    assert (late.late, late.by, late.decision_type) == (True, "bob", "deny")
    assert scene.answers["r1"] == [Allow()]
    scene.folds()


@pytest.mark.law("D4")
def test_a_decision_about_something_else_changes_nothing() -> None:
    scene = with_request()
    before = scene.state
    scene.decides("r1", Allow(), digest="0" * 64).replies("digest_mismatch")
    assert scene.state == before
    assert "r1" not in scene.answers


@pytest.mark.law("D4")
@pytest.mark.parametrize("change", [{"cwd": "/other"}, {"permission_mode": "plan"}, {"tool_input": {"command": "ls"}}])
def test_the_digest_names_everything_that_was_shown(change: dict[str, object]) -> None:
    one = Scene().receives("PermissionRequest", id="r", **bash("rm x"))
    other = Scene().receives("PermissionRequest", id="r", **{**bash("rm x"), **change})
    again = Scene().receives("PermissionRequest", id="r2", **bash("rm x"))
    assert one.request("r").digest != other.request("r").digest
    assert one.request("r").digest == again.request("r2").digest


@pytest.mark.law("D5")
def test_an_edit_has_a_digest_of_its_own() -> None:
    scene = with_request().decides("r1", Allow(updated_input={"command": "ls"}))
    scene.answers_with("r1", Allow(updated_input={"command": "ls"}))
    data = scene.last.events[0].data
    assert data.updated_digest is not None
    assert data.updated_digest != data.digest


def test_an_unknown_request_is_not_found() -> None:
    Scene().decides("nope", Allow(), digest="x").replies("not_found")


@pytest.mark.law("D7")
def test_an_allow_is_sent_and_then_confirmed_by_the_tool() -> None:
    scene = with_request().decides("r1", Allow())
    assert scene.request("r1").delivery == "sent"
    scene.receives("PostToolUse", **bash("rm x", "t1")).records("tool.post")
    assert scene.request("r1").delivery == "confirmed"
    scene.folds()


@pytest.mark.law("D7")
def test_a_deny_is_confirmed_by_a_batch_without_a_run() -> None:
    scene = with_request().decides("r1", Deny("no"))
    scene.receives("PostToolBatch", tool_calls=[{"tool_name": "Bash", "tool_use_id": "t1"}])
    assert scene.request("r1").delivery == "confirmed"


@pytest.mark.law("D7")
def test_a_deny_that_the_terminal_overrode_is_recorded_and_shown() -> None:
    scene = with_request().decides("r1", Deny("no")).receives("PostToolUse", **bash("rm x", "t1"))
    scene.records("permission.decision", "tool.post")
    assert scene.last.events[0].data.overrides
    assert scene.request("r1").delivery == "overridden"
    scene.folds()


def test_a_yes_at_the_terminal_is_decided_elsewhere() -> None:
    scene = with_request().receives("PostToolUse", **bash("rm x", "t1")).records("permission.decision", "tool.post")
    decision = scene.request("r1").decision
    assert decision is not None
    assert (decision.decision_type, decision.source, scene.request("r1").status) == (
        "allow",
        Source.ELSEWHERE,
        "decided",
    )
    assert scene.answers["r1"] == [NoOpinion()]
    scene.is_now(AgentState.RUNNING).folds()


def test_a_no_at_the_terminal_is_seen_in_the_batch() -> None:
    scene = with_request().receives("PostToolBatch", tool_calls=[{"tool_name": "Bash", "tool_use_id": "t1"}])
    decision = scene.request("r1").decision
    assert decision is not None
    assert (decision.decision_type, decision.source) == ("deny", Source.ELSEWHERE)


def test_parallel_sub_agents_wait_beside_each_other() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go")
    scene.receives("PermissionRequest", id="r1", **bash("a", agent="x")).receives(
        "PermissionRequest", id="r2", **bash("b", agent="y")
    )
    scene.decides("r1", Allow()).is_now(AgentState.WAITING_PERMISSION)
    scene.receives("PostToolUse", **bash("z", "t9", agent="x")).is_now(AgentState.WAITING_PERMISSION)
    scene.decides("r2", Allow()).is_now(AgentState.RUNNING)


def test_the_main_agents_request_is_over_when_it_stops() -> None:
    scene = with_request().receives("PermissionRequest", id="r2", **bash("b", agent="x")).receives("Stop")
    assert scene.request("r1").status == "withdrawn"
    assert scene.request("r2").status == "pending"
    assert scene.session.run is not None
    scene.is_now(AgentState.WAITING_PERMISSION)


def test_the_end_of_a_session_withdraws_its_requests() -> None:
    scene = with_request().receives("SessionEnd", reason="other").stays_silent().is_now(AgentState.ENDED)
    assert scene.answers["r1"] == [NoOpinion(reason="the session ended")]
    assert scene.state.requests == {}


def test_a_question_takes_answers_and_no_bare_allow() -> None:
    scene = Scene().receives("PermissionRequest", id="q", tool_name="AskUserQuestion", tool_input=QUESTIONS)
    scene.records("run.start", "question.request").is_now(AgentState.WAITING_INPUT)
    scene.decides("q", Allow()).replies("invalid")
    scene.decides("q", Answer({"Which DB?": "Postgres"})).replies("invalid")
    scene.decides("q", Answer({})).replies("invalid")
    scene.decides("q", Answer({"Which database?": "Postgres"})).replies("applied").records("question.decision")


def test_a_plan_is_a_question_that_is_approved_or_sent_back() -> None:
    scene = Scene().receives("PermissionRequest", id="p", tool_name="ExitPlanMode", tool_input={"plan": "1. x"})
    assert scene.request("p").form == "plan"
    scene.decides("p", Deny("smaller steps")).replies("applied")


def test_a_block_of_a_permission_is_a_refusal_and_of_a_question_is_none() -> None:
    with_request().decides("r1", Block("no")).replies("applied").answers_with("r1", Block("no"))
    scene = Scene().receives("PermissionRequest", id="q", tool_name="AskUserQuestion", tool_input=QUESTIONS)
    scene.decides("q", Block("no")).replies("invalid")


def test_an_edit_of_a_plan_is_refused() -> None:
    scene = Scene().receives("PermissionRequest", id="p", tool_name="ExitPlanMode", tool_input={})
    scene.decides("p", Allow(updated_input={"plan": "x"})).replies("invalid")


def test_one_ask_is_one_request_although_two_hooks_fire() -> None:
    scene = (
        Scene()
        .receives("PreToolUse", tool_name="AskUserQuestion", tool_input=QUESTIONS, tool_use_id="t")
        .stays_silent()
    )
    scene.receives("PermissionRequest", id="q", tool_name="AskUserQuestion", tool_input=QUESTIONS).holds("q")
    assert len(scene.state.requests) == 1


def test_a_question_is_held_before_the_tool_where_no_permission_request_follows() -> None:
    ask: dict[str, Any] = {"tool_name": "AskUserQuestion", "tool_input": QUESTIONS, "tool_use_id": "t"}
    scene = Scene().receives("PreToolUse", id="q", permission_mode="bypassPermissions", **ask).holds("q")
    scene.decides("q", Answer({"Which database?": "Postgres"})).replies("applied")


@pytest.mark.parametrize(
    ("hold", "attended", "entrypoint", "held"),
    [
        ("auto", False, "", False),
        ("auto", False, "sdk-cli", False),
        ("auto", False, "cli", True),
        ("auto", True, "", True),
        ("auto", True, "sdk-cli", True),
        ("always", False, "", True),
        ("never", True, "cli", False),
    ],
)
def test_a_request_is_held_by_setting_attendance_and_dialog(
    hold: str, attended: bool, entrypoint: str, held: bool
) -> None:
    scene = Scene(attended=attended, hold=hold).receives(
        "PermissionRequest", id="r", entrypoint=entrypoint, **bash("x")
    )
    assert (scene.request("r").status == "pending") is held
    assert ("r" in scene.answers) is not held


def test_a_background_sub_agent_is_held_only_while_a_person_is_near() -> None:
    scene = Scene(attended=False).receives("PermissionRequest", id="r", entrypoint="cli", **bash("x", agent="a"))
    scene.stays_silent().is_now(AgentState.WAITING_PERMISSION)


def test_a_session_remembers_that_it_has_a_dialog() -> None:
    scene = Scene(attended=False).receives("SessionStart", source="startup", entrypoint="cli")
    scene.receives("PermissionRequest", id="r", **bash("x")).holds("r")


def test_a_request_that_is_not_held_is_recorded_as_such() -> None:
    scene = Scene(attended=False).receives("PermissionRequest", id="r", **bash("x")).stays_silent()
    scene.records("run.start", "permission.request", "permission.decision")
    decision = scene.request("r").decision
    assert decision is not None
    assert (decision.decision_type, decision.by) == ("no_opinion", "decide.hold")
    scene.is_now(AgentState.RUNNING)


def test_a_pass_leaves_the_terminals_dialog_waiting() -> None:
    scene = with_request().decides("r1", NoOpinion(reason="passed by ann")).is_now(AgentState.WAITING_PERMISSION)
    assert scene.request("r1").delivery is None


def test_a_deny_that_interrupts_leaves_the_run_blocked() -> None:
    with_request().decides("r1", Deny("stop", interrupt=True)).is_now(AgentState.BLOCKED)


@pytest.mark.law("D7")
@pytest.mark.parametrize(("decision", "delivery"), [(Allow(), "confirmed"), (Deny("no"), "overridden")])
def test_an_outcome_is_recognised_without_the_announcement_of_its_call(decision: Allow | Deny, delivery: str) -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("rm x")).decides("r1", decision)
    scene.receives("PostToolUse", **bash("rm x", "t1")).folds()
    assert scene.request("r1").delivery == delivery


@pytest.mark.parametrize("edit", [{"command": 5}, {"command": ["ls"]}, {"command": None}])
def test_an_edit_keeps_the_shape_of_the_input(edit: dict[str, Any]) -> None:
    with_request().decides("r1", Allow(updated_input=edit)).replies("invalid")
    with_request().decides("r1", Allow(updated_input={"command": "ls", "timeout": 5})).replies("applied")
