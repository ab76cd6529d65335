"""A viewer of a tmux session: a tmux client on a pseudo-terminal."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import tty
from collections.abc import Callable, Sequence

from quarterdeck.errors import Refused

CHUNK = 64 * 1024
TERM = "xterm-256color"
MAX_SIZE = 1000
LEAVE_SECONDS = 2.0


class TmuxViewer:
    """Gets from tmux the bytes that draw the screen, then those that change it."""

    def __init__(self, terminal: int, client: subprocess.Popen[bytes], on_output: Callable[[bytes], None]) -> None:
        self._terminal, self._client, self._on_output = terminal, client, on_output
        self.is_open = True
        self._is_over = False
        self._writing = asyncio.Lock()  # a long paste is written in pieces, and keys must not come between them
        asyncio.get_running_loop().add_reader(terminal, self._read)

    def _read(self) -> None:
        try:
            part = os.read(self._terminal, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        if part:
            self._on_output(part)
        else:
            self._is_over = True
            asyncio.get_running_loop().remove_reader(self._terminal)

    async def write(self, data: bytes) -> None:
        """Type these keys."""
        async with self._writing:
            rest = memoryview(data)
            while rest and self.is_open:
                try:
                    rest = rest[os.write(self._terminal, rest) :]
                except BlockingIOError:
                    await self._writable()
                except OSError:
                    return

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_writer(self._terminal, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_writer(self._terminal)

    def pause(self) -> None:
        """Stop reading: tmux draws nothing for a client that does not read, and the whole screen once it does."""
        if self.is_open and not self._is_over:
            asyncio.get_running_loop().remove_reader(self._terminal)

    def resume(self) -> None:
        if self.is_open and not self._is_over:
            asyncio.get_running_loop().add_reader(self._terminal, self._read)

    async def resize(self, cols: int, rows: int) -> None:
        if self.is_open:
            _set_size(self._terminal, cols, rows)
            self._signal(signal.SIGWINCH)

    def _signal(self, number: signal.Signals) -> None:
        """Signal the client. It is a child, so its pid is not reused before it is reaped."""
        with contextlib.suppress(ProcessLookupError):
            self._client.send_signal(number)

    async def close(self) -> None:
        """Detach; the session continues."""
        if not self.is_open:
            return
        asyncio.get_running_loop().remove_reader(self._terminal)
        self.is_open = False
        self._signal(signal.SIGHUP)
        try:
            await asyncio.to_thread(self._wait)
        finally:
            async with self._writing:  # a writer must first see that the client has gone
                os.close(self._terminal)

    def _wait(self) -> None:
        try:
            self._client.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._client.kill()
            self._client.wait()


async def attach(argv: Sequence[str], cols: int, rows: int, on_output: Callable[[bytes], None]) -> TmuxViewer:
    """Run the attach command on a pseudo-terminal of this size."""
    master, slave = pty.openpty()
    try:
        _set_size(master, cols, rows)
        tty.setraw(slave)  # keys typed before the client has started are then neither echoed nor held back
        os.set_blocking(master, False)
        client = await asyncio.to_thread(_start, argv, slave)
    except OSError as error:
        os.close(master)
        raise Refused(f"tmux could not be started: {error.strerror}") from None
    finally:
        os.close(slave)
    return TmuxViewer(master, client, on_output)


def _start(argv: Sequence[str], terminal: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 a list of words that no shell reads
        argv, stdin=terminal, stdout=terminal, stderr=terminal, env={"TERM": TERM}, cwd="/", start_new_session=True
    )


def _set_size(terminal: int, cols: int, rows: int) -> None:
    rows, cols = (min(max(size, 2), MAX_SIZE) for size in (rows, cols))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
