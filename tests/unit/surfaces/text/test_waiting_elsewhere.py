"""Sessions that wait at their own dialog, and how to reach them."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.text.waiting_elsewhere import waiting_elsewhere_texts
from quarterdeck.views.resources.session_view import SessionView


def session(**more: Any) -> SessionView:
    plain: dict[str, Any] = {
        "session_id": "5bcc959a-d2e0",
        "agent_state": "waiting_permission",
        "mode": "observed",
        "cwd": "/home/ann/shop",
        "pending": 0,
        "ended_at": None,
        "owned": None,
        "where": None,
    }
    return read_view(SessionView, plain | more)


@pytest.mark.parametrize(
    ("more", "directions"),
    [
        ({}, "in /home/ann/shop"),
        ({"where": "tmux attach-session -t %0"}, "qd attach 5bcc959a"),
        ({"owned": {"status": "up"}, "mode": "pty"}, "qd attach 5bcc959a"),
        ({"agent_state": "waiting_input"}, "in /home/ann/shop"),
    ],
)
def test_a_session_at_its_own_dialog_is_shown_with_how_to_reach_it(more: dict[str, Any], directions: str) -> None:
    assert waiting_elsewhere_texts([session(**more)]) == [
        f"1 session waits at its own terminal: 5bcc959a shop ({directions})"
    ]


@pytest.mark.parametrize("more", [{"agent_state": "running"}, {"pending": 1}, {"ended_at": 1.0}])
def test_a_session_that_works_waits_here_or_has_ended_is_not_shown(more: dict[str, Any]) -> None:
    assert waiting_elsewhere_texts([session(**more)]) == []


def test_each_of_several_has_its_line() -> None:
    several = waiting_elsewhere_texts([session(), session(session_id="other", cwd="")])
    assert several == [
        "2 sessions wait at their own terminals:",
        "  5bcc959a shop (in /home/ann/shop)",
        "  other no folder (in no known folder)",
    ]
