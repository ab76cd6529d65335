"""After an unclean stop the whole file and the whole chain are looked over, while the daemon already works."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

from quarterdeck.store.hash_chain import Damage, verify

PAUSE_SECONDS = 0.002


class Checkup:
    """Runs once on a thread of its own; `found` hears there what it came to."""

    def __init__(self, log: Path, found: Callable[[Damage | None], None]) -> None:
        self._found = found
        self._db = sqlite3.connect(f"{log.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkup", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Leave off; nothing is said then."""
        self._stopping.set()
        self._db.interrupt()
        self._thread.join()
        self._db.close()

    def _run(self) -> None:
        try:
            damage = examine(self._db, self._rest)
        except InterruptedError:
            return
        except sqlite3.DatabaseError as error:
            damage = Damage(0, str(error))
        if not self._stopping.is_set():
            self._found(damage)

    def _rest(self, seq_no: int) -> None:
        """Agents and people come first."""
        if self._stopping.is_set():
            raise InterruptedError
        time.sleep(PAUSE_SECONDS)


def examine(db: sqlite3.Connection, progress: Callable[[int], None] = lambda seq_no: None) -> Damage | None:
    """Everything that can be seen to be wrong with a log: a row out of its chain, or a broken file."""
    damage = verify(db, progress=progress)
    if damage is not None:
        return damage
    said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    return None if said == "ok" else Damage(0, said.splitlines()[0])
