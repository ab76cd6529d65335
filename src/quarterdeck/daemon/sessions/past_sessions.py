"""Sessions without any hook call: their transcripts are in the agents' folders, and they can be resumed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time

import structlog

from quarterdeck.agents.base import TranscriptSummary
from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.engine.fold import preview
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.runtime_event import FIRST_AGENT, Context
from quarterdeck.core.model.state import Session
from quarterdeck.drivers.base import TranscriptFile
from quarterdeck.drivers.registry import Drivers
from quarterdeck.drivers.transcript_chunks import UnreadableTranscript

# A scan looks at every transcript there is; new sessions are known by their hooks anyway.
SCAN_SECONDS = 30.0
MAX_SESSIONS = 1_000
# The folder, the title and the last record are usually in these bytes of each end.
END_BYTES = 16 * 1024
# A first prompt with a large paste pushes the folder this far.
LONGER_BYTES = 256 * 1024

logger = structlog.get_logger("past_sessions")


class PastSessions:
    """A view of the transcripts, scanned again on use, but not too often."""

    def __init__(self, drivers: Drivers) -> None:
        self._drivers = drivers
        self._sessions: dict[str, Session] = {}
        self._known: dict[str, tuple[TranscriptFile, TranscriptSummary | None]] = {}
        self._scanned_at = 0.0
        self._scanning: asyncio.Task[None] | None = None
        self._scan_when_due()

    def sessions(self) -> list[Session]:
        """The sessions of the last scan."""
        self._scan_when_due()
        return list(self._sessions.values())

    def session(self, session_id: str) -> Session | None:
        self._scan_when_due()
        return self._sessions.get(session_id)

    async def find(self, session_id: str) -> Session | None:
        """A session by its id, even when it is younger than the last scan."""
        if session_id not in self._sessions:
            await self.wait_for_scan()
        if session_id not in self._sessions:
            self._scanned_at = 0.0
            self._scan_when_due()
            await self.wait_for_scan()
        return self._sessions.get(session_id)

    async def wait_for_scan(self) -> None:
        """Wait for a scan that is under way."""
        if self._scanning is not None:
            await asyncio.wait([self._scanning])

    async def close(self) -> None:
        if self._scanning is not None:
            self._scanning.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._scanning

    def _scan_when_due(self) -> None:
        busy = self._scanning is not None and not self._scanning.done()
        if not busy and (not self._scanned_at or time.monotonic() - self._scanned_at > SCAN_SECONDS):
            self._scanned_at = time.monotonic()
            self._scanning = asyncio.get_running_loop().create_task(self._scan())

    async def _scan(self) -> None:
        try:
            self._known, self._sessions = await asyncio.to_thread(scan_transcripts, self._drivers, self._known)
        except Exception:
            logger.exception("past sessions could not be scanned")


def scan_transcripts(
    drivers: Drivers, known: dict[str, tuple[TranscriptFile, TranscriptSummary | None]]
) -> tuple[dict[str, tuple[TranscriptFile, TranscriptSummary | None]], dict[str, Session]]:
    """Every transcript with its summary, and the sessions in them. A file that did not change is not read again."""
    files = [file for driver in drivers.by_name.values() for file in driver.transcripts.sessions()]
    newest = sorted(files, key=lambda file: -file.changed_at)[:MAX_SESSIONS]
    seen = {f.path: kept if (kept := known.get(f.path)) and kept[0] == f else (f, _summary(drivers, f)) for f in newest}
    found = {file.session_id: (file, summary) for file, summary in reversed(seen.values()) if summary is not None}
    processes = drivers.session_files
    running = [process for process in processes.read() if process.session_id in found]
    live = {process.session_id for process in running if processes.identity(process) is not None}
    return seen, {s: _session(file, summary, live=s in live) for s, (file, summary) in found.items()}


def _summary(drivers: Drivers, file: TranscriptFile) -> TranscriptSummary | None:
    """The summary of a transcript from both its ends, and from more of its beginning where those name no folder."""
    read_summary = AGENTS[file.agent].read_summary
    try:
        with drivers.by_name[file.agent].transcripts.open(file.path) as found:
            tail = os.pread(found.descriptor, END_BYTES, max(0, found.size - END_BYTES))
            summary = read_summary(os.pread(found.descriptor, END_BYTES, 0), tail)
            if (summary is None or not summary.cwd or not summary.title) and found.size > END_BYTES:
                summary = read_summary(os.pread(found.descriptor, LONGER_BYTES, 0), tail)
            return summary
    except (UnreadableTranscript, OSError):
        return None


def _session(file: TranscriptFile, summary: TranscriptSummary, *, live: bool) -> Session:
    """A session from its transcript. A running session is `unknown`, any other has ended. No timestamp is later than
    the file's mtime."""
    latest = file.changed_at + 1
    started_at = summary.started_at if 0 < summary.started_at <= latest else file.changed_at
    last_at = summary.last_at if 0 < summary.last_at <= latest else file.changed_at
    agent = "" if file.agent == FIRST_AGENT else file.agent
    return Session(
        session_id=file.session_id,
        started_at=started_at,
        last_event_at=last_at,
        ended_at=None if live else last_at,
        agent_state=AgentState.UNKNOWN if live else AgentState.ENDED,
        state_source="transcript",
        context=Context(cwd=summary.cwd, transcript_path=file.path, agent=agent),
        title=preview(summary.title),
        model=summary.model,
    )
