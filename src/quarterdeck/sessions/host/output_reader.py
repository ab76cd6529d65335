"""Reads a terminal's output into its replay buffer, and decides when clients get it. Standard library only."""

from __future__ import annotations

import os
import select
import time

from quarterdeck.sessions.host.replay_buffer import ReplayBuffer

FLUSH_SECONDS = 0.008
"""Output is gathered this long before it is sent: a program often draws its screen in many small writes."""

FLUSH_BYTES = READ_BYTES = 64 * 1024
FULL_READ = 4000
"""A read returns 4 KiB at most; one this long probably has more behind it."""


class OutputReader:
    """Reads from the terminal's descriptor. `read_at` is the time of the last output."""

    def __init__(self, master: int, replay: ReplayBuffer) -> None:
        self._master, self._replay = master, replay
        self._poll = select.poll()
        self._poll.register(master, select.POLLIN)
        self.read_at = self._flushed_at = 0.0
        self._flushed_to = 0

    def read(self) -> None:
        """Read all output. While there is much, continue until it is time to send it: a read returns 4 KiB at most."""
        replay, began = self._replay, self._replay.end
        until = self._flushed_at + FLUSH_SECONDS
        try:
            while replay.end - self._flushed_to < FLUSH_BYTES:
                if not (count := os.readv(self._master, [replay.room(READ_BYTES)])):
                    break
                replay.advance(count)
                if count < FULL_READ:
                    left = until - time.monotonic()
                    if left <= 0 or not self._poll.poll(left * 1000):
                        break
        except OSError:
            pass
        if replay.end > began:
            self.read_at = time.monotonic()

    def drain(self) -> None:
        """Read everything that is left after the program's end."""
        before = -1
        while self._replay.end > before:
            before = self._flushed_to = self._replay.end
            self.read()

    def flush(self, now: float) -> bool:
        """True if it is time to send the new output to the clients, which then counts as flushed."""
        pending = self._replay.end - self._flushed_to
        if not pending or (now - self._flushed_at < FLUSH_SECONDS and pending < FLUSH_BYTES):
            return False
        self._flushed_at, self._flushed_to = now, self._replay.end
        return True

    def flush_due_at(self) -> float | None:
        """The time of the next flush; None if there is no new output."""
        return self._flushed_at + FLUSH_SECONDS if self._replay.end > self._flushed_to else None
