"""The ordinary daemon with one failpoint armed: it kills itself with SIGKILL at the Nth passing of a named step.

`python -m tests.support.faulty --point NAME --hit N` runs one. `Nursery` forks them from a process that has
everything imported, because a start of Python costs more than the fault that is tested.
"""

import argparse
import asyncio
import gc
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self, cast

from tests.support.daemon import Daemon, Launch, Process, launching

DIED = b"a failpoint was reached\n"

Arm = Callable[[Callable[[], None]], None]


def die() -> NoReturn:
    """As if by `kill -9`, but for a word on stderr by which a test knows that the point was reached."""
    os.write(2, DIED)
    os.kill(os.getpid(), signal.SIGKILL)
    while True:
        time.sleep(1)


def put(owner: Any, name: str, value: Any) -> Any:
    """Replace a function of the program and give the real one; a name that is gone fails here."""
    real = getattr(owner, name)
    setattr(owner, name, value)
    return real


def around(
    owner: Any, name: str, *, before: Callable[[], None] | None = None, after: Callable[[], None] | None = None
) -> None:
    """Let a function of the program also call `before` and `after`."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if before is not None:
            before()
        result = real(*args, **kwargs)
        if after is not None:
            after()
        return result

    real = put(owner, name, wrapped)


def around_async(owner: Any, name: str, *, after: Callable[[], None]) -> None:
    """The same for a coroutine function."""

    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = await real(*args, **kwargs)
        after()
        return result

    real = put(owner, name, wrapped)


class Statements:
    """Which SQL statement comes next, inside which method of the log."""

    def __init__(self, method: str) -> None:
        from quarterdeck.store import log as store

        self.before: dict[str, Callable[[], None]] = {}
        self.after: dict[str, Callable[[], None]] = {}
        inside = False

        def enter() -> None:
            nonlocal inside
            inside = True

        def leave() -> None:
            nonlocal inside
            inside = False

        around(store.Log, method, before=enter, after=leave)
        spied = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
                word = sql.split()[0] if inside else ""
                spied.before.get(word, _nothing)()
                cursor = super().execute(sql, *args)
                spied.after.get(word, _nothing)()
                return cursor

        use_connection(Connection)


def use_connection(kind: type[sqlite3.Connection]) -> None:
    """Let the program open its databases with this class."""

    def connect(*args: Any, **kwargs: Any) -> Any:
        return real(*args, factory=kind, **kwargs)

    real = put(sqlite3, "connect", connect)


def _nothing() -> None:
    pass


def _before_reduce(hit: Callable[[], None]) -> None:
    from quarterdeck.daemon.loop import loop

    around(loop, "reduce", before=hit)


def _before_begin(hit: Callable[[], None]) -> None:
    Statements("append").before["BEGIN"] = hit


def _events_written(hit: Callable[[], None]) -> None:
    from quarterdeck.store.log import Log

    around(Log, "_write_events", after=hit)


def _before_commit(hit: Callable[[], None]) -> None:
    Statements("append").before["COMMIT"] = hit


def _committed(hit: Callable[[], None]) -> None:
    Statements("append").after["COMMIT"] = hit


def _before_answer(hit: Callable[[], None]) -> None:
    from quarterdeck.daemon.loop.loop import Loop

    around(Loop, "_perform", before=hit)


def _answered(hit: Callable[[], None]) -> None:
    from quarterdeck.daemon.ingest import http_hooks as hook_route
    from quarterdeck.daemon.ingest import unix_socket as listen

    around_async(hook_route, "_say", after=hit)
    around_async(listen.SocketServer, "_envelope", after=hit)
    around(listen, "_answer_later", after=hit)


def _snapshot_open(hit: Callable[[], None]) -> None:
    Statements("save_snapshot").before["COMMIT"] = hit


def _snapshot_done(hit: Callable[[], None]) -> None:
    Statements("save_snapshot").after["COMMIT"] = hit


def _folding(hit: Callable[[], None]) -> None:
    from quarterdeck.store import log

    around(log, "read_events", before=hit)


def _restarted(hit: Callable[[], None]) -> None:
    """Once the first batch of a start, which says that we came back, is on record."""
    from quarterdeck.daemon.loop import loop

    around(loop.Loop, "_publish", after=hit)


def _noting(hit: Callable[[], None]) -> None:
    """While daemon.json is written: before its content, before its mode, before its place."""
    from quarterdeck.daemon.setup.home import Home

    def write_note(home: Home, **fields: Any) -> None:
        hit()
        temporary = home.note.with_suffix(".new")
        temporary.write_text(json.dumps(fields)[:20], encoding="utf-8")
        hit()
        real(home, **fields)
        hit()

    real = put(Home, "write_note", write_note)


def _draining(hit: Callable[[], None]) -> None:
    """Between two holders that are let go because of SIGTERM."""
    from quarterdeck.daemon.loop.loop import Loop
    from quarterdeck.daemon.loop.waiters import Holders

    def letting_go(loop: Loop) -> None:
        around(Holders, "answer", before=hit)
        real(loop)

    real = put(Loop, "let_go", letting_go)


POINTS: Mapping[str, Arm] = {
    "before-reduce": _before_reduce,
    "before-begin": _before_begin,
    "events-written": _events_written,
    "before-commit": _before_commit,
    "committed": _committed,
    "before-answer": _before_answer,
    "answered": _answered,
    "snapshot-open": _snapshot_open,
    "snapshot-done": _snapshot_done,
    "folding": _folding,
    "restarted": _restarted,
    "noting": _noting,
    "draining": _draining,
}


def arm(point: str, hit: int) -> None:
    """Die at the given passing of a point."""
    left = hit

    def passed() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            die()

    POINTS[point](passed)


def snapshot_every(events: int) -> None:
    """Keep snapshots far more often than the daemon does, so that a short story has some."""
    from quarterdeck.daemon.loop import loop

    put(loop, "SNAPSHOT_EVERY", events)


def show_recovered(path: Path) -> None:
    """Write the state that a start recovered into a file, for comparison with the log."""
    from quarterdeck.core.model.state import State
    from quarterdeck.daemon import app as main
    from quarterdeck.wire import write_json

    def recover(*args: Any, **kwargs: Any) -> State:
        state: State = real(*args, **kwargs)
        path.write_bytes(write_json(state))
        return state

    real = put(main, "recover", recover)


def pages(limit: int) -> None:
    """A disk that is full once the database has so many pages."""

    class Small(sqlite3.Connection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.execute(f"PRAGMA max_page_count={limit}")

    use_connection(Small)


def clock_jump(seconds: float, after: float) -> None:
    """A wall clock that is set forward (or back) a while after the start; the monotonic one goes on."""

    def jumped() -> float:
        return float(real()) + (seconds if time.monotonic() - start > after else 0.0)

    start = time.monotonic()
    real = put(time, "time", jumped)


def show_stalls(path: Path) -> None:
    """Write the longest time the event loop did not come round into a file, and start anew when there is a file
    `again` beside it. Only the time this process had of its processors counts: a busy machine does not, a thread of
    ours that keeps the interpreter to itself does."""
    from quarterdeck.daemon import app as main

    async def serve(*args: Any, **kwargs: Any) -> None:
        ticking = asyncio.create_task(_tick(path))
        try:
            await real(*args, **kwargs)
        finally:
            ticking.cancel()

    real = put(main, "_serve", serve)


async def _tick(path: Path) -> None:
    again = path.with_name("again")
    longest = -1.0
    while True:
        before, ours = time.monotonic(), time.process_time()
        await asyncio.sleep(0.001)
        if again.exists():
            again.unlink()
            longest = 0.0
        elif (busy := min(time.monotonic() - before, time.process_time() - ours)) > longest:
            longest = busy
            path.write_text(f"{longest:.4f}")


def faulty(*options: str) -> Launch:
    """Start a daemon through this module."""
    return launching([sys.executable, "-m", "tests.support.faulty", *options])


@contextmanager
def unwritable(daemon: Daemon) -> Iterator[None]:
    """No file of the daemon takes a byte; what it removes and reads is as ever."""
    before = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, before)


class Nursery:
    """Forks daemons from a warm process; a context manager, and `launch` fits `Daemon(launch=…)`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        root = Path(__file__).parents[2]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(root / "src"), str(root)))}
        command = [sys.executable, "-m", "tests.support.faulty", "--nursery"]
        self._parent = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.close()
        self._parent.wait(10)
        self._parent.stdout.close()

    def launch(self, *options: str) -> Launch:
        """Start daemons with these options of this module."""

        def launch(env: Mapping[str, str], out: Path, err: Path) -> Process:
            order = {"env": dict(env), "out": str(out), "err": str(err), "options": options}
            return _Child(int(self.tell(order)), self)

        return launch

    def tell(self, order: Mapping[str, Any]) -> str:
        """One order, one line of answer."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        with self._lock:
            self._parent.stdin.write(json.dumps(order) + "\n")
            self._parent.stdin.flush()
            return self._parent.stdout.readline().strip()


class _Child:
    """A process whose parent is the nursery."""

    def __init__(self, pid: int, nursery: Nursery) -> None:
        self.pid = pid
        self._nursery = nursery
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            answer = self._nursery.tell({"poll": self.pid})
            self._code = int(answer) if answer else None
        return self._code


def _nurse() -> None:
    """For each line of stdin fork a daemon and say its pid, or say with which code one has ended. At the end of
    stdin, which is the end of the test, no child is left."""
    _warm_up()
    gc.freeze()
    alive: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "poll" in order:
            pid, status = os.waitpid(order["poll"], os.WNOHANG)
            answer = str(os.waitstatus_to_exitcode(status)) if pid else ""
            alive.discard(pid)
        else:
            pid = os.fork() or _be_born(order)
            answer = str(pid)
            alive.add(pid)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _warm_up() -> None:
    """Do once what every start would do the same: the imports, and the building of the API's routes."""
    import uvloop  # noqa: F401
    from litestar import Litestar

    from quarterdeck.api.http.asgi import App
    from quarterdeck.cli.admin import daemon as running  # noqa: F401
    from quarterdeck.daemon import app as main
    from quarterdeck.daemon.setup.http_server import uvicorn_config

    def create_api(desk: Any, access: Any, pace: Any, agents: Any) -> Litestar:
        app.state.update({"desk": desk, "access": access, "pace": pace, "agents": agents})
        return app

    app: Litestar = put(main, "create_api", create_api)(None, None, None, None)
    uvicorn_config(cast(App, app)).load()


def _be_born(order: Mapping[str, Any]) -> NoReturn:
    os.environ.clear()
    os.environ.update(order["env"])
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for path, descriptor in ((os.devnull, 0), (order["out"], 1), (order["err"], 2)):
        opened = os.open(path, append if descriptor else os.O_RDONLY, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    import typer

    from quarterdeck.cli.admin.daemon import daemon

    code = 1
    try:
        prepare(order["options"])
        daemon(None)
        code = 0
    except typer.Exit as ended:
        code = ended.exit_code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def prepare(argv: Sequence[str]) -> None:
    """Arm what the options name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--point", choices=sorted(POINTS))
    parser.add_argument("--hit", type=int, default=1)
    parser.add_argument("--snapshot-every", type=int)
    parser.add_argument("--show-recovered", type=Path)
    parser.add_argument("--show-stalls", type=Path)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--clock-jump", type=float)
    parser.add_argument("--jump-after", type=float, default=0.0)
    options = parser.parse_args(argv)
    if options.point:
        arm(options.point, options.hit)
    if options.snapshot_every:
        snapshot_every(options.snapshot_every)
    if options.show_recovered:
        show_recovered(options.show_recovered)
    if options.show_stalls:
        show_stalls(options.show_stalls)
    if options.pages:
        pages(options.pages)
    if options.clock_jump:
        clock_jump(options.clock_jump, options.jump_after)


def run() -> None:
    """The ordinary daemon, by its ordinary command."""
    from quarterdeck.cli.main import main

    sys.argv = ["quarterdeck", "daemon"]
    main()


if __name__ == "__main__":
    if sys.argv[1:] == ["--nursery"]:
        _nurse()
        sys.exit()
    prepare(sys.argv[1:])
    run()
