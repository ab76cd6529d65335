"""What the process table corrects, and what it leaves to the hooks."""

from __future__ import annotations

import pytest

from quarterdeck.core.engine.messages import DecisionRefused, HolderGone, ProcessGone, ProcessSeen, TimePassed
from quarterdeck.core.handlers.processes import STALE_SECONDS
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Deny
from quarterdeck.core.model.state import ProcessId
from tests.support.scene import Scene, bash

OURS = ProcessId(7, "100")
RECYCLED = ProcessId(7, "900")


def sees(
    scene: Scene,
    status: str,
    *,
    process: ProcessId = OURS,
    answered: tuple[str, ...] = (),
    stood: float = 2.0,
    after: float = 0.5,
    waiting_for: str | None = None,
) -> Scene:
    """The process file says so since `after` seconds after the last hook, and has for `stood` seconds."""
    changed_at = scene.clock + after
    seen = ProcessSeen(
        session_id="s1",
        status=status,
        process=process,
        answered=answered,
        changed_at=changed_at,
        at=changed_at + stood,
        waiting_for=waiting_for,
    )
    return scene.tells(seen)


def working() -> Scene:
    """A session in the middle of a tool call, whose process was seen."""
    scene = Scene(hold="always")
    scene.hears("SessionStart", source="startup").hears("UserPromptSubmit", prompt="go")
    scene.hears("PreToolUse", **bash("sleep 9", use="t1"))
    return sees(scene, "busy").records("session.state").is_now(AgentState.RUNNING)


@pytest.mark.law("S11")
def test_after_an_interrupt_the_process_says_idle_and_the_run_is_aborted() -> None:
    scene = sees(working(), "idle").records("run.end", "session.state").is_now(AgentState.IDLE).folds()
    assert scene.session.state_source == "process"
    assert scene.session.state_at == scene.last.events[-1].at
    assert scene.last.events[0].data.status == "aborted"
    sees(scene, "idle").does_nothing()


def test_a_later_hook_wins() -> None:
    scene = sees(working(), "idle")
    scene.hears("PreToolUse", **bash("ls", use="t2")).is_now(AgentState.RUNNING).folds()
    assert scene.session.state_source == "hooks"


def test_a_hook_that_says_the_same_takes_the_state_over() -> None:
    scene = Scene()
    scene.hears("UserPromptSubmit", prompt="go").hears("Stop")
    sees(scene, "busy").is_now(AgentState.RUNNING)
    assert scene.session.state_source == "process"
    scene.hears("PreToolUse", **bash("ls")).is_now(AgentState.RUNNING)
    assert scene.session.state_source == "hooks"


def test_idle_for_an_instant_between_two_turns_is_nothing() -> None:
    sees(working(), "idle", stood=0.3).does_nothing()


def test_a_status_from_before_the_last_hook_is_nothing() -> None:
    sees(working(), "idle", after=-0.1, stood=60.0).does_nothing()
    scene = Scene().hears("UserPromptSubmit", prompt="go").hears("Stop")
    sees(scene, "busy", after=-0.1).records("session.state").is_now(AgentState.SETTLED)


def test_a_session_that_settled_says_more_than_idle() -> None:
    scene = working().hears("Stop").is_now(AgentState.SETTLED)
    sees(scene, "idle").does_nothing()


def test_a_shell_in_the_background_is_no_interrupt_after_a_stop_and_one_without() -> None:
    task = {"status": "running", "type": "shell"}
    scene = working().hears("Stop", background_tasks=[task]).is_now(AgentState.RUNNING)
    sees(scene, "shell").does_nothing()
    sees(working(), "shell").is_now(AgentState.IDLE)


def test_a_dialog_no_hook_spoke_of_is_seen_and_its_answer_too() -> None:
    scene = sees(working(), "waiting", waiting_for="permission prompt").is_now(AgentState.WAITING_PERMISSION)
    sees(scene, "busy", after=9.0).is_now(AgentState.RUNNING).folds()


def test_a_menu_a_person_opened_is_no_question() -> None:
    sees(working(), "waiting", waiting_for="dialog open").does_nothing()


def asked() -> Scene:
    return working().hears("PermissionRequest", id="r1", **bash("sleep 9", use="t1")).holds("r1")


def test_while_a_request_waits_only_its_answer_at_the_terminal_counts() -> None:
    scene = sees(asked(), "idle").does_nothing()
    sees(scene, "busy", answered=("r1",)).records("permission.decision").is_now(AgentState.RUNNING).folds()
    assert scene.request("r1").status == "withdrawn"


def test_the_process_file_says_idle_after_an_interrupt_at_the_dialog() -> None:
    scene = asked()
    scene.tells(HolderGone(request_id="r1", at=scene.clock + 0.2)).is_now(AgentState.RUNNING)
    sees(scene, "idle", after=0.1).records("run.end", "session.state").is_now(AgentState.IDLE).folds()


@pytest.mark.law("S11")
def test_a_process_that_is_gone_ends_its_session_and_lets_go_of_its_requests() -> None:
    scene = asked().tells(ProcessGone(session_id="s1", process=OURS, at=2000.0))
    scene.records("permission.decision", "run.end", "session.end").stays_silent().is_now(AgentState.ENDED).folds()
    assert (scene.session.ended_at, scene.session.state_source) == (2000.0, "process")
    assert scene.last.requests["r1"].status == "withdrawn"
    scene.tells(ProcessGone(session_id="s1", process=OURS, at=2001.0)).does_nothing()


@pytest.mark.law("S3")
def test_a_recycled_pid_ends_nothing() -> None:
    working().tells(ProcessGone(session_id="s1", process=RECYCLED, at=2000.0)).does_nothing()


def test_a_process_that_was_never_matched_ends_nothing() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="go")
    scene.tells(ProcessGone(session_id="s1", process=OURS, at=2000.0)).does_nothing()


def test_a_resumed_session_is_not_ended_by_its_old_process() -> None:
    scene = working().tells(ProcessGone(session_id="s1", process=OURS, at=2000.0))
    scene.hears("SessionStart", source="resume").is_now(AgentState.IDLE)
    scene.tells(ProcessGone(session_id="s1", process=OURS, at=2001.0)).does_nothing()
    sees(scene, "idle", process=RECYCLED).records("session.state")
    assert scene.session.process == RECYCLED
    assert scene.session.ended_at is None


@pytest.mark.law("S11")
def test_silent_for_a_day_and_never_seen_is_unknown() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="go")
    scene.tells(TimePassed(at=scene.clock + STALE_SECONDS)).does_nothing()
    scene.tells(TimePassed(at=scene.clock + STALE_SECONDS + 1)).records("session.state").is_now(AgentState.UNKNOWN)
    scene.tells(TimePassed(at=scene.clock + 3 * STALE_SECONDS)).does_nothing().folds()
    scene.hears("PreToolUse", **bash("ls")).is_now(AgentState.RUNNING)


def test_a_process_that_lives_keeps_its_session_however_silent() -> None:
    scene = working()
    scene.tells(TimePassed(at=scene.clock + 9 * STALE_SECONDS)).does_nothing()


def test_an_unknown_session_takes_the_processs_word() -> None:
    scene = Scene().hears("UserPromptSubmit", prompt="go")
    scene.tells(TimePassed(at=scene.clock + STALE_SECONDS + 1))
    sees(scene, "busy").is_now(AgentState.RUNNING)


@pytest.mark.law("D14")
def test_a_refused_decision_stands_beside_its_request_and_decides_nothing() -> None:
    scene = asked()
    told = DecisionRefused(wanted="allow", by="owner", reason="it descends from an agent", request_id="r1", at=2000.0)
    scene.tells(told).records("decision.refused").holds("r1").is_now(AgentState.WAITING_PERMISSION).folds()
    scene.tells(DecisionRefused(wanted="allow", by="owner", reason="gone", request_id="none", at=2001.0))
    assert scene.last.events[0].session_id == "quarterdeck"
    scene.folds()


@pytest.mark.law("D7")
def test_an_agent_that_is_idle_after_a_deny_with_interrupt_confirms_it() -> None:
    scene = working().hears("PermissionRequest", id="r", entrypoint="cli", **bash("sleep 9"))
    scene.decides("r", Deny("no", interrupt=True)).is_now(AgentState.BLOCKED)
    sees(scene, "idle").records("run.end", "session.state").is_now(AgentState.IDLE).folds()
    assert scene.last.requests["r"].delivery == "confirmed"
