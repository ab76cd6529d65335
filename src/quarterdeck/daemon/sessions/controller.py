"""The sessions of ours: carries out what was decided about them, and hears what becomes of them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, assert_never

import structlog
from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.engine.session_identity import current
from quarterdeck.core.engine.session_messages import (
    Adjust,
    Deliver,
    Down,
    Failed,
    Finish,
    Given,
    Halt,
    Launch,
    News,
    Start,
    Up,
    Work,
)
from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.core.model.state import ProcessId, Session
from quarterdeck.daemon.ingest.intake import Caller, Ears
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.loop.waiters import Held
from quarterdeck.errors import BadInput, QuarterdeckError, Refused
from quarterdeck.sessions.launcher import Asked, Kit, TerminalWay, Viewer, Way
from quarterdeck.system.process_watch import process_id
from quarterdeck.wire import write_json

DID_NOT_START = "did not start"
WAS_GONE = "was gone after a restart"
STOPS = "Quarterdeck stops; try again when it is back"
CLOSE_SECONDS = 5.0
LOOK_SECONDS = 0.05
ADOPT_SECONDS = 5.0
GONE_SECONDS = 10.0
ENTRYPOINT = "sdk-py"

logger = structlog.get_logger("crew")


class Undone(Struct, frozen=True):
    """Why an order was not carried out: an error kind of the API, and words."""

    kind: str
    words: str


class Crew:
    """Has one way for each mode. What it is told to do is done in order for each session, and never twice."""

    def __init__(self, loop: Loop, ears: Ears, kit: Callable[[Start], Awaitable[Kit]]) -> None:
        self._loop = loop
        self._ears = ears
        self._kit = kit
        self._ways: Mapping[str, Way] = {}
        self._locks: dict[str, _Locks] = {}
        self._doing: dict[str, asyncio.Task[Undone | None]] = {}
        self._expected: dict[str, list[str]] = {}
        self._looked: dict[str, asyncio.Event] = {}
        self.streamed: Callable[[str, str, Any], None] = lambda session_id, kind, data: None

    def sign_on(self, ways: Mapping[str, Way]) -> None:
        """From now on sessions can be run in these ways. Those in terminals that ran before may still do."""
        self._ways = ways
        sessions = self._loop.state.sessions.values()
        self._expected = {
            mode: [_handle(session) for session in sessions if _ran(session, mode)] for mode in ways if mode != "sdk"
        }
        self._looked = {mode: asyncio.Event() for mode in self._expected}

    def do(self, work: Work) -> None:
        """Begin; `done` tells how it ended."""
        name, handle = _named(work)
        task = asyncio.create_task(self._do(work, handle))
        self._doing[name] = task
        task.add_done_callback(lambda _: self._doing.pop(name, None) if self._doing.get(name) is task else None)

    async def done(self, name: str) -> Undone | None:
        """Wait for the work of this name, and why it was not done, if so."""
        task = self._doing.get(name)
        try:
            return await asyncio.shield(task) if task is not None else None
        except asyncio.CancelledError:
            if task is None or not task.cancelled():
                raise
            return Undone("failed", STOPS)

    async def _do(self, work: Work, handle: str) -> Undone | None:
        locks = self._locks.setdefault(handle, _Locks())
        try:
            if isinstance(work, Finish):
                await self._give_up(self._way(work.mode), handle, locks)
            await self._ready(work)
            async with locks.of(work):
                if isinstance(work, Finish) and locks.is_over:
                    return None
                await self._carry_out(work, handle)
        except QuarterdeckError as refused:
            undone = Undone("not_taken" if isinstance(work, Deliver) else "failed", str(refused))
        except Exception as surprise:
            logger.exception("an order to a session failed", order=type(work).__name__, session_id=handle)
            undone = Undone("failed", f"{type(surprise).__name__}; see the daemon's log")
        else:
            return None
        locks.is_over = locks.is_over or isinstance(work, Launch)
        self._failed(work, handle, undone.words)
        return undone

    async def _ready(self, work: Work) -> None:
        """After a restart a session is found again before anything is done with it."""
        looked = self._looked.get(work.start.mode if isinstance(work, Launch) else work.mode)
        if looked is not None:
            await looked.wait()

    async def _give_up(self, way: Way, handle: str, locks: _Locks) -> None:
        """Nobody waits for a start that is no longer wanted."""
        while locks.is_starting:
            await way.give_up(handle)
            await asyncio.sleep(LOOK_SECONDS)

    def _failed(self, work: Work, handle: str, error: str) -> None:
        message_id = work.send.message_id if isinstance(work, Deliver) else None
        order = _ORDERS[type(work)]
        self.tell(Failed(session_id=handle, order=order, error=error, message_id=message_id, at=time.time()))
        if isinstance(work, Launch):
            self.tell(Down(session_id=handle, at=time.time(), reason=DID_NOT_START, last_words=error))

    async def _carry_out(self, work: Work, handle: str) -> None:
        match work:
            case Launch(start=start, after=after):
                way = self._way(start.mode)
                if after is not None:
                    await _ended(after)
                running = await way.launch(start, await self._kit(start))
                up = Up(session_id=handle, at=time.time(), process=running.process, terminal=running.terminal)
                self.tell(up)
            case Deliver(send=send, mode=mode):
                if await self._way(mode).send(replace(send, session_id=handle)):
                    self.tell(Given(session_id=handle, at=time.time(), message_id=send.message_id))
            case Halt(mode=mode):
                await self._way(mode).interrupt(handle)
            case Finish(mode=mode):
                await self._way(mode).end(handle)
            case Adjust(mode=mode, model=model, permission_mode=permission_mode):
                await self._way(mode).change(handle, model, permission_mode)
            case _:
                assert_never(work)

    def _way(self, mode: str) -> Way:
        way = self._ways.get(mode)
        if way is None:
            raise Refused(f"sessions of mode {mode} cannot be run here")
        return way

    def tell(self, news: News) -> None:
        """What happened to a session of ours."""
        if isinstance(news, Down):
            self._locks.pop(news.session_id, None)
        self._loop.tell(news)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        """Something beside the feed."""
        session = current(self._loop.state, session_id)
        self.streamed(session.session_id if session else session_id, kind, data)

    async def ask(self, asked: Asked) -> Decision:
        """Put it on the desk, as if a hook had asked."""
        session = current(self._loop.state, asked.session_id)
        payload = _payload(asked, session)
        caller = Caller(holder="sdk", entrypoint=ENTRYPOINT, tag=asked.session_id)
        event_id = self._ears.new_id()
        try:
            turn = self._ears.hear_payload(
                payload, len(write_json(payload)), caller, event_id, None, time.perf_counter()
            )
        except BadInput as error:
            return NoOpinion(reason=str(error))
        if turn is None:
            return NoOpinion()
        told = await turn.answer
        if isinstance(told, Held):
            held = told.answer
            try:
                told = await held
            except asyncio.CancelledError:
                self._ears.leave(event_id, held)
                raise
        return told.decision

    async def adopt(self) -> None:
        """After a restart: find the terminals that went on without us, and say which did not. Orders wait for it."""
        await asyncio.gather(*map(self._adopt, self._expected))

    async def _adopt(self, mode: str) -> None:
        """Until it is known what became of them: one that nobody can ask may still run."""
        expected = self._expected[mode]
        while True:
            try:
                found = await self._ways[mode].adopt(expected)
                break
            except Exception:
                logger.exception("sessions could not be found again", mode=mode)
            finally:
                self._looked[mode].set()
            if not expected:
                return
            await asyncio.sleep(ADOPT_SECONDS)
        at = time.time()
        for one in found:
            self.tell(Up(session_id=one.session_id, at=at, process=one.process, terminal=one.terminal, found=True))
        for handle in set(expected) - {one.session_id for one in found}:
            self.tell(Down(session_id=handle, at=at, reason=WAS_GONE))

    async def view(self, session: Session, cols: int, rows: int, seen: Callable[[bytes], None]) -> Viewer:
        """Look at the terminal of a session."""
        return await self._terminal(session).view(_handle(session), cols, rows, seen)

    async def screen(self, session: Session) -> str:
        """The text on the screen of a session."""
        return await self._terminal(session).screen(_handle(session))

    def _terminal(self, session: Session) -> TerminalWay:
        way = self._ways.get(session.mode)
        if not session.runs_here or way is None or not isinstance(way, TerminalWay):
            raise Refused(f"{session.session_id} has no terminal of ours; see its feed")
        return way

    async def close(self) -> None:
        """We stop: what cannot live without us ends, and is on record as ended."""
        starts = {name: task for name, task in self._doing.items() if name.startswith("start ")}
        for name, task in list(self._doing.items()):
            if name not in starts:
                task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                closing = (way.close() for way in self._ways.values())
                await asyncio.gather(*closing, *starts.values(), return_exceptions=True)
        for task in starts.values():
            task.cancel()


class _Locks:
    """Nothing is done before a session has started, and one prompt is given after another. An end or an interrupt
    waits for no prompt. `is_over` when it did not start."""

    def __init__(self) -> None:
        self._starting = asyncio.Lock()
        self._sending = asyncio.Lock()
        self.is_over = False

    @property
    def is_starting(self) -> bool:
        return self._starting.locked()

    @contextlib.asynccontextmanager
    async def of(self, work: Work) -> AsyncIterator[None]:
        if isinstance(work, Launch):
            async with self._starting:
                yield
            return
        async with self._starting:
            pass
        async with self._sending if isinstance(work, Deliver) else contextlib.nullcontext():
            yield


_ORDERS: Mapping[type[Work], str] = {
    Launch: "start",
    Deliver: "send",
    Halt: "interrupt",
    Finish: "end",
    Adjust: "change",
}


def _named(work: Work) -> tuple[str, str]:
    """The name of a piece of work, and whose it is."""
    match work:
        case Launch(start=start):
            return f"start {start.session_id}", start.session_id
        case Deliver(send=send, handle=handle):
            return f"send {send.message_id}", handle
        case _:
            return f"{_ORDERS[type(work)]} {work.handle}", work.handle


async def _ended(process: ProcessId) -> None:
    """One writer per conversation: who was told to end may take its time."""
    for _ in range(int(GONE_SECONDS / LOOK_SECONDS)):
        if process_id(process.pid) != process:
            return
        await asyncio.sleep(LOOK_SECONDS)
    raise Refused(f"it still runs as process {process.pid}; end that, then resume it")


def _ran(session: Session, mode: str) -> bool:
    return session.runs_here and session.mode == mode


def _handle(session: Session) -> str:
    return session.ours.handle if session.ours else session.session_id


def _payload(asked: Asked, session: Session | None) -> dict[str, Any]:
    """What a hook would have said."""
    known = {
        "session_id": session.session_id if session else asked.session_id,
        "hook_event_name": "PermissionRequest",
        "cwd": session.context.cwd if session else "",
        "permission_mode": session.context.permission_mode if session else None,
        "tool_name": asked.tool_name,
        "tool_input": asked.tool_input,
        "tool_use_id": asked.tool_use_id,
        "agent_id": asked.agent_id,
        "permission_suggestions": list(asked.suggestions),
        "title": asked.title,
        "decision_reason": asked.reason,
        "blocked_path": asked.blocked_path,
    }
    return {key: value for key, value in known.items() if value is not None}
