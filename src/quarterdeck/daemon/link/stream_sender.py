"""Terminals and live text that the hub has opened: each with its own credit, so that a flood delays nothing else."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

import msgspec

from quarterdeck.api.backend import Backend
from quarterdeck.api.http.asgi import error_body
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.terminals import CREDIT, Credit, MachineTerminals, TerminalInput, TerminalResize, Terminals
from quarterdeck.api.live.ws_messages import AnyServerMessage
from quarterdeck.daemon.link.in_process_call import ApiAnswer
from quarterdeck.daemon.link.outgoing.share_policy import SharePolicy
from quarterdeck.link.messages import OpenStream, RunnerStream
from quarterdeck.link.redaction.share_levels import EVERYTHING

HEADER_BYTES = 13
MOST_STREAMS = 16
GRANTS = {"terminal": "terminals", "text": "observe"}

Send = Callable[[RunnerStream], Awaitable[None]]


class _TerminalOutlet:
    """Sends the output of one terminal over the link."""

    def __init__(self, opened: OpenStream, send: Send) -> None:
        self._opened, self._send = opened, send

    async def send(self, message: AnyServerMessage) -> None:
        """The terminal begins again, from its present screen."""
        await self._part("reset", "")

    async def send_bytes(self, data: bytes) -> None:
        """A part of its output, after the header that the link does not need."""
        await self._part("terminal", base64.b64encode(data[HEADER_BYTES:]).decode())

    async def _part(self, kind: str, data: str) -> None:
        opened = self._opened
        await self._send(RunnerStream(stream=opened.stream, session_id=opened.session_id, kind=kind, data=data))


class StreamSender:
    """The open streams of one connection."""

    def __init__(
        self, backend: Backend, live: Broadcaster, policy: Callable[[], SharePolicy], may: Collection[str], send: Send
    ) -> None:
        self._backend, self._live, self._policy, self._may, self._send = backend, live, policy, may, send
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._credits: dict[int, Credit] = {}
        self._terminals: dict[str, Terminals] = {}

    async def open(self, opened: OpenStream) -> None:
        """Begin a stream, or say why there is none."""
        problem = self._problem(opened)
        if problem is not None:
            await self._end(opened, problem)
            return
        work = self._show_terminal(opened) if opened.kind == "terminal" else self._show_text(opened)
        self._tasks[opened.stream] = asyncio.create_task(work)

    def _problem(self, opened: OpenStream) -> str | None:
        if opened.kind not in GRANTS:
            return f"{opened.kind[:40]}: there is no such stream"
        if GRANTS[opened.kind] not in self._may:
            return f"this machine does not let its hub see that: hub.may lacks {GRANTS[opened.kind]}"
        if self._policy().of_session(opened.session_id) != EVERYTHING:
            return "the output of its project is not shared with the hub"
        if opened.stream in self._tasks or len(self._tasks) >= MOST_STREAMS:
            return f"at most {MOST_STREAMS} streams, each with its own number"
        return None

    def credit(self, stream: int, size: int) -> None:
        """The hub has taken this many bytes."""
        if stream in self._credits:
            self._credits[stream].add(max(0, size))

    def close(self, stream: int) -> None:
        """The hub closes a stream."""
        if (task := self._tasks.get(stream)) is not None:
            task.cancel()

    async def close_all(self) -> None:
        """End every stream."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def type(self, name: str, args: Mapping[str, Any]) -> ApiAnswer:
        """Type into a terminal that the hub shows, or set its size."""
        terminals = self._terminals.get(str(args.get("session_id")))
        if terminals is None:
            return ApiAnswer(409, error_body("no_terminal", "open the terminal first"))
        given = {key: value for key, value in args.items() if key != "runner_id"}
        try:
            if name == "terminal_input":
                await terminals.write(msgspec.convert(given, TerminalInput))
            else:
                await terminals.resize(msgspec.convert(given, TerminalResize))
        except ApiError as error:
            return ApiAnswer(error.code, msgspec.json.encode(error.body))
        except msgspec.ValidationError as error:
            return ApiAnswer(422, error_body("invalid", str(error)))
        return ApiAnswer(200, b"null")

    async def _show_terminal(self, opened: OpenStream) -> None:
        terminals = Terminals(MachineTerminals(self._backend.sessions), _TerminalOutlet(opened, self._send))
        terminals.credit.use(CREDIT - min(CREDIT, max(0, opened.credit)))
        self._credits[opened.stream], self._terminals[opened.session_id] = terminals.credit, terminals
        with contextlib.suppress(asyncio.CancelledError):
            try:
                async with asyncio.TaskGroup() as tasks:
                    terminals.start(tasks, are_binary=True)
                    terminals.follow_only(frozenset({f"streams:{opened.session_id}"}))
            finally:
                self._forget(opened)

    async def _show_text(self, opened: OpenStream) -> None:
        topics = frozenset({f"streams:{opened.session_id}"})
        credit = self._credits[opened.stream] = Credit()
        credit.use(CREDIT - min(CREDIT, max(0, opened.credit)))
        wake = self._live.listen(topics)
        with contextlib.suppress(asyncio.CancelledError):
            try:
                place, texts = self._live.head, [part.decode() for part in self._live.so_far(topics)]
                while True:
                    for text in texts:
                        await self._send_text(opened, text, credit)
                    if place == self._live.head:
                        wake.clear()
                        await wake.wait()
                    frame = self._live.frame(place, topics)
                    if frame is None:  # too slow: what is written now, from its beginning
                        place, texts = self._live.head, [part.decode() for part in self._live.so_far(topics)]
                    else:
                        place, texts = frame.upto, [frame.text] if frame.text else []
            finally:
                self._live.leave(wake)
                self._forget(opened)

    async def _send_text(self, opened: OpenStream, text: str, credit: Credit) -> None:
        parts = msgspec.json.decode(text if text.startswith("[") else f"[{text}]")
        for part in parts:
            await credit.wait()
            credit.use(len(text) // len(parts))
            data = self._policy().secrets.clean(part["data"])
            await self._send(
                RunnerStream(stream=opened.stream, session_id=opened.session_id, kind=part["kind"], data=data)
            )

    async def _end(self, opened: OpenStream, reason: str) -> None:
        await self._send(RunnerStream(stream=opened.stream, session_id=opened.session_id, kind="end", data=reason))

    def _forget(self, opened: OpenStream) -> None:
        self._tasks.pop(opened.stream, None)
        self._credits.pop(opened.stream, None)
        self._terminals.pop(opened.session_id, None)
