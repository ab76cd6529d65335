"""Follows the transcripts of sessions: reads them soon after their hooks, and polls them while they run."""

from __future__ import annotations

import asyncio
import contextlib
import time

import structlog
from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.engine.messages import TranscriptPart, TranscriptRead
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Session, TranscriptCursor
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.drivers.registry import Drivers, agent_of
from quarterdeck.drivers.transcript_chunks import (
    ChangeMark,
    MissingTranscript,
    OpenTranscript,
    TranscriptChunk,
    UnreadableTranscript,
    read_chunk,
)

# An agent writes to its transcript shortly after the hook, and hooks come in groups.
SOON_SECONDS = 0.3
# Text between two tools has no hook.
POLL_SECONDS = 3.0
LATE_SECONDS = 20.0
"""A transcript is still polled so long after the last event: an agent may write its last message late."""

# A read that is not recorded by then was dropped by a full disk, and is repeated later.
RECORD_SECONDS = 2.0
FULL_SECONDS = 30.0
"""How long a transcript waits when the disk has only room for decisions."""

SUMMARY_AFTER_RESTART_SECONDS = 86_400.0
# Each is a file to open at every poll.
MAX_AGENTS = 200

WAKES = {
    "session.start": "",
    "session.end": "end",
    "compact.post": "compact",
    "permission.request": "",
    "question.request": "",
    "stop.failure": "",
    "stop.request": "",
    "subagent.stop": "",
    "tool.failure": "",
    "tool.post": "",
    "turn.result": "",
}
"""Events after which a transcript is read, and the reason to summarize it where there is one."""

AT_WORK = frozenset({AgentState.RUNNING, AgentState.WAITING_PERMISSION, AgentState.WAITING_INPUT})

logger = structlog.get_logger("transcripts")


class PendingRead(Struct, frozen=True):
    """The files to read for a session, and the position in each. `has_ended`: no more will come. `since`: earlier
    messages belong to another session."""

    agent: str
    session_id: str
    path: str
    cursors: dict[str, TranscriptCursor]
    has_ended: bool
    since: float


class TranscriptFollower:
    """One task that reads for all sessions, one chunk of one file after another."""

    def __init__(self, loop: Loop, drivers: Drivers) -> None:
        self._loop = loop
        self._files = {name: driver.transcripts for name, driver in drivers.by_name.items()}
        self._readers = {n: AGENTS[n].transcript_reader(d.price_list()) for n, d in drivers.by_name.items()}
        self._due: dict[str, float] = {}
        self._sums: dict[str, list[str]] = {}
        self._sizes: dict[tuple[str, str], tuple[int, int]] = {}
        self._signs: dict[str, ChangeMark] = {}
        self._last_event: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._recorded = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        loop.subscribe(self.recorded)

    def start(self) -> None:
        """Begin with all that was written while the daemon did not run."""
        state, now = self._loop.state, time.time()
        for session in state.sessions.values():
            self._due[session.session_id] = 0.0
        for session in state.ended.values():
            lately = session.ended_at is not None and now - session.ended_at < SUMMARY_AFTER_RESTART_SECONDS
            if lately and not session.transcript.is_summarized:
                self._due[session.session_id] = 0.0
                self._sums[session.session_id] = ["end"]
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Read no more. A missing summary is made after the next start."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def recorded(self, events: list[FeedEvent]) -> None:
        """Schedule a read for the sessions of these events."""
        for event in events:
            if event.kind == "session.usage":
                self._recorded.set()
            reason = WAKES.get(event.kind)
            if reason is None:
                continue
            self._last_event[event.session_id] = time.monotonic()
            if reason:
                self._sums.setdefault(event.session_id, []).append(reason)
            if event.session_id not in self._due:
                self._due[event.session_id] = time.monotonic() + SOON_SECONDS
                self._wake.set()

    async def _run(self) -> None:
        polled_at = time.monotonic()
        while True:
            await self._until(min([polled_at + POLL_SECONDS, *self._due.values()]))
            now = time.monotonic()
            if now - polled_at >= POLL_SECONDS:
                polled_at = now
                await self._poll()
            for session_id in [s for s, at in self._due.items() if at <= now]:
                del self._due[session_id]
                try:
                    await self._read(session_id)
                except Exception:
                    logger.exception("a transcript could not be read", session_id=session_id)

    async def _until(self, moment: float) -> None:
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, moment - time.monotonic())):  # in 3.11 wait_for may lose a cancel
                await self._wake.wait()

    async def _poll(self) -> None:
        """Check sessions at work, which may write without a hook, and those that were at work just now."""
        now = time.monotonic()
        self._last_event = {session_id: at for session_id, at in self._last_event.items() if now - at < LATE_SECONDS}
        at_work = [
            session
            for session in self._loop.state.sessions.values()
            if (session.agent_state in AT_WORK or session.session_id in self._last_event)
            and session.context.transcript_path
        ]
        signs = await asyncio.to_thread(self._change_marks, at_work) if at_work else {}
        for session_id, sign in signs.items():
            if self._signs.get(session_id) != sign:
                self._due.setdefault(session_id, 0.0)
        self._signs = signs

    def _change_marks(self, sessions: list[Session]) -> dict[str, ChangeMark]:
        """The mark of each session that has a transcript. Called in a thread."""
        marks = {s.session_id: self._files[agent_of(s)].change_mark(s.context.transcript_path) for s in sessions}
        return {session_id: mark for session_id, mark in marks.items() if mark is not None}

    async def _read(self, session_id: str) -> None:
        state = self._loop.state
        session = state.sessions.get(session_id) or state.ended.get(session_id)
        if session is None or self._loop.damaged:
            return
        if self._loop.nearly_full:
            self._due[session_id] = time.monotonic() + FULL_SECONDS
            return
        reasons = self._sums.get(session_id, [])
        known = session.transcript
        path = session.context.transcript_path
        pending = PendingRead(agent_of(session), session_id, path, known.cursors, "end" in reasons, known.forked_at)
        found = await asyncio.to_thread(self._gather, pending) if pending.path or reasons else []
        for reading in found:
            await self._submit(reading)
        if any(reading.offset != reading.start for reading in found):
            self._due[session_id] = time.monotonic()
        elif reasons:
            for reason in self._sums.pop(session_id):
                self._loop.submit(TranscriptRead(session_id=session_id, at=time.time(), start=-1, summary=reason))
            self._forget(session_id)

    async def _submit(self, reading: TranscriptRead) -> None:
        """Submit a read and wait until it is recorded, so that the next one goes on from there. Otherwise the same part
        is read again later."""
        self._recorded.clear()
        self._loop.submit(reading)
        if reading.offset != reading.start:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RECORD_SECONDS):
                    await self._recorded.wait()

    def _forget(self, session_id: str) -> None:
        self._sizes = {key: size for key, size in self._sizes.items() if key[0] != session_id}

    def _gather(self, pending: PendingRead) -> list[TranscriptRead]:
        """Read the new parts of a session's files. Called in a thread."""
        try:
            agents = self._files[pending.agent].sub_agents(pending.path)
        except UnreadableTranscript as error:
            return [_failed(pending, str(error))]
        known = [agent for agent in agents if agent in pending.cursors]
        followed = [*known, *(agent for agent in agents if agent not in pending.cursors)][:MAX_AGENTS]
        found = [self._read_file(pending, None, pending.path)]
        found += [self._read_file(pending, agent, agents[agent]) for agent in followed]
        if len(agents) > len(followed):
            found.append(_failed(pending, f"{len(agents) - len(followed)} sub-agents beyond {MAX_AGENTS}", lost=False))
        return [reading for reading in found if reading is not None]

    def _read_file(self, pending: PendingRead, agent_id: str | None, path: str) -> TranscriptRead | None:
        cursor = pending.cursors.get(agent_id or "", TranscriptCursor())
        key = (pending.session_id, agent_id or "")
        try:
            with self._files[pending.agent].open(path) as found:
                seen = (found.size, found.file_id)
                if self._sizes.get(key) == seen and not pending.has_ended:
                    return None
                chunk = read_chunk(found, cursor.offset, cursor.file_id)
                if chunk.offset == cursor.offset and not chunk.restarted:
                    self._sizes[key] = seen
                read = self._transcript_read(pending, agent_id, cursor, found, chunk)
                return replace(read, path=path)
        except MissingTranscript as error:
            return _failed(pending, str(error)) if pending.has_ended and agent_id is None else None
        except UnreadableTranscript as error:
            return _failed(pending, str(error), lost=agent_id is None)

    def _transcript_read(
        self,
        pending: PendingRead,
        agent_id: str | None,
        cursor: TranscriptCursor,
        found: OpenTranscript,
        chunk: TranscriptChunk,
    ) -> TranscriptRead:
        part = self._readers[pending.agent](chunk.content, agent_id, since=pending.since)
        offset = chunk.offset - len(chunk.content) + part.size
        cut_off = found.size - offset if pending.has_ended and offset == cursor.offset else 0
        missing = (*part.missing, f"the last line, cut off after {cut_off:,} bytes") if cut_off else part.missing
        return TranscriptRead(
            session_id=pending.session_id,
            at=time.time(),
            agent_id=agent_id,
            start=cursor.offset,
            offset=offset,
            file_id=found.file_id,
            is_restart=chunk.restarted,
            part=replace(part, skipped_lines=part.skipped_lines + chunk.skipped_lines, missing=missing),
            skipped_bytes=chunk.skipped_bytes,
        )


def _failed(pending: PendingRead, why: str, *, lost: bool = True) -> TranscriptRead:
    """A read that failed, and why. A failure of the main file is a failure of the whole transcript."""
    cursor = pending.cursors.get("", TranscriptCursor())
    return TranscriptRead(
        session_id=pending.session_id,
        at=time.time(),
        start=cursor.offset,
        offset=cursor.offset,
        file_id=cursor.file_id,
        part=TranscriptPart(error=why if lost else None, missing=(why,)),
    )
