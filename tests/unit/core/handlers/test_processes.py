"""Corrections by the process table, and what it leaves to the hooks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.messages import DecisionRefused, ProcessGone, ProcessSeen, TimePassed, WaiterGone
from quarterdeck.core.handlers.processes import STALE_SECONDS, AgentDialog, dialogs_after
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Deny
from quarterdeck.core.model.state import ProcessId
from tests.support.scene import Scene, bash

PROCESS = ProcessId(7, "100")
RECYCLED = ProcessId(7, "900")


def sees(
    scene: Scene,
    status: str,
    *,
    process: ProcessId = PROCESS,
    answered: tuple[str, ...] = (),
    lasted: float = 2.0,
    after: float = 0.5,
    waiting_for: str | None = None,
) -> Scene:
    """The process file has this status since `after` seconds after the last hook, for `lasted` seconds."""
    changed_at = scene.clock + after
    seen = ProcessSeen(
        session_id="s1",
        status=status,
        process=process,
        answered=answered,
        changed_at=changed_at,
        at=changed_at + lasted,
        waiting_for=waiting_for,
    )
    return scene.submits(seen)


def working() -> Scene:
    """A session during a tool call, whose process was seen."""
    scene = Scene(hold="always")
    scene.receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="go")
    scene.receives("PreToolUse", **bash("sleep 9", use="t1"))
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
    scene.receives("PreToolUse", **bash("ls", use="t2")).is_now(AgentState.RUNNING).folds()
    assert scene.session.state_source == "hooks"


def test_a_hook_that_says_the_same_takes_the_state_over() -> None:
    scene = Scene()
    scene.receives("UserPromptSubmit", prompt="go").receives("Stop")
    sees(scene, "busy").is_now(AgentState.RUNNING)
    assert scene.session.state_source == "process"
    scene.receives("PreToolUse", **bash("ls")).is_now(AgentState.RUNNING)
    assert scene.session.state_source == "hooks"


def test_idle_for_an_instant_between_two_turns_changes_nothing() -> None:
    sees(working(), "idle", lasted=0.3).does_nothing()


def test_a_status_from_before_the_last_hook_changes_nothing() -> None:
    sees(working(), "idle", after=-0.1, lasted=60.0).does_nothing()
    scene = Scene().receives("UserPromptSubmit", prompt="go").receives("Stop")
    sees(scene, "busy", after=-0.1).records("session.state").is_now(AgentState.SETTLED)


def test_idle_does_not_replace_settled() -> None:
    scene = working().receives("Stop").is_now(AgentState.SETTLED)
    sees(scene, "idle").does_nothing()


def test_a_shell_in_the_background_is_no_interrupt_after_a_stop_and_one_without() -> None:
    task = {"status": "running", "type": "shell"}
    scene = working().receives("Stop", background_tasks=[task]).is_now(AgentState.RUNNING)
    sees(scene, "shell").does_nothing()
    sees(working(), "shell").is_now(AgentState.IDLE)


def test_a_dialog_without_a_hook_is_seen_and_so_is_its_answer() -> None:
    scene = sees(working(), "waiting", waiting_for="permission prompt").is_now(AgentState.WAITING_PERMISSION)
    sees(scene, "busy", after=9.0).is_now(AgentState.RUNNING).folds()


def test_a_menu_a_person_opened_is_no_question() -> None:
    sees(working(), "waiting", waiting_for="dialog open").does_nothing()


def with_request() -> Scene:
    return working().receives("PermissionRequest", id="r1", **bash("sleep 9", use="t1")).holds("r1")


def test_while_a_request_waits_only_its_answer_at_the_terminal_counts() -> None:
    scene = sees(with_request(), "idle").does_nothing()
    sees(scene, "busy", answered=("r1",)).records("permission.decision").is_now(AgentState.RUNNING).folds()
    assert scene.request("r1").status == "withdrawn"


def test_the_process_file_says_idle_after_an_interrupt_at_the_dialog() -> None:
    scene = with_request()
    scene.submits(WaiterGone(request_id="r1", at=scene.clock + 0.2)).is_now(AgentState.RUNNING)
    sees(scene, "idle", after=0.1).records("run.end", "session.state").is_now(AgentState.IDLE).folds()


@pytest.mark.law("S11")
def test_a_process_that_is_gone_ends_its_session_and_releases_its_requests() -> None:
    scene = with_request().submits(ProcessGone(session_id="s1", process=PROCESS, at=2000.0))
    scene.records("permission.decision", "run.end", "session.end").stays_silent().is_now(AgentState.ENDED).folds()
    assert (scene.session.ended_at, scene.session.state_source) == (2000.0, "process")
    assert scene.last.requests["r1"].status == "withdrawn"
    scene.submits(ProcessGone(session_id="s1", process=PROCESS, at=2001.0)).does_nothing()


@pytest.mark.law("S3")
def test_a_recycled_pid_ends_nothing() -> None:
    working().submits(ProcessGone(session_id="s1", process=RECYCLED, at=2000.0)).does_nothing()


def test_a_process_that_was_never_matched_ends_nothing() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go")
    scene.submits(ProcessGone(session_id="s1", process=PROCESS, at=2000.0)).does_nothing()


def test_a_resumed_session_is_not_ended_by_its_old_process() -> None:
    scene = working().submits(ProcessGone(session_id="s1", process=PROCESS, at=2000.0))
    scene.receives("SessionStart", source="resume").is_now(AgentState.IDLE)
    scene.submits(ProcessGone(session_id="s1", process=PROCESS, at=2001.0)).does_nothing()
    sees(scene, "idle", process=RECYCLED).records("session.state")
    assert scene.session.process == RECYCLED
    assert scene.session.ended_at is None


@pytest.mark.law("S11")
def test_a_session_silent_for_a_day_and_never_seen_becomes_unknown() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go")
    scene.submits(TimePassed(at=scene.clock + STALE_SECONDS)).does_nothing()
    scene.submits(TimePassed(at=scene.clock + STALE_SECONDS + 1)).records("session.state").is_now(AgentState.UNKNOWN)
    scene.submits(TimePassed(at=scene.clock + 3 * STALE_SECONDS)).does_nothing().folds()
    scene.receives("PreToolUse", **bash("ls")).is_now(AgentState.RUNNING)


def test_a_live_process_keeps_a_silent_session() -> None:
    scene = working()
    scene.submits(TimePassed(at=scene.clock + 9 * STALE_SECONDS)).does_nothing()


def test_an_unknown_session_takes_the_state_of_its_process() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="go")
    scene.submits(TimePassed(at=scene.clock + STALE_SECONDS + 1))
    sees(scene, "busy").is_now(AgentState.RUNNING)


@pytest.mark.law("D14")
def test_a_refused_decision_is_recorded_with_its_request_and_decides_nothing() -> None:
    scene = with_request()
    refused = DecisionRefused(
        attempt="allow", by="owner", reason="it descends from an agent", request_id="r1", at=2000.0
    )
    scene.submits(refused).records("decision.refused").holds("r1").is_now(AgentState.WAITING_PERMISSION).folds()
    scene.submits(DecisionRefused(attempt="allow", by="owner", reason="gone", request_id="none", at=2001.0))
    assert scene.last.events[0].session_id == "quarterdeck"
    scene.folds()


@pytest.mark.law("D7")
def test_an_agent_that_is_idle_after_a_deny_with_interrupt_confirms_it() -> None:
    scene = working().receives("PermissionRequest", id="r", entrypoint="cli", **bash("sleep 9"))
    scene.decides("r", Deny("no", interrupt=True)).is_now(AgentState.BLOCKED)
    sees(scene, "idle").records("run.end", "session.state").is_now(AgentState.IDLE).folds()
    assert scene.last.requests["r"].delivery == "confirmed"


def held(agent_id: str | None = None, since: float = 100.0, request_id: str = "r") -> AgentDialog:
    return AgentDialog(request_id=request_id, agent_id=agent_id, since=since)


def closed_by(dialogs: list[AgentDialog], *statuses: str, changed_at: float = 101.0) -> list[list[str]]:
    """The requests that each look at the process file closes."""
    closed = []
    for status in statuses:
        dialogs = dialogs_after(dialogs, status, changed_at)
        closed.append([dialog.request_id for dialog in dialogs if dialog.is_answered])
    return closed


def test_a_dialog_that_was_seen_and_is_gone_twice_was_answered() -> None:
    assert closed_by([held()], "waiting", "waiting", "busy", "busy") == [[], [], [], ["r"]]


def test_a_file_that_never_said_waiting_proves_nothing() -> None:
    assert not any(closed_by([held()], *["busy"] * 10))


def test_an_earlier_dialog_proves_nothing() -> None:
    assert not any(closed_by([held()], "waiting", "busy", "busy", changed_at=50.0))


def test_a_dialog_that_was_answered_during_a_restart_is_noticed_by_a_later_change() -> None:
    resumed = replace(held(), is_resumed=True)
    assert closed_by([resumed], "busy", "idle", changed_at=101.0) == [[], ["r"]]
    assert not any(closed_by([resumed], *["busy"] * 10, changed_at=99.0))
    assert not any(closed_by([resumed], *["waiting"] * 10))


def test_a_short_gap_between_two_dialogs_is_no_answer() -> None:
    assert not any(closed_by([held()], "waiting", "busy", "waiting", "busy", "waiting"))


def test_the_main_agents_dialog_proves_nothing_about_a_sub_agent() -> None:
    both = [held(), held("a1", request_id="helper")]
    assert closed_by(both, "waiting", "busy", "busy")[-1] == ["r"]
    assert not any(closed_by(both[1:], "busy", "busy", "busy"))


def test_a_dialog_belongs_to_a_single_sub_agent_and_to_none_of_two() -> None:
    assert closed_by([held("a1")], "waiting", "busy", "busy")[-1] == ["r"]
    assert not any(closed_by([held("a1"), held("a2", request_id="r2")], "waiting", "busy", "busy"))
