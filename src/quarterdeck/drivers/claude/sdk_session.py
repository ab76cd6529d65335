"""One session over the SDK: its prompts in their order, what it says, and its one end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable
from typing import Any, Protocol

from quarterdeck.agents.claude.sdk_messages import PERMISSION_MODES, Streamed, read_message, trouble_in, write_prompt
from quarterdeck.core.engine.session_messages import Down, Failed, Given, Noted, Send, TurnEnded
from quarterdeck.core.model.state import ProcessId
from quarterdeck.drivers.claude.sdk_note_limit import FewNotes
from quarterdeck.drivers.claude.sdk_transport import Pipe
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import Ear

MAX_QUEUED = 64
MAX_BEFORE = 256
CALL_SECONDS = 10.0
LAST_CALL_SECONDS = 0.5


class Client(Protocol):
    """What we use of the SDK's client."""

    async def query(self, prompt: AsyncIterator[dict[str, Any]], session_id: str = ...) -> None: ...

    async def interrupt(self) -> None: ...

    async def set_model(self, model: str | None = ...) -> None: ...

    async def set_permission_mode(self, mode: Any) -> None: ...

    async def disconnect(self) -> None: ...


class Session:
    """One agent; while it runs it stands in `table` under its id. A prompt waits until the turn before it has ended."""

    def __init__(self, session_id: str, ear: Ear, table: dict[str, Session]) -> None:
        self.session_id, self._ear, self._table = session_id, ear, table
        self._prompts: asyncio.Queue[Send] = asyncio.Queue(MAX_QUEUED)
        self._idle = asyncio.Event()
        self._idle.set()
        self._notes = FewNotes()
        self._init: dict[str, Any] | None = None
        self._finishing: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.process: ProcessId | None = None
        self._before: deque[Any] = deque(maxlen=MAX_BEFORE)

    def run(self, pipe: Pipe, client: Client) -> None:
        """From here on prompts go out, and an end is told."""
        self._pipe, self._client, self.process = pipe, client, pipe.agent()
        self._table[self.session_id] = self
        self._tasks = [asyncio.create_task(self._deliver()), asyncio.create_task(self._watch())]

    @property
    def trouble(self) -> str:
        """Why it did not start, if it said so."""
        return next((found for raw in reversed(self._before) if (found := trouble_in(raw))), "")

    def hear(self, raw: Any) -> None:
        """Tell what the agent said. Before it runs it is kept: nothing is told of one that does not start."""
        if not self._tasks:
            self._before.append(raw)
            return
        said = read_message(raw, self.session_id, time.time())
        match said:
            case Streamed(kind=kind, data=data):
                self._ear.stream(self.session_id, kind, data)
            case Noted(name="init", body=body) if body == self._init:
                pass  # it comes with every turn
            case Noted(name=name, body=body):
                self._init = body if name == "init" else self._init
                self._tell_all(self._notes.of(said))
            case TurnEnded():
                self._ear.tell(said)
                self._idle.set()

    def _tell_all(self, notes: list[Noted]) -> None:
        for note in notes:
            self._ear.tell(note)

    def send(self, send: Send) -> None:
        """Take a prompt, or refuse it."""
        if self._finishing is not None:
            raise Refused(f"{self.session_id} is ending; resume it and send the prompt again")
        try:
            self._prompts.put_nowait(send)
        except asyncio.QueueFull:
            raise Refused(f"{MAX_QUEUED} prompts wait already; wait until the agent has worked on some") from None

    async def _deliver(self) -> None:
        for raw in self._before:
            self.hear(raw)
        self._before.clear()
        while True:
            await self._idle.wait()
            send = await self._prompts.get()
            self._idle.clear()
            try:
                await self._client.query(_one(write_prompt(send.prompt, send.attachments)))
            except (Exception, asyncio.CancelledError) as error:
                self._fail(send, f"the agent did not take it: {error or 'the session ended'}")
                if isinstance(error, asyncio.CancelledError):
                    raise
            else:
                message_id = send.message_id or None
                self._ear.tell(Given(session_id=self.session_id, at=time.time(), message_id=message_id))

    def _fail(self, send: Send, error: str) -> None:
        message_id = send.message_id or None
        self._ear.tell(
            Failed(session_id=self.session_id, order="send", error=error, at=time.time(), message_id=message_id)
        )

    async def interrupt(self) -> None:
        """Stop the turn; a prompt that waits goes out next."""
        await self._call("interrupt", self._client.interrupt())

    async def change(self, model: str | None, permission_mode: str | None) -> None:
        if permission_mode not in (None, *PERMISSION_MODES):
            raise Refused(f"permission mode: {permission_mode} is none of {', '.join(PERMISSION_MODES)}")
        if model is not None:
            await self._call("model", self._client.set_model(model))
        if permission_mode is not None:
            await self._call("permission mode", self._client.set_permission_mode(permission_mode))

    async def _call(self, what: str, called: Awaitable[None]) -> None:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await called
        except TimeoutError:
            raise Refused(f"{what}: the agent did not answer within {CALL_SECONDS:.0f} s; end the session") from None
        except Exception as error:
            raise Refused(f"{what}: {error}") from None

    async def _watch(self) -> None:
        await self._pipe.silence()
        self._begin_end("exited")

    async def finish(self, reason: str) -> None:
        """End it, for the reason that came first, and tell so once."""
        await asyncio.shield(self._begin_end(reason))

    def _begin_end(self, reason: str) -> asyncio.Task[None]:
        if self._finishing is None:
            self._finishing = asyncio.create_task(self._finish(reason))
        return self._finishing

    async def _finish(self, reason: str) -> None:
        if self._pipe.is_ready() and not self._idle.is_set():
            with contextlib.suppress(Exception):
                async with asyncio.timeout(LAST_CALL_SECONDS):
                    await self._client.interrupt()
        try:
            await self._client.disconnect()
        finally:
            for task in self._tasks:
                task.cancel()
            while not self._prompts.empty():
                self._fail(self._prompts.get_nowait(), "the session ended before it could be sent")
            self._table.pop(self.session_id, None)
            self._tell_all(self._notes.rest(self.session_id, time.time()))
            self._ear.tell(self._down(reason))

    def _down(self, reason: str) -> Down:
        code = self._pipe.code
        signalled = code is not None and code < 0
        return Down(
            session_id=self.session_id,
            at=time.time(),
            code=None if signalled else code,
            signal=-code if code is not None and signalled else None,
            reason=reason,
            last_words=self._pipe.last_words,
        )


async def _one(message: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    yield message
