"""Follows the transcripts of sessions: read soon after their hooks speak, looked at now and then while they run."""

from __future__ import annotations

import asyncio
import contextlib
import time
from importlib import resources
from pathlib import Path

import structlog
from msgspec import Struct

from quarterdeck.agents.claude.prices import Prices, read_prices
from quarterdeck.agents.claude.transcript import read_part
from quarterdeck.core.engine.messages import TranscriptRead
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Scroll
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.drivers.claude.transcript_files import (
    MAX_AGENTS,
    Absent,
    Found,
    Sign,
    Stretch,
    Unreadable,
    opened,
    read_stretch,
    signs_of,
    sub_agents,
)

SOON_SECONDS = 0.3
LOOK_SECONDS = 3.0
LATE_SECONDS = 20.0
"""So long after the last sign of work a transcript is still looked at: an agent may write its last words late."""

RECORD_SECONDS = 2.0
FULL_SECONDS = 30.0
"""How long a transcript waits when the disk has only room for decisions."""

SUMMARY_AFTER_RESTART_SECONDS = 86_400.0

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
"""After which events a transcript is read, and after which it is summed up."""

AT_WORK = frozenset({AgentState.RUNNING, AgentState.WAITING_PERMISSION, AgentState.WAITING_INPUT})

logger = structlog.get_logger("transcripts")


def load_prices() -> Prices:
    """The price list that is part of the program."""
    return read_prices(resources.files("quarterdeck.agents.claude").joinpath("prices.json").read_bytes())


class Wanted(Struct, frozen=True):
    """What is to be read of a session, and how far each file has been; `over` when no more will come, `since` where
    what was said before is another session's."""

    session_id: str
    path: str
    scrolls: dict[str, Scroll]
    over: bool
    since: float


class Transcripts:
    """One task that reads for all sessions, one stretch of one file after another."""

    def __init__(self, loop: Loop, projects: Path, prices: Prices) -> None:
        self._loop = loop
        self._projects = projects
        self._prices = prices
        self._due: dict[str, float] = {}
        self._sums: dict[str, list[str]] = {}
        self._sizes: dict[tuple[str, str], tuple[int, int]] = {}
        self._signs: dict[str, Sign] = {}
        self._spoke: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._recorded = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        loop.subscribe(self.heard)

    def start(self) -> None:
        """Begin with what happened while nobody read."""
        state, now = self._loop.state, time.time()
        for session in state.sessions.values():
            self._due[session.session_id] = 0.0
        for session in state.ended.values():
            lately = session.ended_at is not None and now - session.ended_at < SUMMARY_AFTER_RESTART_SECONDS
            if lately and not session.transcript.summed_up:
                self._due[session.session_id] = 0.0
                self._sums[session.session_id] = ["end"]
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Read no more; what is not yet summed up is so after the next start."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def heard(self, events: list[FeedEvent]) -> None:
        """Something was recorded: its session's transcript has news soon."""
        for event in events:
            if event.kind == "session.usage":
                self._recorded.set()
            reason = WAKES.get(event.kind)
            if reason is None:
                continue
            self._spoke[event.session_id] = time.monotonic()
            if reason:
                self._sums.setdefault(event.session_id, []).append(reason)
            if event.session_id not in self._due:
                self._due[event.session_id] = time.monotonic() + SOON_SECONDS
                self._wake.set()

    async def _run(self) -> None:
        looked = time.monotonic()
        while True:
            await self._until(min([looked + LOOK_SECONDS, *self._due.values()]))
            now = time.monotonic()
            if now - looked >= LOOK_SECONDS:
                looked = now
                await self._look()
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

    async def _look(self) -> None:
        """Sessions at work may write without a hook that says so, and those that were so just now."""
        now = time.monotonic()
        self._spoke = {session_id: at for session_id, at in self._spoke.items() if now - at < LATE_SECONDS}
        at_work = {
            session.session_id: session.context.transcript_path
            for session in self._loop.state.sessions.values()
            if (session.agent_state in AT_WORK or session.session_id in self._spoke) and session.context.transcript_path
        }
        signs = await asyncio.to_thread(signs_of, self._projects, at_work) if at_work else {}
        for session_id, sign in signs.items():
            if self._signs.get(session_id) != sign:
                self._due.setdefault(session_id, 0.0)
        self._signs = signs

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
        wanted = Wanted(session_id, path, known.scrolls, "end" in reasons, known.forked_at)
        found = await asyncio.to_thread(self._gather, wanted) if wanted.path or reasons else []
        for told in found:
            await self._tell(told)
        if any(told.offset != told.start for told in found):
            self._due[session_id] = time.monotonic()
        elif reasons:
            for reason in self._sums.pop(session_id):
                self._loop.tell(TranscriptRead(session_id=session_id, at=time.time(), start=-1, summary=reason))
            self._forget(session_id)

    async def _tell(self, told: TranscriptRead) -> None:
        """Wait until it is on record, so that reading goes on from there; when it is not, it is read again later."""
        self._recorded.clear()
        self._loop.tell(told)
        if told.offset != told.start:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RECORD_SECONDS):
                    await self._recorded.wait()

    def _forget(self, session_id: str) -> None:
        self._sizes = {key: size for key, size in self._sizes.items() if key[0] != session_id}

    def _gather(self, wanted: Wanted) -> list[TranscriptRead]:
        """What is new in the files of a session; runs in a thread."""
        try:
            agents = sub_agents(self._projects, wanted.path)
        except Unreadable as error:
            return [_failed(wanted, str(error))]
        known = [agent for agent in agents if agent in wanted.scrolls]
        followed = [*known, *(agent for agent in agents if agent not in wanted.scrolls)][:MAX_AGENTS]
        found = [self._read_file(wanted, None, wanted.path)]
        found += [self._read_file(wanted, agent, agents[agent]) for agent in followed]
        if len(agents) > len(followed):
            found.append(_failed(wanted, f"{len(agents) - len(followed)} sub-agents beyond {MAX_AGENTS}", lost=False))
        return [told for told in found if told is not None]

    def _read_file(self, wanted: Wanted, agent_id: str | None, path: str) -> TranscriptRead | None:
        scroll = wanted.scrolls.get(agent_id or "", Scroll())
        key = (wanted.session_id, agent_id or "")
        try:
            with opened(self._projects, path) as found:
                seen = (found.size, found.file_id)
                if self._sizes.get(key) == seen and not wanted.over:
                    return None
                stretch = read_stretch(found, scroll.offset, scroll.file_id)
                if stretch.offset == scroll.offset and not stretch.afresh:
                    self._sizes[key] = seen
                return self._told(wanted, agent_id, scroll, found, stretch)
        except Absent as error:
            return _failed(wanted, str(error)) if wanted.over and agent_id is None else None
        except Unreadable as error:
            return _failed(wanted, str(error), lost=agent_id is None)

    def _told(
        self, wanted: Wanted, agent_id: str | None, scroll: Scroll, found: Found, stretch: Stretch
    ) -> TranscriptRead:
        part = read_part(stretch.content, self._prices, agent_id, since=wanted.since)
        offset = stretch.offset - len(stretch.content) + part.size
        cut_off = found.size - offset if wanted.over and offset == scroll.offset else 0
        return TranscriptRead(
            session_id=wanted.session_id,
            at=time.time(),
            agent_id=agent_id,
            start=scroll.offset,
            offset=offset,
            file_id=found.file_id,
            afresh=stretch.afresh,
            said=part.said,
            prompts=part.prompts,
            context_tokens=part.context_tokens,
            title=part.title,
            titled_by_user=part.titled_by_user,
            reported_cost_usd=part.reported_cost_usd,
            error=part.error,
            malformed=part.malformed,
            skipped_lines=part.skipped_lines + stretch.skipped_lines,
            skipped_bytes=stretch.skipped_bytes,
            missing=(*part.missing, *((f"the last line, cut off after {cut_off:,} bytes",) if cut_off else ())),
        )


def _failed(wanted: Wanted, why: str, *, lost: bool = True) -> TranscriptRead:
    """Nothing was read, and why; the main file's failure is the transcript's."""
    scroll = wanted.scrolls.get("", Scroll())
    return TranscriptRead(
        session_id=wanted.session_id,
        at=time.time(),
        start=scroll.offset,
        offset=scroll.offset,
        file_id=scroll.file_id,
        error=why if lost else None,
        missing=(why,),
    )


def follow(loop: Loop, projects: Path) -> Transcripts:
    """Follow the transcripts of all sessions of this loop."""
    transcripts = Transcripts(loop, projects, load_prices())
    transcripts.start()
    return transcripts
