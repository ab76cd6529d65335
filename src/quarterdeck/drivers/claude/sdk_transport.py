"""An agent below a keeper, and the lines it says and reads: the transport beneath the SDK's client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import BadInput
from quarterdeck.system.process_watch import agent_below, process_id
from quarterdeck.wire import HEAVY, MAX_BYTES, read_json

KEEPER = str(Path(__file__).parents[2] / "sessions" / "host" / "supervisor.py")
LAST_WORDS = 4096
GOODBYE_SECONDS = 1.0
"""How long an agent may take to go by itself when nobody writes to it any more, and then when told to."""

KILLED_SECONDS = 5.0
ANSWER, ENVELOPE = '"control_response"', 40
DRAIN_SECONDS = 0.5


class Pipe:
    """One agent. What belongs to the SDK's own protocol goes to its client; everything else goes, raw, to `heard`: the
    client drops what it does not know, and stops at what it cannot read.

    The agent has this environment and nothing of ours."""

    def __init__(
        self, argv: Sequence[str], cwd: str, environment: Mapping[str, str], heard: Callable[[Any], None]
    ) -> None:
        kept = [sys.executable, "-I", "-S", KEEPER, f"--die-with-parent={os.getpid()}", "--"]
        self._argv, self._cwd, self._environment, self._heard = [*kept, *argv], cwd, dict(environment), heard
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._spoken = asyncio.Event()
        self._errors = bytearray()

    @property
    def code(self) -> int | None:
        """How it ended, negative by a signal; None while it runs."""
        code = self._process.returncode if self._process else None
        return 128 - code if code is not None and code > 128 else code

    @property
    def last_words(self) -> str:
        """The end of what it said on stderr."""
        return self._errors.decode(errors="replace").strip()

    async def connect(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._argv,
            cwd=self._cwd,
            env=self._environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MAX_BYTES,
            start_new_session=True,
        )
        self._listening = asyncio.create_task(self._listen())

    def is_ready(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def write(self, data: str) -> None:
        """An answer for an agent that has gone is nobody's; whatever else cannot be written is an error."""
        try:
            await self._write(data)
        except ConnectionError:
            if ANSWER not in data[:ENVELOPE]:
                raise

    async def _write(self, data: str) -> None:
        stdin = self._started.stdin
        if stdin is None or stdin.is_closing() or not self.is_ready():
            raise ConnectionError("the agent no longer reads")
        stdin.write(data.encode())
        await stdin.drain()

    async def end_input(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """What the client answers or waits for. The end is an error, so that it waits for nothing then."""
        try:
            async for message in self._messages():
                if isinstance(message, dict) and str(message.get("type")).startswith("control_"):
                    yield message
                else:
                    self._heard(message)
        finally:
            self._spoken.set()
        raise ConnectionError("the agent has ended")

    async def _messages(self) -> AsyncIterator[Any]:
        stdout = self._started.stdout
        while stdout is not None:
            try:
                line = await stdout.readline()
            except ValueError:
                yield unreadable("too_large")
                continue
            if not line:
                return
            if line.startswith(b"{"):  # a program it runs may print there as well
                yield await asyncio.to_thread(read_line, line) if len(line) > HEAVY else read_line(line)

    async def _listen(self) -> None:
        stderr = self._started.stderr
        while stderr is not None and (part := await stderr.read(LAST_WORDS)):
            self._errors = (self._errors + part)[-LAST_WORDS:]

    async def silence(self) -> None:
        """Until it says nothing any more: it has ended, though what it started may take longer."""
        silent = asyncio.create_task(self._spoken.wait())
        ended = asyncio.create_task(self._started.wait())
        try:
            await asyncio.wait([silent, ended], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait([silent], timeout=DRAIN_SECONDS)
        finally:
            silent.cancel()
            ended.cancel()

    async def close(self) -> None:
        """End it with all it started: it is asked to go, then told, then killed."""
        if self._process is None:
            return
        await self.end_input()
        if not await self._gone(GOODBYE_SECONDS):
            self._signal(self._process.terminate)
            if not await self._gone(GOODBYE_SECONDS):
                self._kill_agent()
                if not await self._gone(KILLED_SECONDS):
                    self._signal(self._process.kill)
        await self._process.wait()
        if self._listening is not None:
            await asyncio.wait([self._listening], timeout=DRAIN_SECONDS)
            self._listening.cancel()

    async def _gone(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._started.wait()
        return self._started.returncode is not None

    def _signal(self, send: Callable[[], None]) -> None:
        with contextlib.suppress(ProcessLookupError):
            send()

    def _kill_agent(self) -> None:
        """The keeper lives on, and ends the rest."""
        found = self.agent()
        if found is None:
            return
        with contextlib.suppress(OSError):
            held = os.pidfd_open(found.pid)
            try:
                if process_id(found.pid) == found:
                    signal.pidfd_send_signal(held, signal.SIGKILL)
            finally:
                os.close(held)

    def agent(self) -> ProcessId | None:
        """The agent itself, below its keepers, where the system tells."""
        return agent_below(self._started.pid, KEEPER)

    @property
    def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise ConnectionError("the agent is not started")
        return self._process


def read_line(line: bytes) -> Any:
    """What a line says, within all limits. A request that breaks one is left to the client to refuse, for the agent
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
    """What is noted in place of a line that breaks a limit."""
    return {"type": "unreadable", "why": kind}
