"""The projects of this machine, looked for when somebody asks, and from then on when something changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial

import structlog
from msgspec.structs import replace

from quarterdeck.core.workspace.projects import Project, Scan
from quarterdeck.projects.inspector import Inspector
from quarterdeck.projects.scanner import find
from quarterdeck.projects.watch_plan import NOTHING, Noticed, plan_of
from quarterdeck.projects.watcher import Watcher
from quarterdeck.system.run_program import end_all

AT_ONCE = 8
AGAIN_SECONDS = 30.0
GAP_SECONDS = 2.0
SHARE = 10
"""However much happens: after a look at changes there is this long a pause, and this many times as long as it took."""

logger = structlog.get_logger("projects")


def no_folders() -> Mapping[str, float]:
    """Nobody knows of any."""
    return {}


class Projects:
    """What is known of the folders under `roots`, and of those that `known` tells with the time when something last
    happened in each."""

    def __init__(
        self,
        roots: Sequence[str],
        exclude: Sequence[str],
        known: Callable[[], Mapping[str, float]] = no_folders,
        inspector: Inspector | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self._roots, self._exclude, self._known = tuple(roots), tuple(exclude), known
        self._inspector = inspector or Inspector()
        self._found: list[Project] = []
        self._scan = Scan()
        self._running: asyncio.Task[None] | None = None
        self._watcher = watcher or Watcher()
        self._one = asyncio.Lock()
        self._due = NOTHING
        self._notes: tuple[str, ...] = ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._catching_up: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="git")

    @property
    def progress(self) -> Scan:
        mode = self._watcher.mode
        return replace(self._scan, watch=mode.watch, notes=(*self._notes, *([mode.note] if mode.note else [])))

    def all(self) -> list[Project]:
        """The projects as last seen, in order of their paths."""
        return self._found

    async def look(self, seconds: float) -> None:
        """See to it that what is known is not old. The first look is waited for, later ones go on behind."""
        if self._scan.state == "done" and time.time() - (self._scan.started_at or 0) < AGAIN_SECONDS:
            return
        first = self._scan.state == "never" or (self._scan.state == "running" and not self._found)
        await self.scan(seconds if first else 0.0)

    async def scan(self, seconds: float, *, anew: bool = False) -> Scan:
        """Look for all projects, or join who already does; waits so long and tells how far it is. `anew` asks git
        about every one."""
        if self._running is None or self._running.done():
            self._loop = asyncio.get_running_loop()
            self._scan = Scan(state="running", started_at=time.time())
            self._running = asyncio.create_task(self._scan_all(anew))
        if seconds > 0:
            await asyncio.wait([self._running], timeout=seconds)
        return self.progress

    async def close(self) -> None:
        """Give up what has not begun, and end every program that runs for us."""
        await asyncio.to_thread(self._watcher.stop)
        if self._catching_up is not None:
            self._catching_up.cancel()
            await asyncio.wait([self._catching_up])
        self._pool.shutdown(wait=False, cancel_futures=True)
        end_all()
        if self._running is not None:
            await asyncio.wait([self._running])

    async def _scan_all(self, anew: bool) -> None:
        async with self._one:
            await asyncio.to_thread(self._look, dict(self._known()), anew)

    def _told(self, told: Noticed) -> None:
        """The watcher speaks in a thread of its own."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed, told)

    def _changed(self, told: Noticed) -> None:
        """Something is not as it was. It is looked at when there was a pause."""
        self._due = Noticed(projects=self._due.projects | told.projects, names=self._due.names or told.names)
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = asyncio.create_task(self._catch_up())

    async def _catch_up(self) -> None:
        while self._due != NOTHING:
            async with self._one:
                due, self._due = self._due, NOTHING
                began = time.monotonic()
                await asyncio.to_thread(self._look_again, dict(self._known()), due)
            await asyncio.sleep(max(GAP_SECONDS, SHARE * (time.monotonic() - began)))

    def _look(self, known: Mapping[str, float], anew: bool) -> None:
        started = time.monotonic()
        try:
            found = find(self._roots, self._exclude, known)
            self._notes = found.notes
            self._scan = replace(self._scan, total=len(found.folders))
            self._found = self._inspect(found.folders, known, anew=anew)
            self._watcher.follow(plan_of(found, self._watcher.most), self._told)
        except (CancelledError, RuntimeError):  # the pool was shut down: the daemon stops
            return
        except Exception:
            logger.exception("projects could not be looked for")
            self._notes = (*self._notes, "the look failed; see the daemon's log")
        self._scan = replace(self._scan, state="done", seconds=round(time.monotonic() - started, 3))

    def _look_again(self, known: Mapping[str, float], due: Noticed) -> None:
        """Look at what changed. Git is asked only where it did something."""
        try:
            if due.names:
                found = find(self._roots, self._exclude, known)
                self._notes = found.notes
                self._found = self._inspect(found.folders, known, patient=True)
                self._watcher.follow(plan_of(found, self._watcher.most), self._told)
            else:
                seen = {p.path: p for p in self._inspect(sorted(due.projects), known, patient=True)}
                self._found = [seen.get(p.path, p) for p in self._found if p.path in seen or p.path not in due.projects]
        except (CancelledError, RuntimeError):  # the pool was shut down: the daemon stops
            return
        except Exception:
            logger.exception("changed projects could not be looked at")

    def _inspect(
        self, folders: Sequence[str], known: Mapping[str, float], *, anew: bool = False, patient: bool = False
    ) -> list[Project]:
        """Look at each, several at once. Only a look that somebody asked for is counted, for it is not patient."""
        one = partial(self._inspector.inspect, anew=anew, patient=patient)
        seen: list[Project] = []
        for number, project in enumerate(self._pool.map(one, folders, touched(folders, known)), 1):
            if not patient:
                self._scan = replace(self._scan, done=number)
            if project is not None:
                seen.append(project)
        return seen


def touched(folders: Iterable[str], known: Mapping[str, float]) -> list[float]:
    """When something last happened in each folder: in it or below it."""
    latest: dict[str, float] = {}
    for folder, at in known.items():
        path = folder
        while path not in latest or latest[path] < at:
            latest[path] = at
            path = path.rpartition("/")[0]
            if not path:
                break
    return [latest.get(folder, 0.0) for folder in folders]
