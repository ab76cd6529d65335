"""Running a program to its end: without a shell, with limited time and output, and with no input but the caller's."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from msgspec import Struct

CHUNK = 64 * 1024

_lock = threading.Lock()  # programs run in many threads, and `end_all` must see every one
_running: set[subprocess.Popen[bytes]] = set()


class ProgramResult(Struct, frozen=True, kw_only=True):
    """A program's output and exit code. `cut` is "time" or "output" if it was ended because of a limit."""

    out: bytes
    err: bytes
    code: int
    cut: str = ""


def run(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    seconds: float,
    limit: int = 4 * 1024 * 1024,
    stdin: IO[bytes] | None = None,
) -> ProgramResult:
    """Run a program in a session of its own. If it takes too long or prints too much, it is ended with everything that
    it started.

    OSError if it cannot be started."""
    deadline = time.monotonic() + seconds
    with _lock:  # started and registered in one step, so that `end_all` misses no program
        started = subprocess.Popen(  # noqa: S603 a list of words that no shell reads
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _running.add(started)
    with started:
        cut = "time"
        outputs: list[bytearray] = [bytearray(), bytearray()]
        try:
            with _registered(started):
                cut = _read_output(started, outputs, deadline, limit)
            cut = cut or _wait(started, deadline)
        finally:
            if cut:
                _end_group(started)
        code = started.wait()
    return ProgramResult(out=bytes(outputs[0]), err=bytes(outputs[1]), code=code, cut=cut)


def end_all() -> None:
    """End every program whose output is still read; its caller stops waiting."""
    with _lock:
        for started in _running:
            _end_group(started)


@contextlib.contextmanager
def _registered(started: subprocess.Popen[bytes]) -> Iterator[None]:
    """Keep a program registered. It is not reaped meanwhile, so its pid cannot belong to another process."""
    try:
        yield
    finally:
        with _lock:
            _running.discard(started)


def _read_output(started: subprocess.Popen[bytes], outputs: list[bytearray], deadline: float, limit: int) -> str:
    """Read both outputs to their ends; returns the limit that was reached, if any."""
    with selectors.DefaultSelector() as waiting:
        for pipe, output in zip((started.stdout, started.stderr), outputs, strict=True):
            if pipe is not None:
                waiting.register(pipe, selectors.EVENT_READ, output)
        while waiting.get_map():
            left = deadline - time.monotonic()
            ready = waiting.select(left) if left > 0 else []
            if not ready:
                return "time"
            for key, _ in ready:
                part = os.read(key.fd, CHUNK)
                key.data.extend(part)
                if not part:
                    waiting.unregister(key.fileobj)
            if sum(map(len, outputs)) > limit:
                return "output"
    return ""


def _wait(started: subprocess.Popen[bytes], deadline: float) -> str:
    try:
        started.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "time"
    return ""


def _end_group(started: subprocess.Popen[bytes]) -> None:
    """Kill its process group. It was not reaped yet, so its pid is still its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
