"""The start, exit and restart of owned sessions, and their turns."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.messages import (
    DaemonRestarted,
    ProcessSeen,
    TimePassed,
)
from quarterdeck.core.engine.session_messages import (
    AgentExited,
    AgentNote,
    AgentStarted,
    DeliverPrompt,
    EndAgent,
    EndSession,
    InterruptSession,
    Launch,
    PromptDelivered,
    SendPrompt,
    TurnEnded,
    WorktreeChanged,
)
from quarterdeck.core.handlers.session_lifecycle import DAEMON_ENVIRONMENT
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Deny
from quarterdeck.core.text.titles import body_of, title_of, ui_of
from tests.support.owned_scene import FOLDER, PROCESS, OwnedScene, tagged
from tests.support.scene import bash


def test_a_crash_is_recorded_with_its_last_words_and_can_be_resumed() -> None:
    scene = OwnedScene().is_up()
    scene.ends(code=1, last_words="boom").records("run.end", "session.exit", "session.end").folds()
    exit_ = scene.last.events[1]
    assert (exit_.level, exit_.data.last_words, exit_.data.cut_off) == ("error", "boom", "go")
    scene.ends(code=1).does_nothing()
    scene.starts(resume="s1").records("session.launch").folds()
    assert scene.session.ended_at is None


@pytest.mark.law("S1")
@pytest.mark.parametrize("mode", ["sdk", "pty", "tmux"])
def test_after_a_crash_of_the_daemon_sessions_keep_running(mode: str) -> None:
    scene = OwnedScene().is_up(mode)
    scene.submits(DaemonRestarted(at=scene.clock)).does_nothing()
    scene.submits(AgentStarted(session_id="s1", at=scene.clock, process=PROCESS, recovered=True)).records("session.up")
    assert scene.session.runs_here


@pytest.mark.law("S1")
def test_an_sdk_session_whose_host_was_lost_is_resumed_and_a_terminal_is_not() -> None:
    scene = OwnedScene().is_up()
    scene.ends(is_lost=True).records("run.end", "session.exit", "session.end", "session.launch").folds()
    assert scene.last.events[1].data.cut_off == "go"
    launch = scene.session_effects[0]
    assert isinstance(launch, Launch)
    assert (launch.start.resume, launch.start.mode, launch.start.by) == ("s1", "sdk", "system")
    OwnedScene().is_up("pty").ends(is_lost=True).records("run.end", "session.exit", "session.end")


@pytest.mark.parametrize(
    ("asks", "cut_off"),
    [
        (bash("rm x"), "it waited for your answer to Bash rm x"),
        ({"tool_name": "AskUserQuestion", "tool_input": {"questions": []}}, "it waited for your answer to a question"),
        (None, "it worked"),
    ],
)
def test_a_session_that_was_cut_off_says_so_and_how_to_go_on(asks: dict[str, Any] | None, cut_off: str) -> None:
    scene = OwnedScene().is_up()
    if asks is not None:
        scene.submits(replace(scene.hook_received("PermissionRequest", "a", "", "sdk-py", asks), waiter="sdk"))
    scene.ends(is_lost=True).folds()
    words = f"cut off while {cut_off}; to go on: qd send s1 'go on'"
    assert scene.session.last_error == words
    exit_ = next(event for event in scene.last.events if event.kind == "session.exit")
    assert exit_.data.failure == words
    scene.submits(AgentStarted(session_id="s1", at=scene.clock, process=PROCESS))
    scene.receives("SessionStart", source="resume").folds()
    assert scene.session.last_error == words
    scene.receives("UserPromptSubmit", prompt="go on").folds()
    assert scene.session.last_error is None


def test_a_session_that_was_cut_off_and_not_resumed_is_resumed_with_a_prompt() -> None:
    scene = OwnedScene().is_up("pty").ends(is_lost=True).folds()
    assert (scene.session.last_error or "").endswith("; to go on: qd resume s1 'go on'")
    assert OwnedScene().is_up().receives("Stop").ends(is_lost=True).session.last_error is None


def test_a_session_without_a_prompt_starts_fresh_after_its_host_was_lost() -> None:
    scene = OwnedScene().trusts().starts()
    scene.submits(AgentStarted(session_id="s1", at=scene.clock)).ends(is_lost=True).folds()
    launch = scene.session_effects[0]
    assert isinstance(launch, Launch)
    assert (launch.start.session_id, launch.start.resume, launch.start.unsure) == ("s1", None, True)


@pytest.mark.law("S1")
def test_a_session_that_has_not_answered_resumes_after_every_loss() -> None:
    scene = OwnedScene().is_up()
    for _ in range(3):
        scene.ends(is_lost=True).folds()
        launch = scene.session_effects[0]
        assert isinstance(launch, Launch)
        assert (launch.start.resume, launch.start.unsure) == ("s1", True)
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result={"subtype": "success"}))
    scene.ends(is_lost=True).folds()
    launch = scene.session_effects[0]
    assert isinstance(launch, Launch)
    assert not launch.start.unsure


def test_after_clear_the_new_id_is_owned_and_the_old_one_names_it() -> None:
    scene = OwnedScene().is_up()
    scene.receives("Stop").receives("SessionEnd", reason="clear")
    scene.submits(tagged(scene, "s2", "s1")).records("session.launch", "session.start").folds()
    assert scene.state.sessions["s2"].runs_here
    scene.submits(SendPrompt(session_id="s1", message_id="m", prompt="x", by="b", at=1.0)).refuses("not_running", "s2")
    scene.submits(SendPrompt(session_id="s2", message_id="m", prompt="x", by="b", at=1.0)).records(
        "session.send"
    ).folds()
    assert isinstance(scene.session_effects[0], DeliverPrompt)
    assert scene.session_effects[0].handle == "s1"
    scene.ends(code=0).folds()
    assert scene.state.ended["s2"].owned is not None
    assert scene.state.ended["s2"].owned.status == "down"


def test_an_interrupted_turn_ends_its_run_and_its_requests() -> None:
    scene = OwnedScene().is_up()
    scene.submits(replace(scene.hook_received("PermissionRequest", "a", "", "sdk-py", bash("rm x")), waiter="sdk"))
    result = {"subtype": "error_during_execution", "is_error": True, "num_turns": 2, "total_cost_usd": 0.5}
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result=result)).folds()
    assert [e.kind for e in scene.last.events] == ["permission.decision", "turn.result", "run.end"]
    scene.is_now(AgentState.IDLE)


INTERRUPTED = {"subtype": "error_during_execution", "is_error": True, "errors": ["[ede_diagnostic] …"]}


def test_a_turn_that_a_person_interrupted_is_no_error() -> None:
    scene = OwnedScene().is_up()
    scene.submits(InterruptSession(session_id="s1", by="bob", at=scene.clock))
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result=INTERRUPTED)).folds()
    event = scene.last.events[0]
    assert (title_of(event), event.level, event.data.is_error) == ("■ Turn interrupted", "info", True)
    scene.submits(SendPrompt(session_id="s1", message_id="m1", prompt="more", by="bob", at=scene.clock))
    scene.submits(PromptDelivered(session_id="s1", at=scene.clock, message_id="m1")).folds()
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result=INTERRUPTED)).folds()
    event = scene.last.events[0]
    assert (title_of(event), event.level) == ("✕ Turn failed: [ede_diagnostic] …", "error")


def test_a_deny_with_interrupt_and_an_end_count_as_interrupts_too() -> None:
    scene = OwnedScene().is_up()
    scene.submits(replace(scene.hook_received("PermissionRequest", "a", "", "sdk-py", bash("rm x")), waiter="sdk"))
    scene.decides("a", Deny("no", interrupt=True))
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result=INTERRUPTED)).folds()
    assert title_of(scene.last.events[0]) == "■ Turn interrupted"
    scene = OwnedScene().is_up()
    scene.submits(EndSession(session_id="s1", by="bob", at=scene.clock))
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result=INTERRUPTED)).folds()
    assert title_of(scene.last.events[0]) == "■ Turn interrupted"


REFUSED = {"subtype": "success", "is_error": True, "result": "Not logged in"}


def refused(scene: OwnedScene) -> TurnEnded:
    return TurnEnded(session_id="s1", at=scene.clock, result=REFUSED, is_refused=True)


def test_a_turn_that_the_model_refuses_fails_its_run_and_names_the_environment_of_the_daemon() -> None:
    scene = OwnedScene().is_up()
    scene.submits(refused(scene)).records("turn.result", "run.end").folds()
    result, end = scene.last.events
    assert end.data.status == "failed"
    assert title_of(result) == "✕ Turn failed: Not logged in; the daemon's environment counts, not your shell's"
    assert scene.session.last_error == body_of(result) == f"Not logged in; {DAEMON_ENVIRONMENT}"
    assert not ui_of(result).collapsed_default
    scene.is_now(AgentState.IDLE)


def test_a_failure_is_known_whichever_of_hook_and_sdk_reports_it_first() -> None:
    before, after = OwnedScene().is_up(), OwnedScene().is_up()
    before.receives("StopFailure", error="authentication_failed").records("stop.failure", "run.end").folds()
    assert before.session.last_error == "authentication failed"
    before.submits(refused(before)).records("turn.result").folds()
    after.submits(refused(after)).receives("StopFailure", error="authentication_failed").records("stop.failure").folds()
    assert after.last.events[0].run_id == "s1:R1"
    assert before.session.last_error == after.session.last_error == f"Not logged in; {DAEMON_ENVIRONMENT}"


def test_the_next_run_clears_the_error_and_an_interrupt_is_none() -> None:
    scene = OwnedScene().is_up()
    scene.submits(refused(scene)).receives("UserPromptSubmit", prompt="again").folds()
    assert scene.session.last_error is None
    scene.submits(InterruptSession(session_id="s1", by="bob", at=scene.clock))
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result=INTERRUPTED)).records("turn.result", "run.end")
    assert (scene.last.events[1].data.status, scene.session.last_error) == ("aborted", None)


def test_the_error_of_a_session_that_a_person_ends_is_over() -> None:
    scene = OwnedScene().is_up()
    scene.submits(refused(scene)).submits(EndSession(session_id="s1", by="bob", at=scene.clock)).ends(code=0).folds()
    assert scene.state.ended["s1"].last_error is None


def test_an_owned_fork_begins_when_it_is_launched() -> None:
    scene = OwnedScene().trusts().starts("f1", resume="s1", fork=True)
    launched = scene.state.sessions["f1"].transcript.forked_at
    assert launched == scene.clock
    scene.receives("SessionStart", session="f1", source="fork")
    assert scene.state.sessions["f1"].transcript.forked_at == launched


def test_a_turn_that_ended_well_belongs_to_the_run_that_ended() -> None:
    scene = OwnedScene().is_up()
    scene.receives("Stop")
    scene.submits(TurnEnded(session_id="s1", at=scene.clock, result={"subtype": "success"})).records(
        "turn.result"
    ).folds()
    assert scene.last.events[0].run_id == "s1:R1"
    scene.is_now(AgentState.SETTLED)


def test_a_note_of_the_sdk_is_recorded() -> None:
    scene = OwnedScene().is_up()
    scene.submits(AgentNote(session_id="s1", at=scene.clock, name="rate_limit", body={"a": 1})).records(
        "agent.note"
    ).folds()


def test_an_agent_that_waits_to_try_again_says_why_until_anything_else_happens() -> None:
    scene = OwnedScene().is_up()
    note = AgentNote(session_id="s1", at=scene.clock, name="retry", body={}, retrying="the API answered 500")
    scene.submits(note).records("agent.note").folds()
    assert scene.session.retrying == "the API answered 500"
    scene.receives("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1")
    assert scene.session.retrying is None


def test_idle_sessions_end_only_if_configured() -> None:
    scene = OwnedScene(idle_seconds=60.0).is_up()
    scene.receives("Stop")
    scene.submits(TimePassed(at=scene.clock + 30)).does_nothing()
    scene.submits(TimePassed(at=scene.clock + 61)).records("session.close").folds()
    assert scene.session_effects == [EndAgent(mode="sdk", handle="s1")]
    kept = OwnedScene().is_up()
    kept.receives("Stop").submits(TimePassed(at=kept.clock + 9999)).does_nothing()


def test_a_report_about_an_observed_session_does_nothing() -> None:
    scene = OwnedScene()
    scene.receives("SessionStart", source="startup")
    for report in (
        AgentStarted(session_id="s1", at=1.0),
        AgentExited(session_id="s1", at=1.0),
        AgentExited(session_id="no", at=1.0),
    ):
        scene.submits(report).does_nothing()


def test_the_process_table_corrects_owned_sessions_too() -> None:
    scene = OwnedScene().is_up()
    seen = ProcessSeen(
        session_id="s1", status="idle", process=PROCESS, changed_at=scene.clock + 1, at=scene.clock + 9, answered=()
    )
    scene.submits(seen).is_now(AgentState.IDLE).folds()


@pytest.mark.law("S1")
def test_a_session_that_was_ending_at_a_crash_is_ended_when_found_again() -> None:
    scene = (
        OwnedScene()
        .is_up("pty")
        .submits(EndSession(session_id="s1", by="bob", at=1.0))
        .submits(DaemonRestarted(at=2.0))
    )
    scene.submits(AgentStarted(session_id="s1", at=3.0, process=PROCESS, recovered=True)).records("session.up").folds()
    assert scene.session_effects == [EndAgent(mode="pty", handle="s1")]
    other = OwnedScene().is_up("pty").submits(AgentStarted(session_id="s1", at=3.0, process=PROCESS, recovered=True))
    assert other.session_effects == []


def test_an_exited_session_cannot_start_by_a_late_report() -> None:
    scene = OwnedScene().trusts().starts(mode="pty").ends(code=1)
    scene.submits(AgentStarted(session_id="s1", at=scene.clock, process=PROCESS)).records()


def test_a_discarded_worktree_no_longer_belongs_to_the_session() -> None:
    scene = OwnedScene().is_up(cwd="/home/wt/1", worktree=FOLDER).ends()
    about = {"session_id": "s1", "branch": "quarterdeck/s1", "path": "/home/wt/1", "base": "main", "by": "ann"}
    held = []
    for action in ("merge", "discard"):
        scene.submits(WorktreeChanged(action=action, at=scene.clock, **about)).folds()
        held.append(scene.session.owned and scene.session.owned.worktree)
    assert held == [FOLDER, None]
