"""Where sessions of Claude Code stand in the person's own tmux: looked up when somebody asks, and nothing is typed."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Mapping
from pathlib import Path

import structlog

from quarterdeck.sessions.tmux.user_panes import claude_panes, default_socket

FRESH_SECONDS = 2.0
PATIENCE_SECONDS = 0.3
"""A tmux that does not answer keeps nobody waiting: what was known before is told."""
MOST_SERVERS = 8

logger = structlog.get_logger("panes")


class Panes:
    """The servers of this user: in tmux's own folder, and the one that the daemon was started in."""

    def __init__(self, config_dir: Path, environ: Mapping[str, str]) -> None:
        self._config_dir = config_dir
        self._folder = default_socket(environ).parent
        self._around = environ.get("TMUX", "").partition(",")[0]
        self._known: Mapping[str, str] = {}
        self._looked = float("-inf")
        self._looking: asyncio.Task[None] | None = None

    async def known(self) -> Mapping[str, str]:
        """The words that show each session which is in a pane."""
        if self._looking is None and time.monotonic() - self._looked > FRESH_SECONDS:
            self._looking = asyncio.create_task(self._look())
        if self._looking is not None:
            await asyncio.wait([self._looking], timeout=PATIENCE_SECONDS)
        return self._known

    async def _look(self) -> None:
        try:
            sockets = await asyncio.to_thread(self._sockets)
            found = await asyncio.gather(*(claude_panes(self._config_dir, socket) for socket in sockets))
            self._known = {pane.session_id: shlex.join(pane.attach) for panes in found for pane in panes}
        except Exception:
            logger.exception("tmux could not be looked at")
        finally:
            self._looked, self._looking = time.monotonic(), None

    def _sockets(self) -> list[Path]:
        try:
            here = sorted(self._folder.iterdir())[:MOST_SERVERS]
        except OSError:
            here = []
        around = Path(self._around) if self._around else None
        return [*here, around] if around is not None and around not in here else here

    def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
