"""A thread that watches folders through the kernel, and polls where the kernel cannot watch them all."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog
from msgspec import Struct
from watchfiles import Change, watch

from quarterdeck.projects.watch_plan import NO_CHANGES, FolderChanges, WatchPlan, affected

SLOW_SECONDS = 60.0
DEBOUNCE, STEP, TIMEOUT = 1_000, 250, 1_000
"""In milliseconds: how long changes are gathered, how often to check if they continue, and how long to wait without a
change before checking if the thread must stop."""

MAX_FOLDERS = 50_000
INOTIFY = Path("/proc/sys/fs/inotify/max_user_watches")
RAISE = "raise fs.inotify.max_user_watches with sysctl, or name narrower projects.roots"

Changes = Iterator[set[tuple[Change, str]]]

logger = structlog.get_logger("projects")
logging.getLogger("watchfiles").setLevel(logging.WARNING)


def watch_limit() -> int:
    """The number of folders to watch at most: half of the user's limit in the kernel, because editors need the rest."""
    try:
        return min(MAX_FOLDERS, int(INOTIFY.read_text()) // 2)
    except (OSError, ValueError):
        return MAX_FOLDERS


class WatchMode(Struct, frozen=True):
    """How changes are noticed (off, live, partly or slow), with a note on how to improve it."""

    watch: str = "off"
    note: str = ""


class Watcher:
    """Watches the folders of the last plan and reports changes, from a thread of its own. A folder is watched without
    its subfolders."""

    def __init__(
        self, most: int | None = None, slow_seconds: float = SLOW_SECONDS, wait: Callable[..., Changes] = watch
    ) -> None:
        self.most = watch_limit() if most is None else most
        self.mode = WatchMode()
        self._wait = wait
        self._slow_seconds = slow_seconds
        self._on_change: Callable[[FolderChanges], None] = lambda changes: None
        self._plan = self._armed = WatchPlan()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, plan: WatchPlan, on_change: Callable[[FolderChanges], None]) -> None:
        """Watch this plan from now on. The first plan starts the thread."""
        if plan != self._plan:
            self._plan = plan
        if self._thread is None and not self._stop.is_set():
            self._on_change = on_change
            self._thread = threading.Thread(target=self._run, name="watch-projects", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def is_set(self) -> bool:
        """True if the wait for changes must stop: the thread ends, or the plan has changed. `watch` calls this, since
        the watcher is its stop event."""
        return self._stop.is_set() or self._plan is not self._armed

    def _run(self) -> None:
        while not self._stop.is_set():
            self._armed = self._plan
            try:
                self._watch(self._armed)
            except FileNotFoundError:
                self._report_after(1.0)
            except (OSError, RuntimeError) as error:
                if self.mode.watch != "slow":
                    logger.warning("projects are not watched", error=str(error))
                self.mode = WatchMode("slow", f"{self._interval()}: the kernel watches no more folders; {RAISE}")
                self._report_after(self._slow_seconds)

    def _watch(self, plan: WatchPlan) -> None:
        reported_at = 0.0
        for changes in self._wait(
            *plan.folders,
            watch_filter=None,
            debounce=DEBOUNCE,
            step=STEP,
            rust_timeout=TIMEOUT,
            yield_on_timeout=True,
            stop_event=self,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        ):
            work = affected(plan, ((change.raw_str(), path) for change, path in changes))
            if not reported_at or (plan.left_out and time.monotonic() - reported_at > self._slow_seconds):
                self.mode = self._mode_of(plan)
                reported_at, work = time.monotonic(), FolderChanges(names=True)
            if work != NO_CHANGES:
                self._on_change(work)

    def _mode_of(self, plan: WatchPlan) -> WatchMode:
        if not plan.left_out:
            return WatchMode("live")
        every = len(plan.folders) + plan.left_out
        return WatchMode(
            "partly", f"{self._interval()}: only {len(plan.folders):,} of {every:,} folders are watched; {RAISE}"
        )

    def _interval(self) -> str:
        return f"projects are checked every {self._slow_seconds:.0f} s"

    def _report_after(self, seconds: float) -> None:
        """Have all projects read again after a time without a watch."""
        if not self._stop.wait(seconds):
            self._on_change(FolderChanges(names=True))
