"""The order of sessions: by what a person must do, then the longest wait first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.surfaces.text.session_order import in_order, state_since
from quarterdeck.views.resources.session_view import SessionView
from tests.support.recorded_daemon import NOW, session_view

ORDER = (
    "waiting_permission",
    "waiting_input",
    "blocked",
    "running",
    "settled",
    "complete",
    "idle",
    "sent",
    "unknown",
    "ended",
)


def ids(*sessions: SessionView) -> list[str]:
    return [one.session_id for one in in_order(sessions)]


@given(st.permutations(list(AgentState)))
def test_sessions_are_listed_by_what_a_person_must_do(states: list[AgentState]) -> None:
    ended = {"ended": {"ended_at": NOW - 5}}
    assert ids(*(session_view(state, state, pending=0, **ended.get(state, {})) for state in states)) == list(ORDER)


def test_within_a_state_the_longest_wait_is_first() -> None:
    lately, long_ago = session_view("lately", state_at=NOW - 3), session_view("long ago", state_at=NOW - 60)
    assert ids(lately, long_ago) == ["long ago", "lately"]


def test_a_running_session_counts_from_the_start_of_its_run() -> None:
    view = session_view("s1", "running", state_at=NOW - 1, run_started_at=NOW - 240)
    assert state_since(view) == NOW - 240
    assert state_since(replace(view, agent_state="idle")) == NOW - 1


def test_a_session_whose_last_run_failed_is_beside_the_blocked_ones() -> None:
    failed = session_view("failed", "idle", pending=0, last_error="no such model")
    busy = session_view("busy", "running", pending=0, last_error="no such model")
    assert ids(session_view("idle", "idle", pending=0), busy, failed) == ["failed", "busy", "idle"]


def test_of_blocked_and_failed_sessions_the_longest_wait_is_first() -> None:
    failed = session_view("failed", "idle", pending=0, last_error="no such model", state_at=NOW - 60)
    blocked = [session_view(name, "blocked", pending=0, state_at=NOW - at) for name, at in (("old", 90), ("new", 30))]
    assert ids(*blocked, failed) == ["old", "failed", "new"]


def test_a_running_session_with_a_pending_request_waits_for_a_person() -> None:
    asking = session_view("asking", "running", pending=1)
    assert ids(session_view("blocked", "blocked", pending=0), asking) == ["asking", "blocked"]


def test_of_ended_sessions_the_latest_is_first() -> None:
    old, new = session_view("old", "ended", ended_at=NOW - 500), session_view("new", "ended", ended_at=NOW - 5)
    assert ids(old, new) == ["new", "old"]


@pytest.mark.parametrize("state", ["later", ""])
def test_a_state_of_a_newer_daemon_is_listed_with_the_unknown_ones(state: str) -> None:
    assert ids(session_view("new", state, pending=0), session_view("sent", "sent", pending=0)) == ["sent", "new"]
