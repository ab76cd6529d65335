"""A session listener that records the reports, and waiting for conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from quarterdeck.core.engine.session_messages import AgentExited, SessionReport
from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.sessions.launcher import PermissionQuery, TerminalLauncher
from tests.support.daemon import PATIENCE_SECONDS

T = TypeVar("T")


class ReportRecorder:
    """Records all reports; expects no stream."""

    def __init__(self) -> None:
        self.reports: list[SessionReport] = []

    def report(self, report: SessionReport) -> None:
        self.reports.append(report)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        raise AssertionError(f"{session_id} streams {kind}: {data}")

    async def ask_permission(self, query: PermissionQuery) -> Decision:
        return NoOpinion()

    def exits(self) -> list[AgentExited]:
        return [report for report in self.reports if isinstance(report, AgentExited)]


async def eventually(check: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """Wait for the first true value of `check`; the loop continues meanwhile."""
    deadline = time.monotonic() + seconds
    while not (found := check()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        await asyncio.sleep(0.01)
    return found


async def shows(launcher: TerminalLauncher, session_id: str, words: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until its screen shows these words."""
    deadline = time.monotonic() + seconds
    while words not in (screen := await launcher.screen(session_id)):
        if time.monotonic() > deadline:
            raise AssertionError(f"no {words!r} within {seconds} s on:\n{screen}")
        await asyncio.sleep(0.05)
