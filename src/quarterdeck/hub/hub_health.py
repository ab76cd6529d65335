"""How the hub is: its status, its settings, and its numbers in the shape of a daemon's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from quarterdeck import __version__
from quarterdeck.config.effective import EffectiveSetting
from quarterdeck.daemon.backend.stats import boot_clock, free_bytes, process_stats
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.telemetry.counters import Stats
from quarterdeck.hub.runners.machine_registry import MachineRegistry
from quarterdeck.hub.shown_views import HubSource, ShownViews
from quarterdeck.hub.store.commit_queue import CommitQueue
from quarterdeck.views.health import DaemonFacts


class HubHealth:
    """The health of one hub."""

    def __init__(
        self,
        hub_id: str,
        database: Path,
        commits: CommitQueue,
        source: HubSource,
        shown: ShownViews,
        registry: MachineRegistry,
        attendance: Attendance,
        settings: Sequence[EffectiveSetting],
    ) -> None:
        self.settings = list(settings)
        self.counters = Stats()
        self._hub_id = hub_id
        self._database = database
        self._commits = commits
        self._source = source
        self._shown = shown
        self._registry = registry
        self._attendance = attendance
        self._started_at = time.time()
        self._started = boot_clock()

    def facts(self) -> DaemonFacts:
        """What the hub knows about itself."""
        return DaemonFacts(status=self.status, stats=self.stats())

    @property
    def trouble(self) -> str | None:
        return self._commits.trouble

    @property
    def status(self) -> str:
        return "not_recording" if self.trouble else "ok"

    def stats(self) -> dict[str, Any]:
        """The numbers of `GET /stats`. A hub holds no agent, so what is about hooks is zero."""
        now, counters = time.time(), self.counters
        uptime = boot_clock() - self._started
        wal = self._database.with_name(self._database.name + "-wal")
        return {
            "version": __version__,
            "runner_id": self._hub_id,
            "at": now,
            "started_at": self._started_at,
            "uptime_seconds": uptime,
            "clock_step_seconds": now - self._started_at - uptime,
            "events": {"recorded": self._source.place, "by_kind": {}},
            "inputs": {
                "refused": dict(counters.refused),
                "not_recorded": 0,
                "queued": self._commits.queued,
                "queued_peak": counters.queue.value(perf_counter()),
                "batch_size": counters.batch_size.snapshot(),
            },
            "append_seconds": counters.append_seconds.snapshot(),
            "hook_seconds": counters.hook_seconds.snapshot(),
            "hook_overhead": [],
            "loop_lag_seconds": counters.lag.snapshot(perf_counter()),
            "requests": {"pending": len(self._shown.requests), "held": 0, "oldest_held_seconds": None},
            "sessions": len(self._shown.sessions),
            "surfaces": self._attendance.surfaces,
            "visible_surfaces": self._attendance.visible,
            "subscriber_failures": 0,
            "notify": {},
            "hub": None,
            "store": {
                "seq_no": self._source.place,
                "unindexed": 0,
                "database_bytes": _size(self._database),
                "wal_bytes": _size(wal),
                "free_bytes": free_bytes(self._database.parent),
                "damaged": None,
                "trouble": self.trouble,
            },
            "process": process_stats(),
        }


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
