"""A snapshot of the daemon as plain values: its counters, waiting requests, the store and the process."""

from __future__ import annotations

import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quarterdeck import __version__
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.store.log import Log


class StatsCollector:
    """Collects the numbers of `GET /stats`. Changes nothing."""

    def __init__(
        self, loop: Loop, log: Log, attendance: Attendance, channel_stats: Callable[[], dict[str, Any]] = dict
    ) -> None:
        self._loop = loop
        self._log = log
        self._attendance = attendance
        self._channel_stats = channel_stats
        self.hub_report: Callable[[], dict[str, Any] | None] = lambda: None
        self._started_at = time.time()
        self._started = boot_clock()

    def __call__(self) -> dict[str, Any]:
        stats, now = self._loop.stats, time.time()
        uptime = boot_clock() - self._started
        return {
            "version": __version__,
            "runner_id": self._loop.state.runner_id,
            "at": now,
            "started_at": self._started_at,
            "uptime_seconds": uptime,
            "clock_step_seconds": now - self._started_at - uptime,
            "events": {"recorded": sum(stats.events.values()), "by_kind": dict(stats.events)},
            "inputs": {
                "refused": dict(stats.refused),
                "not_recorded": stats.not_recorded,
                "queued": self._loop.queued,
                "queued_peak": stats.queue.value(time.perf_counter()),
                "batch_size": stats.batch_size.snapshot(),
            },
            "append_seconds": stats.append_seconds.snapshot(),
            "hook_seconds": stats.hook_seconds.snapshot(),
            "hook_overhead": stats.hook_overhead(),
            "loop_lag_seconds": stats.lag.snapshot(time.perf_counter()),
            "requests": self._requests(now),
            "sessions": len(self._loop.state.sessions),
            "surfaces": self._attendance.surfaces,
            "visible_surfaces": self._attendance.visible,
            "subscriber_failures": stats.subscriber_failures,
            "notify": self._channel_stats(),
            "hub": self.hub_report(),
            "store": self._store(),
            "process": process_stats(),
        }

    def _requests(self, now: float) -> dict[str, Any]:
        since = self._loop.held_since()
        return {
            "pending": sum(r.status == "pending" for r in self._loop.state.requests.values()),
            "held": self._loop.held,
            "oldest_held_seconds": max(0.0, now - since) if since is not None else None,
        }

    def _store(self) -> dict[str, Any]:
        size, wal = self._log.sizes()
        return {
            "seq_no": self._log.seq_no,
            "unindexed": self._log.unindexed,
            "database_bytes": size,
            "wal_bytes": wal,
            "free_bytes": free_bytes(self._log.path.parent),
            "damaged": self._loop.damaged,
            "trouble": self._loop.trouble,
        }


def boot_clock() -> float:
    """Seconds of a clock that nobody sets and that, where the system has one, runs while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def free_bytes(folder: Path) -> int | None:
    """The free space of a folder's disk; None when unknown."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def process_stats() -> dict[str, Any]:
    """The numbers of this process."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return {
        "pid": os.getpid(),
        "rss_bytes": _rss(),
        "open_fds": _open_files(),
        "max_fds": None if soft == resource.RLIM_INFINITY else soft,
    }


def _rss() -> int:
    """Memory in use, or its peak where the system tells only that."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _open_files() -> int | None:
    try:
        return len(os.listdir("/dev/fd"))  # noqa: PTH208
    except OSError:
        return None
