"""Work on the log that can wait for a pause: the index by session, and snapshots of the state."""

from __future__ import annotations

import asyncio

import structlog

from quarterdeck.core.model.state import State
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.offload import Offload
from quarterdeck.errors import StoreError
from quarterdeck.store.log import Log

# So many events fold in a fraction of a second; a snapshot more often would write the whole state for little.
SNAPSHOT_EVERY = 5_000
# A pause this long means that no agent is in the middle of a burst of hook calls.
IDLE_SECONDS = 0.05
INDEX_AT_LEAST = 20_000
"""This many events without an index are indexed at once: a reader of one session has to walk them."""

logger = structlog.get_logger("loop")


class Housekeeper:
    """Indexes and snapshots one log, on the event loop or, for a heavy state, in the worker thread."""

    def __init__(self, log: Log, disk: DiskReserve, offload: Offload, seq_no: int) -> None:
        self._log = log
        self._disk = disk
        self._offload = offload
        self._snapshot_at = seq_no
        self._indexing: asyncio.TimerHandle | None = None
        self._stopped = False

    def after_batch(self, state: State) -> None:
        """Schedule the index, and take a snapshot when one is due."""
        self._index_when_idle()
        self._offload.forget_light(state)
        if state.seq_no - self._snapshot_at < SNAPSHOT_EVERY:
            return
        if self._offload.is_heavy:  # its snapshot takes as long as the input that made it heavy
            self._offload.run(lambda: self.save_snapshot(state), lambda saved: saved())
        else:
            self.save_snapshot(state)

    def save_snapshot(self, state: State) -> None:
        """Keep the state so that the next start is quick. A failure, or a disk without room for it, costs only time
        then."""
        if self._disk.nearly_full:
            return
        self._snapshot_at = state.seq_no
        try:
            self._log.save_snapshot(state, is_heavy=self._offload.is_heavy)
        except StoreError as error:
            logger.warning("no snapshot was saved", error=str(error))

    def stop(self) -> None:
        """Index no more."""
        self._stopped = True
        if self._indexing is not None:
            self._indexing.cancel()

    def _index_when_idle(self) -> None:
        """Index in the next pause, or now when readers would have too much to walk."""
        if self._disk.nearly_full or self._offload.is_busy:
            return
        if self._log.unindexed >= INDEX_AT_LEAST:
            self._log.index_sessions()
        if self._indexing is None and self._log.unindexed and not self._stopped:
            self._indexing = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._index, self._log.seq_no)

    def _index(self, seen: int) -> None:
        self._indexing = None
        if self._log.seq_no == seen and not self._offload.is_busy:
            self._log.index_sessions()
        self._index_when_idle()
