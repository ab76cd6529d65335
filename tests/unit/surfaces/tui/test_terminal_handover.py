"""The way back from a session's terminal."""

from __future__ import annotations

from quarterdeck.surfaces.terminal.session_actions import way_back
from quarterdeck.surfaces.tui.terminal_handover import NOTICE_SECONDS, notice
from tests.support.recorded_daemon import owned_session_view, session_view


def test_the_notice_says_how_to_come_back_before_the_terminal_is_shown() -> None:
    assert notice(owned_session_view("o1")).endswith("Ctrl-] comes back to Quarterdeck\r\n")
    assert "key of your tmux" in way_back(session_view("s1"))
    assert NOTICE_SECONDS >= 1.0
