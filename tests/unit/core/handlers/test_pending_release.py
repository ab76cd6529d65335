"""Requests that are released without a decision: by a deadline, a restart, a stop, or because nobody is near."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.messages import (
    CommandReply,
    DaemonRestarted,
    DaemonStopping,
    Decide,
    Input,
    Unattended,
    WaiterGone,
    WakeAfter,
)
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.decisions import Allow, NoOpinion
from quarterdeck.views.request_outcome import outcome
from tests.support.owned_scene import OwnedScene
from tests.support.scene import Scene, bash, with_request


@pytest.mark.law("D6")
def test_a_decision_after_the_deadline_is_recorded_and_not_delivered() -> None:
    scene = with_request().expires("r1").answers_with("r1", NoOpinion(reason="nobody answered in time"))
    assert scene.request("r1").status == "expired"
    scene.decides("r1", Allow()).replies("expired").records("permission.decision")
    assert scene.answers["r1"] == [NoOpinion(reason="nobody answered in time")]
    scene.is_now(AgentState.WAITING_PERMISSION)


@pytest.mark.law("D8")
def test_a_waiter_that_leaves_withdraws_its_request() -> None:
    scene = with_request().submits(WaiterGone(request_id="r1", at=2.0)).records("permission.decision").stays_silent()
    assert scene.request("r1").status == "withdrawn"
    scene.decides("r1", Allow()).replies("withdrawn")


def test_when_the_last_person_leaves_only_a_visible_dialog_is_held() -> None:
    scene = Scene()
    scene.receives("PermissionRequest", id="main", entrypoint="cli", **bash("a"))
    scene.receives("PermissionRequest", id="helper", entrypoint="cli", **bash("b", agent="x"))
    scene.receives("PermissionRequest", id="headless", session="s2", entrypoint="sdk-cli", **bash("c"))
    scene.submits(Unattended(at=2.0)).stays_silent()
    statuses = {r.request_id: r.status for r in scene.state.requests.values()}
    assert statuses == {"main": "pending", "helper": "decided", "headless": "decided"}
    scene.folds()


@pytest.mark.law("D11")
def test_after_a_restart_the_terminal_still_asks() -> None:
    scene = (
        with_request()
        .submits(DaemonRestarted(at=2.0))
        .records("permission.decision")
        .is_now(AgentState.WAITING_PERMISSION)
    )
    assert scene.request("r1").status == "withdrawn"
    scene.receives("PostToolUse", **bash("rm x", "t1")).is_now(AgentState.RUNNING)


@pytest.mark.law("D11")
def test_a_client_that_asks_again_is_pending_again() -> None:
    scene = (
        with_request()
        .submits(DaemonRestarted(at=2.0))
        .receives("PermissionRequest", id="r1", **bash("rm x"))
        .holds("r1")
    )
    scene.decides("r1", Allow()).answers_with("r1", Allow()).folds()


@pytest.mark.law("D13")
def test_stopping_releases_every_request() -> None:
    scene = with_request().receives("PermissionRequest", id="r2", session="s2", **bash("b"))
    scene.submits(DaemonStopping(at=2.0)).stays_silent()
    assert {r.status for r in scene.state.requests.values()} == {"withdrawn"}


@pytest.mark.law("D9")
def test_a_deadline_is_a_duration_not_a_clock_time() -> None:
    scene = with_request(wait_seconds=60.0)
    assert [e.seconds for e in scene.last.effects if hasattr(e, "seconds")] == [60.0]


def with_returning_request() -> Scene:
    """A session with one open request, `r1`, whose agent comes back after a restart."""
    scene = Scene().receives("UserPromptSubmit", prompt="go")
    received = scene.hook_received("PermissionRequest", "r1", "", "", bash("rm x"))
    return scene.submits(replace(received, waiter="forwarder", reconnects=True)).holds("r1")


@pytest.mark.law("D11")
def test_a_request_whose_agent_comes_back_waits_through_a_restart() -> None:
    scene = with_returning_request()
    before = scene.request("r1")
    scene.submits(DaemonStopping(at=5.0, spares_reconnecting=True)).records()
    scene.submits(DaemonRestarted(at=before.opened_at + 100)).records().is_now(AgentState.WAITING_PERMISSION)
    assert scene.request("r1") == before
    assert scene.effects(WakeAfter) == [WakeAfter(request_id="r1", seconds=86300.0)]
    scene.decides("r1", Allow()).answers_with("r1", Allow()).folds()


@pytest.mark.law("D9")
@pytest.mark.parametrize(("later", "left"), [(200_000, 0.0), (-200_000, 86400.0)])
def test_after_a_restart_with_another_clock_the_deadline_stays_within_the_wait(later: float, left: float) -> None:
    scene = with_returning_request()
    scene.submits(DaemonRestarted(at=scene.request("r1").opened_at + later))
    assert scene.effects(WakeAfter) == [WakeAfter(request_id="r1", seconds=left)]


@pytest.mark.law("D13")
def test_a_stop_for_good_releases_the_agents_that_would_come_back() -> None:
    scene = with_returning_request().submits(DaemonStopping(at=2.0))
    assert scene.request("r1").status == "withdrawn"


@pytest.mark.law("D11")
def test_a_decision_while_the_agent_is_away_is_refused_and_changes_nothing() -> None:
    scene = with_returning_request().submits(DaemonRestarted(at=3.0))
    request = scene.request("r1")
    scene.submits(
        Decide(request_id="r1", decision=Allow(), digest=request.digest, by="ann", at=4.0, is_waiter_away=True)
    ).records()
    assert [reply.outcome for reply in scene.effects(CommandReply)] == ["holder_away"]
    assert scene.request("r1") == request


@pytest.mark.law("D8")
@pytest.mark.law("D11")
def test_an_agent_that_does_not_come_back_is_given_up() -> None:
    scene = with_returning_request().submits(DaemonRestarted(at=3.0))
    scene.submits(WaiterGone(request_id="r1", at=63.0, is_lost=True)).records("permission.decision")
    assert scene.request("r1").status == "withdrawn"
    scene.is_now(AgentState.WAITING_PERMISSION).folds()


ENDS = [
    WaiterGone(request_id="r1", at=2000.0),
    WaiterGone(request_id="r1", at=2000.0, is_lost=True),
    DaemonStopping(at=2000.0),
    DaemonRestarted(at=2000.0),
]


FORM = {"mcp_server_name": "el", "message": "Who?", "mode": "form", "requested_schema": {}}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    ("event", "waiter", "payload"),
    [("PermissionRequest", "sdk", bash("rm x", "t1")), ("Elicitation", "forwarder", FORM)],
)
def test_no_request_of_a_session_without_a_terminal_says_that_it_has_one(
    end: Input, event: str, waiter: str, payload: dict[str, Any]
) -> None:
    scene = OwnedScene(attended=True).is_up()
    received = scene.hook_received(event, "r1", "", "sdk-py", payload)
    scene.submits(replace(received, waiter=waiter)).holds("r1").submits(end).folds()
    request = scene.request("r1")
    assert request.status == "withdrawn"
    assert "terminal" not in outcome(request)
