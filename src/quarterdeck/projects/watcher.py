"""A thread that waits for the kernel to tell of changes, and looks by the clock where the kernel cannot."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog
from msgspec import Struct
from watchfiles import Change, watch

from quarterdeck.projects.watch_plan import NOTHING, Noticed, Plan, noticed

SLOW_SECONDS = 60.0
DEBOUNCE, STEP, TIMEOUT = 1_000, 250, 1_000
"""In milliseconds: how long changes are gathered, how often it is looked whether they go on, and how long none may come
before somebody who wants the thread to stop is heard."""
MOST = 50_000
INOTIFY = Path("/proc/sys/fs/inotify/max_user_watches")
RAISE = "raise fs.inotify.max_user_watches with sysctl, or name narrower projects.roots"

Changes = Iterator[set[tuple[Change, str]]]

logger = structlog.get_logger("projects")
logging.getLogger("watchfiles").setLevel(logging.WARNING)


def share_of_kernel() -> int:
    """How many folders we watch at most: half of what the kernel gives this user, for editors need theirs."""
    try:
        return min(MOST, int(INOTIFY.read_text()) // 2)
    except (OSError, ValueError):
        return MOST


class Mode(Struct, frozen=True):
    """How changes are seen, and why not otherwise."""

    watch: str = "off"
    note: str = ""


class Watcher:
    """Watches what the last plan says and tells of it, from a thread of its own. A folder is watched by itself, not
    with what is below it."""

    def __init__(
        self, most: int | None = None, slow_seconds: float = SLOW_SECONDS, wait: Callable[..., Changes] = watch
    ) -> None:
        self.most = share_of_kernel() if most is None else most
        self.mode = Mode()
        self._wait = wait
        self._slow_seconds = slow_seconds
        self._tell: Callable[[Noticed], None] = lambda told: None
        self._plan = self._armed = Plan()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, plan: Plan, tell: Callable[[Noticed], None]) -> None:
        """Watch these from now on. The first plan starts the thread."""
        if plan != self._plan:
            self._plan = plan
        if self._thread is None and not self._stop.is_set():
            self._tell = tell
            self._thread = threading.Thread(target=self._run, name="watch-projects", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def is_set(self) -> bool:
        """Whether who waits for changes shall stop: because all ends, or the plan is another one."""
        return self._stop.is_set() or self._plan is not self._armed

    def _run(self) -> None:
        while not self._stop.is_set():
            self._armed = self._plan
            try:
                self._watch(self._armed)
            except FileNotFoundError:
                self._say_after(1.0)
            except (OSError, RuntimeError) as error:
                if self.mode.watch != "slow":
                    logger.warning("projects are not watched", error=str(error))
                self.mode = Mode("slow", f"{self._every()}: the kernel watches no more folders; {RAISE}")
                self._say_after(self._slow_seconds)

    def _watch(self, plan: Plan) -> None:
        looked = 0.0
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
            told = noticed(plan, ((change.raw_str(), path) for change, path in changes))
            if not looked or (plan.left_out and time.monotonic() - looked > self._slow_seconds):
                self.mode = self._mode_of(plan)
                looked, told = time.monotonic(), Noticed(names=True)
            if told != NOTHING:
                self._tell(told)

    def _mode_of(self, plan: Plan) -> Mode:
        if not plan.left_out:
            return Mode("live")
        every = len(plan.folders) + plan.left_out
        return Mode("partly", f"{self._every()}: only {len(plan.folders):,} of {every:,} folders are watched; {RAISE}")

    def _every(self) -> str:
        return f"projects are looked at every {self._slow_seconds:.0f} s"

    def _say_after(self, seconds: float) -> None:
        """What was not watched meanwhile is looked at."""
        if not self._stop.wait(seconds):
            self._tell(Noticed(names=True))
