"""The terminal UI tells the daemon whether a person looks at it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from textual.events import AppBlur, AppFocus

from quarterdeck.surfaces.client.attention import AFTER_KEY_SECONDS, Attention
from tests.support.daemon import Daemon, until
from tests.support.pilot import run_tui


async def visible(daemon: Daemon, expected: bool) -> None:
    """Wait until the daemon lists the terminal UI as visible or not."""

    def clients() -> list[bool]:
        return [one["visible"] for one in daemon.api("GET", "/clients")[1]["clients"]]

    await asyncio.to_thread(until, lambda: clients() == [expected], what=f"visible: {expected}")


async def test_a_terminal_without_keys_for_long_is_hidden_until_it_has_the_focus(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home") as daemon:
        async with run_tui(daemon.home) as tui:
            await tui.until(lambda: tui.app.model.has_snapshot)
            await visible(daemon, True)
            tui.app.attention = Attention(time.monotonic() - AFTER_KEY_SECONDS)
            await visible(daemon, False)
            tui.app.post_message(AppFocus())
            await visible(daemon, True)
            tui.app.attention = Attention(time.monotonic() - AFTER_KEY_SECONDS)
            await visible(daemon, False)
            await tui.press("j")
            await visible(daemon, True)
            tui.app.post_message(AppBlur())
            await visible(daemon, True)
