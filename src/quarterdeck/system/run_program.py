"""One program run to its end: no shell, no input but a given one, and bounded in time and output."""

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

_lock = threading.Lock()
_running: set[subprocess.Popen[bytes]] = set()


class Ended(Struct, frozen=True, kw_only=True):
    """What a program printed, and how it ended: its exit code, or `cut` by time or by output."""

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
) -> Ended:
    """Run a program in a session of its own. One that takes too long, or says too much, is ended with all it started.

    OSError when it cannot be started."""
    deadline = time.monotonic() + seconds
    with subprocess.Popen(  # noqa: S603 a list of words that no shell reads
        argv,
        cwd=cwd,
        env=dict(env),
        stdin=stdin or subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as started:
        cut = "time"
        said: list[bytearray] = [bytearray(), bytearray()]
        try:
            with _among_running(started):
                cut = _listen(started, said, deadline, limit)
            cut = cut or _finish(started, deadline)
        finally:
            if cut:
                _end_group(started)
        code = started.wait()
    return Ended(out=bytes(said[0]), err=bytes(said[1]), code=code, cut=cut)


def end_all() -> None:
    """End every program that is still listened to: whoever waits for it stops."""
    with _lock:
        for started in _running:
            _end_group(started)


@contextlib.contextmanager
def _among_running(started: subprocess.Popen[bytes]) -> Iterator[None]:
    """Inside nobody has waited for the program yet, so that its number cannot be another's."""
    with _lock:
        _running.add(started)
    try:
        yield
    finally:
        with _lock:
            _running.discard(started)


def _listen(started: subprocess.Popen[bytes], said: list[bytearray], deadline: float, limit: int) -> str:
    """Both outputs to their ends; why it was given up, if so."""
    with selectors.DefaultSelector() as waiting:
        for pipe, heard in zip((started.stdout, started.stderr), said, strict=True):
            if pipe is not None:
                waiting.register(pipe, selectors.EVENT_READ, heard)
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
            if sum(map(len, said)) > limit:
                return "output"
    return ""


def _finish(started: subprocess.Popen[bytes], deadline: float) -> str:
    try:
        started.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "time"
    return ""


def _end_group(started: subprocess.Popen[bytes]) -> None:
    """Nobody has waited for it yet, so its number is still its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
