"""One session over the SDK: its prompts in order, its messages, and its single end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable
from typing import Any, Protocol

from quarterdeck.agents.claude.sdk_messages import StreamItem, read_message, start_error, write_prompt
from quarterdeck.core.engine.session_messages import (
    AgentExited,
    AgentNote,
    CommandFailed,
    PromptDelivered,
    SendPrompt,
    TurnEnded,
)
from quarterdeck.drivers.claude.sdk_note_limit import NoteLimit
from quarterdeck.drivers.claude.sdk_transport import SdkTransport
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import RunningAgent, SessionListener

# A script that sends faster than its agent works must notice.
MAX_QUEUED = 64
# Only the last messages can explain why an agent did not start.
MAX_EARLY = 256
CALL_SECONDS = 10.0
# The session ends in any case; the interrupt only makes the end of the turn a clean one.
LAST_CALL_SECONDS = 0.5
LOST = "the session's host process was lost"


class SdkClient(Protocol):
    """The part of the SDK's client that a session uses."""

    async def interrupt(self) -> None: ...

    async def set_model(self, model: str | None = ...) -> None: ...

    async def set_permission_mode(self, mode: Any) -> None: ...

    async def disconnect(self) -> None: ...


class SdkSession:
    """One agent; while it runs it is in `sessions` under its id. Its host keeps each prompt until the turn before has
    ended. `early` limits the messages that are kept before `run`."""

    def __init__(
        self, session_id: str, listener: SessionListener, sessions: dict[str, SdkSession], early: int | None = MAX_EARLY
    ) -> None:
        self.session_id, self._listener, self._sessions = session_id, listener, sessions
        self._queued: dict[str, None] = {}
        self._notes = NoteLimit()
        self._init: dict[str, Any] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._sent_early: list[str] = []
        self._early_messages: deque[Any] = deque(maxlen=early)

    def run(self, pipe: SdkTransport, client: SdkClient) -> RunningAgent:
        """Begin to report the agent's messages and its end."""
        self._pipe, self._client = pipe, client
        self._sessions[self.session_id] = self
        self._queued.update(dict.fromkeys(pipe.queued))
        self._watching = asyncio.create_task(self._watch())
        for message_id in self._sent_early:
            self.sent(message_id)
        for raw in self._early_messages:
            self.receive(raw)
        self._early_messages.clear()
        queued = tuple(message_id or None for message_id in self._queued)
        return RunningAgent(session_id=self.session_id, process=pipe.agent, queued=queued)

    @property
    def start_error(self) -> str:
        """The agent's own reason why it did not start, if it gave one."""
        return next((found for raw in reversed(self._early_messages) if (found := start_error(raw))), "")

    def receive(self, raw: Any) -> None:
        """Report a message of the agent. Before `run` messages are kept: an agent that does not start reports none."""
        if self._watching is None:
            self._early_messages.append(raw)
            return
        message = read_message(raw, self.session_id, time.time())
        match message:
            case StreamItem(kind=kind, data=data):
                self._listener.stream(self.session_id, kind, data)
            case AgentNote(name="init", body=body) if body == self._init:
                pass  # the agent repeats it at every turn
            case AgentNote(name=name, body=body):
                self._init = body if name == "init" else self._init
                self._report_notes(self._notes.admit(message))
            case TurnEnded():
                self._listener.report(message)

    def _report_notes(self, notes: list[AgentNote]) -> None:
        for note in notes:
            self._listener.report(note)

    async def send(self, send: SendPrompt) -> None:
        """Queue a prompt at the host, or refuse it."""
        if self._ending is not None:
            raise Refused(f"{self.session_id} is ending; resume it and send the prompt again")
        if len(self._queued) >= MAX_QUEUED:
            raise Refused(f"{MAX_QUEUED} prompts are waiting already; wait until the agent has worked on some")
        self._queued[send.message_id] = None
        try:
            await self._pipe.prompt(send.message_id, write_prompt(send.prompt, send.attachments))
        except ConnectionError as error:
            self._queued.pop(send.message_id, None)
            raise Refused(f"the agent did not accept it: {error}") from None

    def sent(self, message_id: str) -> None:
        """Report that the agent has a prompt."""
        if self._watching is None:
            self._sent_early.append(message_id)
            return
        self._queued.pop(message_id, None)
        self._listener.report(
            PromptDelivered(session_id=self.session_id, at=time.time(), message_id=message_id or None)
        )

    def _fail(self, message_id: str, error: str) -> None:
        self._listener.report(
            CommandFailed(
                session_id=self.session_id, command="send", error=error, at=time.time(), message_id=message_id or None
            )
        )

    async def interrupt(self) -> None:
        """Stop the turn; the next prompt in the queue follows."""
        await self._call("interrupt", self._client.interrupt())

    async def reconfigure(self, model: str | None, permission_mode: str | None) -> None:
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
        await self._pipe.wait_for_end()
        self._begin_end("exited")

    async def end(self, reason: str) -> None:
        """End it and report the end once, with the reason that came first."""
        await asyncio.shield(self._begin_end(reason))

    def _begin_end(self, reason: str) -> asyncio.Task[None]:
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(reason))
        return self._ending

    async def _end(self, reason: str) -> None:
        with contextlib.suppress(ConnectionError):
            await self._pipe.clear_prompts()  # the interrupt ends the turn, and the next prompt would be sent
        if self._pipe.is_ready() and self._pipe.is_busy:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(LAST_CALL_SECONDS):
                    await self._client.interrupt()
        try:
            await self._client.disconnect()
        finally:
            self._stop_watching()
            for message_id in self._queued:
                self._fail(message_id, "the session ended before it could be sent")
            self._report_notes(self._notes.take_dropped(self.session_id, time.time()))
            self._listener.report(self._exit_report(reason))

    async def detach(self) -> None:
        """Let go of the agent: it goes on in its host, and nothing is reported."""
        self._stop_watching()
        self._pipe.detach()
        await self._client.disconnect()

    def _stop_watching(self) -> None:
        self._sessions.pop(self.session_id, None)
        if self._watching is not None:
            self._watching.cancel()

    def _exit_report(self, reason: str) -> AgentExited:
        code = self._pipe.code
        signalled = code is not None and code < 0
        return AgentExited(
            session_id=self.session_id,
            at=time.time(),
            code=None if signalled else code,
            signal=-code if code is not None and signalled else None,
            reason=LOST if code is None else reason,
            last_words=self._pipe.last_words,
        )
