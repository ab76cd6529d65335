"""The transport beneath the SDK's client: a connection to the host that keeps the agent."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from quarterdeck.core.model.state import ProcessId
from quarterdeck.drivers.claude.sdk_host.sdk_frames import (
    ACKNOWLEDGED,
    ATTACH,
    CLEAR,
    END,
    FROM_HOST,
    MAX_BODY,
    PROMPT,
    SENT,
    STATE,
    TAKEN,
    UNNUMBERED,
    WRITE,
    read_numbered,
)
from quarterdeck.errors import BadInput, Refused
from quarterdeck.sessions.host.frames import Frames, frame, json_frame, read_json_body
from quarterdeck.sessions.pty.host_connection import HostConnection
from quarterdeck.sessions.pty.host_registry import HostRecord, connect, kill_host
from quarterdeck.sessions.pty.start import wait_for_host
from quarterdeck.wire import HEAVY, read_json

ANSWER, ENVELOPE = '"control_response"', 40
END_SECONDS = 12.0
"""How long a host may take to end its agent with everything that the agent started, however stubborn."""

REAP_SECONDS = 5.0
TAKEN_SECONDS = 0.05
"""Lines count as on record this long after they were reported. A daemon that is killed before gets them again."""

MAX_UNREAD = 4 * 1024 * 1024


class SdkTransport:
    """One agent, kept by a host. Messages of the SDK's own protocol go to its client; all others go, raw, to
    `on_message`, because the client drops messages that it does not know and stops at those it cannot read. `on_sent`
    gets the id of each prompt that the agent has now.

    `open_host` starts the host, or names one that runs already."""

    def __init__(
        self,
        open_host: Callable[[], HostRecord],
        folder: Path,
        on_message: Callable[[Any], None],
        on_sent: Callable[[str], None],
    ) -> None:
        self._open_host, self._folder = open_host, folder
        self._on_message, self._on_sent = on_message, on_sent
        self._link: HostConnection | None = None
        self._record: HostRecord | None = None
        self._unread: asyncio.Queue[tuple[bytes, int, bytes] | None] = asyncio.Queue()
        self._unread_bytes = self._position = 0
        self._ended: dict[str, Any] | None = None
        self._known, self._gone, self._output_ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._taking: asyncio.TimerHandle | None = None
        self._is_detached = False
        self.is_busy = False
        self.queued: tuple[str, ...] = ()
        self.query_ids: dict[str, str] = {}

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs, or if it was lost with its host."""
        ended = self._ended or {}
        return -ended["signal"] if ended.get("signal") else ended.get("code")

    @property
    def last_words(self) -> str:
        """The end of its stderr."""
        return str((self._ended or {}).get("last_words", ""))

    @property
    def agent(self) -> ProcessId | None:
        """The agent itself, below its host and its supervisor."""
        return self._record.child if self._record else None

    async def connect(self) -> None:
        """Start or find the host, and take everything that no daemon has taken."""
        self._record = await asyncio.to_thread(self._open_host)
        connection = await connect(self._folder, self._record)
        frames = Frames(FROM_HOST, MAX_BODY)
        self._link = await HostConnection.connect(connection, self._receive, self._lost, frames)
        await self._known.wait()
        await self._link.send(frame(ATTACH))

    def _receive(self, letter: bytes, body: bytes) -> None:
        if letter == STATE:
            self._update(read_json_body(body))
            return
        position, content = read_numbered(body)
        self._unread.put_nowait((letter, position, content))
        self._unread_bytes += len(content)
        if self._unread_bytes > MAX_UNREAD and self._link is not None:
            self._link.set_paused(True)

    def _update(self, state: dict[str, Any]) -> None:
        ended = state.get("ended")
        if not self._known.is_set():
            self.is_busy = bool(state.get("busy"))
            self.queued = tuple(map(str, state.get("queued", ())))
        self._known.set()
        if isinstance(ended, dict):
            self._ended = ended
            self._end_output()

    def _lost(self) -> None:
        """The connection has ended: the daemon let go, or the host is gone."""
        self._known.set()
        self._end_output()

    def _end_output(self) -> None:
        if not self._gone.is_set():
            self._gone.set()
            self._unread.put_nowait(None)

    def is_ready(self) -> bool:
        return self._link is not None and not self._gone.is_set()

    async def write(self, data: str) -> None:
        """Write to the agent. An answer for an agent that has ended is dropped; anything else is an error."""
        if not self.is_ready() and ANSWER in data[:ENVELOPE]:
            return
        await self._send(frame(WRITE, data.rstrip("\n").encode()))

    async def prompt(self, message_id: str, message: dict[str, Any]) -> None:
        """Queue a prompt at the host; it is sent once the turn before it has ended."""
        await self._send(json_frame(PROMPT, {"id": message_id, "line": json.dumps(message)}))

    async def clear_prompts(self) -> None:
        """Forget the prompts that were not sent."""
        await self._send(frame(CLEAR))

    async def _send(self, data: bytes) -> None:
        if self._link is None or self._gone.is_set():
            raise ConnectionError("the agent has closed its input")
        try:
            await self._link.send(data)
        except Refused:
            raise ConnectionError("the agent has closed its input") from None

    async def end_input(self) -> None:
        """Do nothing: the host closes the agent's input when it ends it."""

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """The messages for the client. The end is an error, so that the client stops to wait for answers."""
        try:
            while (entry := await self._unread.get()) is not None:
                letter, position, content = entry
                self._count_read(len(content))
                if letter == SENT:
                    self.is_busy = True
                    self._on_sent(content.decode(errors="replace"))
                else:
                    is_heavy = len(content) > HEAVY
                    message = await asyncio.to_thread(read_line, content) if is_heavy else read_line(content)
                    if isinstance(message, dict) and str(message.get("type")).startswith("control_"):
                        self._note_query(message)
                        yield message
                    else:
                        self._report(message)
                self._take(position)
        finally:
            self._output_ended.set()
        raise ConnectionError("the agent has ended")

    def _count_read(self, size: int) -> None:
        self._unread_bytes -= size
        if self._link is not None and self._unread_bytes <= MAX_UNREAD < self._unread_bytes + size:
            self._link.set_paused(False)

    def _note_query(self, message: dict[str, Any]) -> None:
        """Remember the id of a permission request by its tool call: the client hands on only the latter."""
        request = message.get("request")
        if message["type"] == "control_request" and isinstance(request, dict) and "tool_use_id" in request:
            self.query_ids[str(request["tool_use_id"])] = str(message.get("request_id"))

    def _report(self, message: Any) -> None:
        if isinstance(message, dict) and message.get("type") == "result":
            self.is_busy = False
            self.query_ids.clear()
        self._on_message(message)

    def _take(self, position: int) -> None:
        """Tell the host a moment later that lines up to this one are on record."""
        if position == UNNUMBERED:
            return
        self._position = position
        if self._taking is None:
            self._taking = asyncio.get_running_loop().call_later(TAKEN_SECONDS, self._tell_taken)

    def _tell_taken(self) -> None:
        self._taking = None
        if self._link is not None:
            self._link.send_soon(json_frame(TAKEN, {"position": self._position}))

    async def wait_for_end(self) -> None:
        """Wait until the agent has ended and all its output is read."""
        await self._output_ended.wait()

    def detach(self) -> None:
        """Let go of the agent: it goes on in its host, for the next daemon."""
        self._is_detached = True

    async def close(self) -> None:
        """End it with everything it started, and its host; or only disconnect, once it is detached."""
        if self._taking is not None:
            self._taking.cancel()
            self._tell_taken()
        if self._link is None or self._record is None:
            return
        if not self._is_detached:
            with contextlib.suppress(ConnectionError):
                await self._send(frame(END))
            try:
                async with asyncio.timeout(END_SECONDS):
                    await self._gone.wait()
            except TimeoutError:
                kill_host(self._record)
            self._link.send_soon(frame(ACKNOWLEDGED))
            await asyncio.to_thread(wait_for_host, self._record.host, REAP_SECONDS)
        self._link.close()


def read_line(line: bytes) -> Any:
    """Read a line within all limits. A request that breaks one is passed to the client, which refuses it: the agent
    waits for an answer."""
    try:
        return read_json(line)
    except BadInput as error:
        kind = error.kind
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return unreadable(kind)
    if found.get("type") == "control_request":
        return {**found, "request": {"subtype": f"{kind}: Quarterdeck cannot show this, so it was denied"}}
    return unreadable(kind)


def unreadable(kind: str) -> dict[str, str]:
    """The message that replaces a line that breaks a limit."""
    return {"type": "unreadable", "why": kind}
