"""The key deck in the terminal UI, on a real daemon."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, permission
from tests.support.deck_socket import hook
from tests.support.pilot import run_tui

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home", env={"QUARTERDECK_DECIDE_HOLD": "always"}) as running:
        yield running


async def test_a_key_of_the_panel_decides_what_it_shows(daemon: Daemon) -> None:
    async with run_tui(daemon.home) as tui:
        await tui.runs_command("deck")
        await tui.sees("Nothing waits for you.")
        waiting = asyncio.create_task(hook(daemon, permission("ls -l /tmp")))
        await tui.sees("ls -l /tmp")
        await tui.press("1")
        _, body = await waiting
        assert json.loads(body)["hookSpecificOutput"]["decision"]["behavior"] == "allow"
        await tui.sees("Nothing waits for you.")
        await tui.press("right_square_bracket")
        await tui.sees("Page 2 of 2")
        await tui.press("2")
        await tui.sees("armed: Run the tests, and fix what fails.")
        await tui.press("escape")
        await tui.until(lambda: "armed:" not in tui.text)
        await tui.press("q")
        await tui.until(lambda: "Page 2 of 2" not in tui.text)
