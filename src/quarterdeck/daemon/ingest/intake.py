"""Hearing an agent, whatever the transport: bytes in, the exact bytes Claude Code reads out."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.agents.claude.hooks import STREAMS, can_be_judged, read_hook, write_answer
from quarterdeck.core.engine.messages import Heard
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.rules.verdicts import rulebook
from quarterdeck.daemon.ingest.symlinks import PlaceFinder
from quarterdeck.daemon.loop.loop import Envelope, Loop
from quarterdeck.daemon.loop.waiters import Held, Told
from quarterdeck.errors import BadInput
from quarterdeck.wire import HEAVY, MAX_TOOL_INPUT, capped, read_json, write_json

ATTENDED_SECONDS = 600.0


class Attendance:
    """Whether a person is near: a surface is connected, or somebody used CLI or API a short while ago."""

    def __init__(self) -> None:
        self.surfaces = 0
        self._last = float("-inf")

    def seen(self) -> None:
        self._last = time.monotonic()

    def count(self, change: int) -> None:
        """A surface connected, or left."""
        self.surfaces += change
        self.seen()

    def now(self) -> bool:
        return self.surfaces > 0 or time.monotonic() - self._last < ATTENDED_SECONDS


class Caller(Struct, frozen=True, kw_only=True):
    """What the transport knows of the agent; `enforced` that it blocks the tool unless it hears otherwise."""

    holder: str
    enforced: bool = False
    entrypoint: str = ""
    pid: int = 0
    tag: str = ""


class Spoken(Struct, frozen=True):
    """What an agent is told: the JSON, or nothing; and why nothing could be recorded."""

    answer: bytes | None = None
    error: str | None = None


SILENCE = Spoken()


class Turn(Struct, frozen=True, gc=False):
    """One thing an agent said, until it has its answer; `received` is when it was here whole, by a clock that only
    runs forward."""

    event_id: str
    session_id: str
    received: float
    answer: asyncio.Future[Told | Held]


class Ears:
    """Turns what comes over a wire into inputs, and decisions into answers."""

    def __init__(self, loop: Loop, attendance: Attendance) -> None:
        self._loop = loop
        self._attendance = attendance
        self._ids = itertools.count(1)
        self._boot = secrets.token_hex(6)
        self.refused = loop.stats.refused
        self._stats = loop.stats
        self._places = PlaceFinder()
        self._hearing: set[asyncio.Future[None]] = set()
        self.streamed: Callable[[str, str, Any], None] = lambda session_id, kind, data: None

    def new_id(self) -> str:
        return f"h{self._boot}-{next(self._ids)}"

    def hear(self, body: bytes, caller: Caller) -> Turn | None:
        """Hear one payload: its id, and what the agent is to be told. None for what is only a stream."""
        received = time.perf_counter()
        return self.hear_payload(read_json(body), len(body), caller, self.new_id(), None, received)

    async def hear_heavy(self, body: bytes, caller: Caller) -> Turn | None:
        """`hear` for a payload that is long to read: nobody else waits meanwhile."""
        received = time.perf_counter()
        payload = await asyncio.to_thread(_read_capped, body)
        return self.hear_payload(payload, len(body), caller, self.new_id(), None, received)

    def hear_payload(
        self, payload: Any, size: int, caller: Caller, event_id: str, envelope: Envelope | None, received: float
    ) -> Turn | None:
        """Hear a payload that was read and is within the limits of a tool input."""
        event = read_hook(
            payload,
            event_id=event_id,
            at=time.time(),
            entrypoint=caller.entrypoint,
            tag=caller.tag,
            pid=caller.pid,
        )
        if caller.enforced and not can_be_judged(event):
            raise BadInput("unknown_call", "the gate takes a hook it knows, a PreToolUse with tool_name and tool_input")
        if event.hook_name in STREAMS:
            self.streamed(event.session_id, "message", event.payload)
            return None
        attended = self._attendance.now()
        heard = Heard(event=event, holder=caller.holder, attended=attended, enforced=caller.enforced)
        if caller.enforced or self._is_judged(event):
            answer = self._hear_placed(heard, envelope, is_heavy=size > HEAVY)
        else:
            answer = self._loop.hear(heard, envelope, is_heavy=size > HEAVY)
        return Turn(event_id, event.session_id, received, answer)

    def _is_judged(self, event: RuntimeEvent) -> bool:
        """Whether rules may have a say, so that links must be followed first."""
        if event.hook_name == "PreToolUse":
            return rulebook(self._loop.state.rules).denies_anything
        return event.hook_name == "PermissionRequest"

    def _hear_placed(self, heard: Heard, envelope: Envelope | None, *, is_heavy: bool) -> asyncio.Future[Told | Held]:
        """Follow the links, then hear it; whoever stops waiting has still been heard."""
        answer: asyncio.Future[Told | Held] = asyncio.get_running_loop().create_future()

        async def hear() -> None:
            session = self._loop.state.sessions.get(heard.event.session_id)
            cwd = heard.event.context.cwd or (session.context.cwd if session else "")
            places = await self._places.find(heard.event, cwd)
            told = await self._loop.hear(replace(heard, places=places), envelope, is_heavy=is_heavy)
            if not answer.done():
                answer.set_result(told)
            elif isinstance(told, Held):
                self._loop.leave(envelope.request_id if envelope else heard.event.id, told.answer)

        task = asyncio.ensure_future(hear())
        self._hearing.add(task)
        task.add_done_callback(self._hearing.discard)
        return answer

    def answered(self, turn: Turn) -> None:
        """The agent has its answer, about which nobody was asked."""
        self._stats.answered(turn.session_id, turn.received)

    def leave(self, request_id: str, answer: asyncio.Future[Told]) -> None:
        """The agent's connection closed while it waited."""
        self._loop.leave(request_id, answer)


def _read_capped(body: bytes) -> Any:
    payload = read_json(body)
    return capped(payload) if len(body) > MAX_TOOL_INPUT else payload


def spoken(told: Told) -> Spoken:
    """A decision in Claude Code's words."""
    request = told.request
    if request is None:
        return Spoken(error=told.error) if told.error else SILENCE
    answer = write_answer(request.hook_name, request.tool_name, request.tool_input, told.decision)
    if answer is None and request.enforced:
        return Spoken(error=told.error or "nobody decided")  # silence would let the tool run
    return Spoken(write_json(answer) if answer is not None else None, told.error)
