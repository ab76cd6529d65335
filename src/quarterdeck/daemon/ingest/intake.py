"""Takes hook calls from any transport: bytes in, and out the exact bytes that Claude Code reads."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import secrets
import time
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.runtime_event import FIRST_AGENT, EventName, RuntimeEvent
from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.rules.verdicts import rulebook
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.ingest.symlinks import PathResolver
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.loop.queued_input import Envelope
from quarterdeck.daemon.loop.waiters import HookAnswer, HookPending
from quarterdeck.errors import BadInput
from quarterdeck.wire import HEAVY, MAX_TOOL_INPUT, cap_tool_input, read_json, write_json

EDITOR_TAG = "editor:"
"""The forwarder puts this before the tag of a terminal of an editor; any other tag is that of an owned session."""

# Looked up once: every hook call is compared with these, and an enum's attribute is slow to find.
_STREAMED, _TOOL_BEFORE, _PERMISSION_ASKED = EventName.TEXT_STREAMED, EventName.TOOL_BEFORE, EventName.PERMISSION_ASKED


class HookCaller(Struct, frozen=True, kw_only=True):
    """Facts the transport knows about an agent. `enforced`: it blocks the tool unless the answer allows it.
    `reconnects`: once it is held, it comes back with the same id after a restart of the daemon."""

    waiter: str
    enforced: bool = False
    reconnects: bool = False
    agent: str = FIRST_AGENT
    entrypoint: str = ""
    pid: int = 0
    tag: str = ""


class HookResponse(Struct, frozen=True):
    """The JSON for an agent, or nothing; and the reason when nothing could be recorded."""

    answer: bytes | None = None
    error: str | None = None


SILENCE = HookResponse()


class HookCall(Struct, frozen=True, gc=False):
    """One hook call until it is answered. `received`: monotonic time at which the payload was complete."""

    event_id: str
    session_id: str
    received: float
    answer: asyncio.Future[HookAnswer | HookPending]


class HookIntake:
    """Turns payloads into inputs."""

    def __init__(self, loop: Loop, attendance: Attendance) -> None:
        self._loop = loop
        self._attendance = attendance
        self._ids = itertools.count(1)
        self._boot = secrets.token_hex(6)
        self.refused = loop.stats.refused
        self._stats = loop.stats
        self._resolver = PathResolver()
        self._receiving: set[asyncio.Future[None]] = set()
        self.is_disconnected = False
        """Whether `qd uninstall` has removed the hooks that sessions of a person call with."""
        self.on_stream: Callable[[str, str, Any], None] = lambda session_id, kind, data: None

    def turns_away(self, caller: HookCaller) -> bool:
        """True if this is a session that has outlived `qd uninstall`: it gets no opinion, and is counted but not
        recorded. A session that Quarterdeck has started calls with hooks of its own, which name its tag."""
        if not self.is_disconnected or (caller.tag and not caller.tag.startswith(EDITOR_TAG)):
            return False
        self.count_turned_away()
        return True

    def count_turned_away(self) -> None:
        self.refused["after_uninstall"] += 1

    def new_id(self) -> str:
        return f"h{self._boot}-{next(self._ids)}"

    def receive(self, body: bytes, caller: HookCaller, call_id: str = "") -> HookCall | None:
        """Take one payload; `call_id` is the caller's own id for it. None for a stream, which gets no answer."""
        received = time.perf_counter()
        return self._receive_body(read_json(body), body, caller, call_id, received)

    async def receive_heavy(self, body: bytes, caller: HookCaller, call_id: str = "") -> HookCall | None:
        """Take one payload that is long to parse; a thread parses it, so that other calls do not wait."""
        received = time.perf_counter()
        payload = await asyncio.to_thread(_read_capped, body)
        return self._receive_body(payload, body, caller, call_id, received)

    def _receive_body(
        self, payload: Any, body: bytes, caller: HookCaller, call_id: str, received: float
    ) -> HookCall | None:
        """Only a call that may be held can come a second time: for any other the id would be stored in vain."""
        event = _read_event(payload, caller, call_id or self.new_id())
        if not call_id:
            return self.receive_event(event, len(body), caller, None, received)
        if not _may_be_held(event, caller):
            return self.receive_event(replace(event, id=self.new_id()), len(body), caller, None, received)
        envelope = Envelope(call_id, hashlib.sha256(body).digest())
        return self.receive_event(event, len(body), caller, envelope, received)

    def receive_payload(
        self, payload: Any, size: int, caller: HookCaller, event_id: str, envelope: Envelope | None, received: float
    ) -> HookCall | None:
        """Take a parsed payload that is within the limit of a tool input."""
        return self.receive_event(_read_event(payload, caller, event_id), size, caller, envelope, received)

    def receive_event(
        self, event: RuntimeEvent, size: int, caller: HookCaller, envelope: Envelope | None, received: float
    ) -> HookCall | None:
        """Take an event; `size` is that of its payload."""
        if caller.enforced and not _can_be_checked(event):
            raise BadInput("unknown_call", "the enforce gate accepts only a known call with tool_name and tool_input")
        if event.event == _STREAMED:
            self.on_stream(event.session_id, "message", event.payload)
            return None
        attended = self._attendance.now()
        hook = HookReceived(
            event=event,
            waiter=caller.waiter,
            reconnects=caller.reconnects,
            attended=attended,
            enforced=caller.enforced,
        )
        if caller.enforced or self._may_match_rules(event):
            answer = self._receive_resolved(hook, envelope, is_heavy=size > HEAVY)
        else:
            answer = self._loop.receive(hook, envelope, is_heavy=size > HEAVY)
        return HookCall(event.id, event.session_id, received, answer)

    def _may_match_rules(self, event: RuntimeEvent) -> bool:
        """True if a rule may match this call, so that symlinks must be followed first."""
        if event.event == _TOOL_BEFORE:
            return rulebook(self._loop.state.rules).denies_anything
        return event.event == _PERMISSION_ASKED

    def _receive_resolved(
        self, hook: HookReceived, envelope: Envelope | None, *, is_heavy: bool
    ) -> asyncio.Future[HookAnswer | HookPending]:
        """Follow symlinks, then take the call. It is recorded even when its agent stops waiting meanwhile."""
        future: asyncio.Future[HookAnswer | HookPending] = asyncio.get_running_loop().create_future()

        async def receive() -> None:
            session = self._loop.state.sessions.get(hook.event.session_id)
            cwd = hook.event.context.cwd or (session.context.cwd if session else "")
            paths = await self._resolver.resolve(hook.event, cwd)
            answer = await self._loop.receive(replace(hook, paths=paths), envelope, is_heavy=is_heavy)
            if not future.done():
                future.set_result(answer)
            elif isinstance(answer, HookPending):
                self._loop.leave(envelope.request_id if envelope else hook.event.id, answer.answer)

        task = asyncio.ensure_future(receive())
        self._receiving.add(task)
        task.add_done_callback(self._receiving.discard)
        return future

    def count_answer(self, call: HookCall) -> None:
        """Count an answer that needed no decision."""
        self._stats.count_answer(call.session_id, call.received)

    def leave(self, request_id: str, answer: asyncio.Future[HookAnswer]) -> None:
        """The agent's connection closed while it waited."""
        self._loop.leave(request_id, answer)

    async def wait(
        self, request_id: str, answer: asyncio.Future[HookAnswer], closed: Coroutine[Any, Any, object]
    ) -> HookAnswer | None:
        """Wait for a person as long as the agent does. None when its connection closed first."""
        gone = asyncio.ensure_future(closed)
        try:
            await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not answer.done():
                self.leave(request_id, answer)
        return answer.result() if answer.done() else None


def _read_event(payload: Any, caller: HookCaller, event_id: str) -> RuntimeEvent:
    return AGENTS[caller.agent].read_event(
        payload,
        event_id=event_id,
        at=time.time(),
        entrypoint=caller.entrypoint,
        tag=caller.tag.removeprefix(EDITOR_TAG),
        pid=caller.pid,
    )


def _may_be_held(event: RuntimeEvent, caller: HookCaller) -> bool:
    """True if this call may wait for a person: any held hook, but of the many tool calls only those at the gate."""
    hook = AGENTS[caller.agent].hooks.get(event.hook_name)
    if hook is None or not hook.holds:
        return False
    return hook.event != EventName.TOOL_BEFORE or caller.enforced or event.tool.kind == ToolKind.QUESTION


def _can_be_checked(event: RuntimeEvent) -> bool:
    """True if the gate can decide on this event: a tool call with its tool and input, or a known event without one."""
    if event.event == EventName.TOOL_BEFORE:
        return bool(event.tool_name) and isinstance(event.payload.get("tool_input"), dict)
    return event.event != EventName.UNKNOWN


def _read_capped(body: bytes) -> Any:
    payload = read_json(body)
    return cap_tool_input(payload) if len(body) > MAX_TOOL_INPUT else payload


def hook_response(answer: HookAnswer) -> HookResponse:
    """Encode an answer in the agent's wire format."""
    request = answer.request
    if request is None:
        return HookResponse(error=answer.error) if answer.error else SILENCE
    write_answer = AGENTS[request.agent].write_answer
    output = write_answer(request.hook_name, request.tool_name, request.tool_input, answer.decision)
    if output is None and request.enforced:
        return HookResponse(error=answer.error or "nobody decided")  # silence would let the tool run
    return HookResponse(write_json(output) if output is not None else None, answer.error)
