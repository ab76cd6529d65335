"""The projects of this machine, looked for when somebody asks and never by the clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial

import structlog
from msgspec.structs import replace

from quarterdeck.core.projects import Project, Scan
from quarterdeck.runner.bounded import end_all
from quarterdeck.runner.finding import find
from quarterdeck.runner.inspecting import Inspector

AT_ONCE = 8
AGAIN_SECONDS = 30.0

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
    ) -> None:
        self._roots, self._exclude, self._known = tuple(roots), tuple(exclude), known
        self._inspector = inspector or Inspector()
        self._found: list[Project] = []
        self._scan = Scan()
        self._running: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="git")

    @property
    def progress(self) -> Scan:
        return self._scan

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
            self._scan = Scan(state="running", started_at=time.time())
            self._running = asyncio.create_task(asyncio.to_thread(self._look, dict(self._known()), anew))
        if seconds > 0:
            await asyncio.wait([self._running], timeout=seconds)
        return self._scan

    async def close(self) -> None:
        """Give up what has not begun, and end every program that runs for us."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        end_all()
        if self._running is not None:
            await asyncio.wait([self._running])

    def _look(self, known: Mapping[str, float], anew: bool) -> None:
        started = time.monotonic()
        try:
            self._found = self._inspect(known, anew)
        except (CancelledError, RuntimeError):  # the pool was shut down: the daemon stops
            return
        except Exception:
            logger.exception("projects could not be looked for")
            self._scan = replace(self._scan, notes=(*self._scan.notes, "the look failed; see the daemon's log"))
        self._scan = replace(self._scan, state="done", seconds=round(time.monotonic() - started, 3))

    def _inspect(self, known: Mapping[str, float], anew: bool) -> list[Project]:
        found = find(self._roots, self._exclude, known)
        self._scan = replace(self._scan, total=len(found.folders), notes=found.notes)
        one = partial(self._inspector.inspect, anew=anew)
        seen: list[Project] = []
        for number, project in enumerate(self._pool.map(one, found.folders, touched(found.folders, known)), 1):
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
