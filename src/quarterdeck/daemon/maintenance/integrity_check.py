"""Checks the whole file and the whole hash chain after an unclean stop, while the daemon already works."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

from quarterdeck.store.hash_chain import Damage, verify
from quarterdeck.store.sqlite import read_only

# After each stride: without a pause the thread would hold the interpreter, and the loop would stand still.
PAUSE_SECONDS = 0.002


class IntegrityCheck:
    """Runs once, in a thread of its own, which calls `report` with the outcome."""

    def __init__(self, log: Path, report: Callable[[Damage | None], None]) -> None:
        self._report = report
        self._db = read_only(log)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="integrity-check", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the check; nothing is reported then."""
        self._stopping.set()
        self._db.interrupt()
        self._thread.join()
        self._db.close()

    def _run(self) -> None:
        try:
            damage = find_damage(self._db, self._pause)
        except InterruptedError:
            return
        except sqlite3.DatabaseError as error:
            damage = Damage(0, str(error))
        if not self._stopping.is_set():
            self._report(damage)

    def _pause(self, seq_no: int) -> None:
        """Leave the processor and the disk to agents and people."""
        if self._stopping.is_set():
            raise InterruptedError
        time.sleep(PAUSE_SECONDS)


def find_damage(db: sqlite3.Connection, progress: Callable[[int], None] = lambda seq_no: None) -> Damage | None:
    """The first damage in a log: a row that breaks the chain, or a broken file."""
    damage = verify(db, progress=progress)
    if damage is not None:
        return damage
    result = bytes(db.execute("PRAGMA quick_check(1)").fetchone()[0]).decode(errors="replace")
    return None if result == "ok" else Damage(0, result.splitlines()[0])
