"""The projects of this machine: scanned on the first request, and updated when something changes."""

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
from quarterdeck.projects.scanner import find_projects
from quarterdeck.projects.watch_plan import NO_CHANGES, FolderChanges, watch_plan
from quarterdeck.projects.watcher import Watcher
from quarterdeck.system.run_program import end_all

# Git mostly waits for the disk, but more at once would slow the agents down.
THREADS = 8
# Changes are noticed by the watch; a scan only repeats it for surfaces that open.
AGAIN_SECONDS = 30.0
GAP_SECONDS = 2.0
SHARE = 10
"""After each update there is a pause: GAP_SECONDS, or SHARE times as long as the update took. However many files
change, updates use at most a tenth of the time."""

logger = structlog.get_logger("projects")


def no_folders() -> Mapping[str, float]:
    """No known folders."""
    return {}


class ProjectCatalog:
    """The projects under `roots`, and those that `known` returns with the time of the last activity in each."""

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
        self._lock = asyncio.Lock()  # a scan and an update both replace the list, each in a thread
        self._due = NO_CHANGES
        self._notes: tuple[str, ...] = ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._updating: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="git")

    @property
    def progress(self) -> Scan:
        mode = self._watcher.mode
        return replace(self._scan, watch=mode.watch, notes=(*self._notes, *([mode.note] if mode.note else [])))

    def all(self) -> list[Project]:
        """The projects as last read, in order of their paths."""
        return self._found

    async def refresh(self, seconds: float) -> None:
        """Start a scan if the last one is old, or found nothing while folders are known. Waits for it if no project is
        known yet; otherwise it runs in the background."""
        is_recent = self._scan.state == "done" and time.time() - (self._scan.started_at or 0) < AGAIN_SECONDS
        if is_recent and (self._found or not self._known()):
            return
        await self.scan(0.0 if self._found else seconds)

    async def scan(self, seconds: float, *, refresh: bool = False) -> Scan:
        """Find all projects, or join a scan that is running; waits this long and returns the progress. `refresh` asks
        git about every project."""
        if self._running is None or self._running.done():
            self._loop = asyncio.get_running_loop()
            self._scan = Scan(state="running", started_at=time.time())
            self._running = asyncio.create_task(self._scan_all(refresh))
        if seconds > 0:
            await asyncio.wait([self._running], timeout=seconds)
        return self.progress

    async def close(self) -> None:
        """Drop work that has not begun, and end every program that is running."""
        await asyncio.to_thread(self._watcher.stop)
        if self._updating is not None:
            self._updating.cancel()
            await asyncio.wait([self._updating])
        self._pool.shutdown(wait=False, cancel_futures=True)
        end_all()
        if self._running is not None:
            await asyncio.wait([self._running])

    async def _scan_all(self, refresh: bool) -> None:
        async with self._lock:
            await asyncio.to_thread(self._find_all, dict(self._known()), refresh)

    def _on_change(self, changes: FolderChanges) -> None:
        """Called by the watcher, in its own thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed, changes)

    def _changed(self, changes: FolderChanges) -> None:
        """Collect changes; they are read after the pause."""
        self._due = FolderChanges(
            projects=self._due.projects | changes.projects, names=self._due.names or changes.names
        )
        if self._updating is None or self._updating.done():
            self._updating = asyncio.create_task(self._catch_up())

    async def _catch_up(self) -> None:
        while self._due != NO_CHANGES:
            async with self._lock:
                due, self._due = self._due, NO_CHANGES
                began = time.monotonic()
                await asyncio.to_thread(self._update, dict(self._known()), due)
            await asyncio.sleep(max(GAP_SECONDS, SHARE * (time.monotonic() - began)))

    def _find_all(self, known: Mapping[str, float], refresh: bool) -> None:
        started = time.monotonic()
        try:
            self._read_all(known, refresh=refresh)
        except (CancelledError, RuntimeError):  # the pool was shut down: the daemon stops
            return
        except Exception:
            logger.exception("projects could not be scanned")
            self._notes = (*self._notes, "the scan failed; see the daemon's log")
        self._scan = replace(self._scan, state="done", seconds=round(time.monotonic() - started, 3))

    def _update(self, known: Mapping[str, float], due: FolderChanges) -> None:
        """Read the changes. Git is asked only where it did something."""
        try:
            if due.names:
                self._read_all(known, changed_only=True)
            else:
                seen = {p.path: p for p in self._inspect(sorted(due.projects), known, changed_only=True)}
                self._found = [seen.get(p.path, p) for p in self._found if p.path in seen or p.path not in due.projects]
        except (CancelledError, RuntimeError):  # the pool was shut down: the daemon stops
            return
        except Exception:
            logger.exception("changed projects could not be read")

    def _read_all(self, known: Mapping[str, float], *, refresh: bool = False, changed_only: bool = False) -> None:
        """Find and read all projects, and watch them from now on."""
        found = find_projects(self._roots, self._exclude, known)
        self._notes = found.notes
        if not changed_only:
            self._scan = replace(self._scan, total=len(found.folders))
        self._found = self._inspect(found.folders, known, refresh=refresh, changed_only=changed_only)
        self._watcher.follow(watch_plan(found, self._watcher.most), self._on_change)

    def _inspect(
        self, folders: Sequence[str], known: Mapping[str, float], *, refresh: bool = False, changed_only: bool = False
    ) -> list[Project]:
        """Read each folder, several at once. An update of changed projects does not count as progress of a scan."""
        one = partial(self._inspector.inspect, refresh=refresh, changed_only=changed_only)
        seen: list[Project] = []
        for number, project in enumerate(self._pool.map(one, folders, touched(folders, known)), 1):
            if not changed_only:
                self._scan = replace(self._scan, done=number)
            if project is not None:
                seen.append(project)
        return seen


def touched(folders: Iterable[str], known: Mapping[str, float]) -> list[float]:
    """The time of the last activity in each folder or below it."""
    latest: dict[str, float] = {}
    for folder, at in known.items():
        path = folder
        while path not in latest or latest[path] < at:
            latest[path] = at
            path = path.rpartition("/")[0]
            if not path:
                break
    return [latest.get(folder, 0.0) for folder in folders]
