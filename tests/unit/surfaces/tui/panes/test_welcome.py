"""The first steps, with and without a connected Claude Code."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.panes.welcome import Welcome
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import Json, RecordedDaemon, connected, snapshot

ANSWERS: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}}


@pytest.mark.parametrize(
    ("is_connected", "title", "first", "absent"),
    [
        (False, "Nothing is connected yet", "connect Claude Code", "Start claude in any terminal"),
        (True, "Claude Code is connected", "Start claude in any terminal", "connect Claude Code"),
    ],
)
async def test_the_first_step_depends_on_whether_claude_code_is_connected(
    is_connected: bool, title: str, first: str, absent: str
) -> None:
    daemon = RecordedDaemon([connected(), snapshot()], ANSWERS)
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon, is_connected=lambda: is_connected)
    async with app.run_test(size=(90, 24)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.sees(first)
        assert app.main_screen.query_one(Welcome).border_title == title
        assert absent not in tui.text
