"""The about screen names everything that leaves this machine, and nothing else."""

from __future__ import annotations

from pathlib import Path

from quarterdeck import __version__
from quarterdeck.surfaces.terminal.lines.about_lines import (
    PROMISE,
)
from quarterdeck.surfaces.terminal.text_commands import COMMANDS
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import Json, RecordedDaemon, connected, event, snapshot

STATS: Json = {"runner_id": "otter-1", "version": "1.0", "uptime_seconds": 7200.0, "hook_overhead": []}
STATS["store"] = {"seq_no": 1234, "database_bytes": 2_000_000, "wal_bytes": 0}


def set_to(seq_no: int, key: str, new: str | None) -> Json:
    return event(seq_no, "setting.change", "", key=key, old=None, new=new)


async def test_the_about_screen_shows_facts_and_what_leaves_this_machine() -> None:
    changes = {"events": [set_to(1, "otel.endpoint", '"http://collector:4318"')], "next": None}
    answers: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}, "/stats": STATS, "/feed": changes}
    app = QuarterdeckApp(Path("/nowhere"), daemon=RecordedDaemon([connected(), snapshot()], answers))
    async with app.run_test(size=(90, 24)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.link == "live", "a connection")
        assert "about" in {command.name for command in COMMANDS}
        app.perform_command("about", "")
        for words in (PROMISE, __version__, "otter-1", "1,234 events", "2.0 MB", "MIT", "http://collector:4318"):
            await tui.sees(words)
