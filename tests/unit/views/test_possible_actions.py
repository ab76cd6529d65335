"""What a person can do with a session."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.state import Capabilities, Ownership, ProcessId, Session
from quarterdeck.views.possible_actions import VERBS, session_actions


def session(
    state: AgentState = AgentState.IDLE, *, ended: bool = False, mode: str = "observed", **owned: Any
) -> Session:
    known = Ownership(handle="s1", by="owner", launched_at=1.0, **owned) if owned else None
    return Session(
        session_id="s1",
        started_at=1.0,
        last_event_at=2.0,
        ended_at=3.0 if ended else None,
        mode=mode,
        agent_state=state,
        owned=known,
    )


def possible(one: Session, *, has_pane: bool = False) -> list[str]:
    return [action.name for action in session_actions(one, has_pane=has_pane) if action.possible]


@pytest.mark.parametrize(
    ("one", "names"),
    [
        (session(), ["fork"]),
        (session(AgentState.UNKNOWN), ["takeover", "fork"]),
        (session(ended=True), ["resume", "takeover", "fork"]),
        (session(mode="sdk", status="up"), ["send", "interrupt", "end", "fork", "switch"]),
        (session(mode="pty", status="starting"), ["send", "attach", "interrupt", "end", "fork", "switch"]),
        (session(mode="tmux", status="up", shell=True), ["send", "attach", "interrupt", "end"]),
        (session(mode="sdk", status="down", ended=True), ["resume", "fork"]),
        (session(mode="pty", status="down", shell=True), []),
        (session(mode="sdk", status="down", worktree="/w"), ["resume", "fork", "diff", "merge", "discard"]),
        (session(mode="sdk", status="ending", worktree="/w"), []),
        (session(mode="sdk", status="moved"), []),
    ],
)
def test_a_session_takes_what_fits_its_state(one: Session, names: list[str]) -> None:
    assert possible(one) == names


def test_an_observed_session_in_a_pane_can_be_shown_prompted_and_interrupted() -> None:
    assert possible(session(), has_pane=True) == ["send", "attach", "interrupt", "fork"]


def test_an_observed_session_is_ended_by_its_process() -> None:
    assert possible(replace(session(), process=ProcessId(7, "1"))) == ["end", "fork"]


@pytest.mark.parametrize("status", ["starting", "up", "ending", "down", "moved"])
@pytest.mark.parametrize("mode", ["sdk", "pty", "tmux"])
@pytest.mark.parametrize("more", [{}, {"shell": True}, {"worktree": "/w"}])
def test_each_action_is_possible_or_has_its_reason(status: str, mode: str, more: Any) -> None:
    actions = session_actions(session(mode=mode, status=status, **more))
    assert [action.name for action in actions] == list(VERBS)
    assert all(action.possible == (action.reason is None) for action in actions)


def test_what_the_agent_cannot_do_is_not_possible_and_says_so() -> None:
    can = Capabilities(label="Ferret", modes=("pty",), permission_modes=(), resumes=False, forks=False)
    for one in (session(mode="pty", status="up"), session(ended=True)):
        actions = {action.name: action for action in session_actions(one, can)}
        assert {actions[name].reason for name in ("resume", "takeover", "fork", "switch")} == {"Ferret cannot do this"}
        everything = replace(can, modes=("pty", "tmux"), resumes=True, forks=True)
        assert session_actions(one, everything) == session_actions(one)
