"""The ordinary daemon with one failpoint armed: it kills itself with SIGKILL at the Nth passing of a named step.

`python -m tests.support.failpoints --point NAME --hit N` runs one. `ForkServer` forks them from a process that has
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

from tests.support.daemon import PATIENCE_SECONDS, Daemon, Launch, Process, launching

DIED = b"a failpoint was reached\n"

Arm = Callable[[Callable[[], None]], None]


def die() -> NoReturn:
    """Die as if by `kill -9`, after a line on stderr that shows a test that the point was reached."""
    os.write(2, DIED)
    os.kill(os.getpid(), signal.SIGKILL)
    while True:
        time.sleep(1)


def put(owner: Any, name: str, value: Any) -> Any:
    """Replace a function of the program and return the real one; a name that no longer exists fails here."""
    real = getattr(owner, name)
    setattr(owner, name, value)
    return real


def around(
    owner: Any, name: str, *, before: Callable[[], None] | None = None, after: Callable[[], None] | None = None
) -> None:
    """Make a function of the program also call `before` and `after`."""

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
    """Calls functions before and after an SQL statement inside one method of the log."""

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
    """Make the program open its databases with this class."""

    def connect(*args: Any, **kwargs: Any) -> Any:
        return real(*args, factory=kind, **kwargs)

    real = put(sqlite3, "connect", connect)


def _nothing() -> None:
    pass


def _before_reduce(hit: Callable[[], None]) -> None:
    from quarterdeck.daemon.loop import input_batch

    around(input_batch, "reduce", before=hit)


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
    from quarterdeck.daemon.loop.effects import EffectPerformer

    around(EffectPerformer, "perform", before=hit)


def _answered(hit: Callable[[], None]) -> None:
    from quarterdeck.daemon.ingest import http_hooks, unix_socket

    around_async(http_hooks, "_send_response", after=hit)
    around_async(unix_socket.SocketServer, "_envelope", after=hit)
    around(unix_socket, "_answer_later", after=hit)


def _snapshot_open(hit: Callable[[], None]) -> None:
    Statements("save_snapshot").before["COMMIT"] = hit


def _snapshot_done(hit: Callable[[], None]) -> None:
    Statements("save_snapshot").after["COMMIT"] = hit


def _folding(hit: Callable[[], None]) -> None:
    from quarterdeck.store import log

    around(log, "read_events", before=hit)


def _restarted(hit: Callable[[], None]) -> None:
    """Once the first batch of a start, which records the restart, is in the log."""
    from quarterdeck.daemon.loop import loop

    around(loop.Loop, "_publish", after=hit)


def _noting(hit: Callable[[], None]) -> None:
    """While daemon.json is written: before its content, before its mode, before its final name."""
    from quarterdeck.daemon.setup.home_files import Home

    def write_note(home: Home, **fields: Any) -> None:
        hit()
        temporary = home.note.with_name(f"{home.note.name}.{os.getpid()}")
        temporary.write_text(json.dumps(fields)[:20], encoding="utf-8")
        hit()
        real(home, **fields)
        hit()

    real = put(Home, "write_note", write_note)


def _draining(hit: Callable[[], None]) -> None:
    """Between two waiting connections that are released because of SIGTERM."""
    from quarterdeck.daemon.loop.loop import Loop
    from quarterdeck.daemon.loop.waiters import Waiters

    def release(loop: Loop, **options: bool) -> None:
        around(Waiters, "answer", before=hit)
        real(loop, **options)

    real = put(Loop, "release", release)


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
    from quarterdeck.daemon.loop import housekeeper

    put(housekeeper, "SNAPSHOT_EVERY", events)


def show_recovered(path: Path) -> None:
    """Write the state that a start recovered into a file, for comparison with the log."""
    from quarterdeck.core.model.state import State
    from quarterdeck.daemon import app
    from quarterdeck.wire import write_json

    def recover(*args: Any, **kwargs: Any) -> State:
        state: State = real(*args, **kwargs)
        path.write_bytes(write_json(state))
        return state

    real = put(app, "recover", recover)


def pages(limit: int) -> None:
    """A disk that is full once the database has this many pages."""

    class Small(sqlite3.Connection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.execute(f"PRAGMA max_page_count={limit}")

    use_connection(Small)


def clock_jump(seconds: float, when: Path) -> None:
    """A wall clock that is set forward (or back) once there is a file; the monotonic one goes on."""

    def jumped() -> float:
        return float(real()) + (seconds if when.exists() else 0.0)

    real = put(time, "time", jumped)


def send_seconds(seconds: float) -> None:
    """Give up sooner on a surface that does not read."""
    from quarterdeck.api.live import websocket

    put(websocket, "SEND_SECONDS", seconds)


def own_time() -> None:
    """Measure the daemon's own numbers with a clock that stands still while the daemon waits for a processor: they then
    show how late its loop is by its own fault, whatever else the machine does."""
    from quarterdeck.daemon.telemetry import counters

    def own() -> float:
        return float(real()) - starved()

    real = put(counters, "perf_counter", own)


def starved() -> float:
    """Seconds for which the first thread, whose loop it is, could have run and did not get a processor: another had it,
    or the machine below a virtual one did not give it."""
    queued = int(Path("/proc/self/schedstat").read_text().split()[1])
    stolen = int(Path("/proc/stat").read_text().splitlines()[0].split()[8])
    return queued / 1e9 + stolen / os.sysconf("SC_CLK_TCK")


def show_stalls(path: Path) -> None:
    """Write the longest time the event loop did not run into a file, and start again when there is a file `again`
    beside it. Only processor time of this process counts: a busy machine does not, but a thread that keeps the
    interpreter to itself does."""
    from quarterdeck.daemon import app

    async def serve(*args: Any, **kwargs: Any) -> None:
        ticking = asyncio.create_task(_tick(path))
        try:
            await real(*args, **kwargs)
        finally:
            ticking.cancel()

    real = put(app, "_serve", serve)


async def _tick(path: Path) -> None:
    again = path.with_name("again")
    longest = -1.0
    while True:
        before, own_time = time.monotonic(), time.process_time()
        await asyncio.sleep(0.001)
        if again.exists():
            again.unlink()
            longest = 0.0
        elif (busy := min(time.monotonic() - before, time.process_time() - own_time)) > longest:
            longest = busy
            path.write_text(f"{longest:.4f}")


def faulty(*options: str) -> Launch:
    """Start a daemon through this module."""
    return launching([sys.executable, "-m", "tests.support.failpoints", *options])


@contextmanager
def unwritable(daemon: Daemon) -> Iterator[None]:
    """No file of the daemon can be written; it can still remove and read files."""
    before = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, before)


class ForkServer:
    """Forks daemons from a warm process; a context manager, and `launch` fits `Daemon(launch=…)`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        root = Path(__file__).parents[2]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(root / "src"), str(root)))}
        command = [sys.executable, "-m", "tests.support.failpoints", "--fork-server"]
        self._parent = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.close()
        self._parent.wait(PATIENCE_SECONDS)
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
    """A process whose parent is the fork_server."""

    def __init__(self, pid: int, fork_server: ForkServer) -> None:
        self.pid = pid
        self._fork_server = fork_server
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            answer = self._fork_server.tell({"poll": self.pid})
            self._code = int(answer) if answer else None
        return self._code


def _serve_forks() -> None:
    """For each line of stdin, fork a daemon and print its pid, or print the exit code of one that has ended. At the end
    of stdin, which is the end of the test, no child is left."""
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
            pid = os.fork() or _run_child(order)
            answer = str(pid)
            alive.add(pid)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _warm_up() -> None:
    """Do once what every start would repeat: the imports, and the building of the API's routes."""
    import uvloop  # noqa: F401
    from litestar import Litestar

    from quarterdeck.api.http.asgi import App
    from quarterdeck.cli.admin import daemon as running  # noqa: F401
    from quarterdeck.daemon import app
    from quarterdeck.daemon.setup.http_server import uvicorn_config

    def create_api(backend: Any, credentials: Any, rate_limit: Any, agents: Any, clients: Any) -> Litestar:
        api.state.update({"backend": backend, "credentials": credentials, "rate_limit": rate_limit})
        api.state.update({"agents": agents, "clients": clients})
        return api

    api: Litestar = put(app, "create_api", create_api)(None, None, None, None, None)
    uvicorn_config(cast(App, api)).load()


def _run_child(order: Mapping[str, Any]) -> NoReturn:
    os.environ.clear()
    os.environ.update(order["env"])
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for path, descriptor in ((os.devnull, 0), (order["out"], 1), (order["err"], 2)):
        opened = os.open(path, append if descriptor else os.O_RDONLY, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    import typer

    from quarterdeck.cli.admin.daemon import daemon
    from quarterdeck.cli.common import report_errors

    code = 1
    try:
        prepare(order["options"])
        report_errors(daemon)(None)
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
    parser.add_argument("--jump-when", type=Path)
    parser.add_argument("--send-seconds", type=float)
    parser.add_argument("--own-time", action="store_true")
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
        clock_jump(options.clock_jump, options.jump_when)
    if options.send_seconds:
        send_seconds(options.send_seconds)
    if options.own_time:
        own_time()


def run() -> None:
    """The ordinary daemon, by its ordinary command."""
    from quarterdeck.cli.main import main

    sys.argv = ["quarterdeck", "daemon"]
    main()


if __name__ == "__main__":
    if sys.argv[1:] == ["--fork-server"]:
        _serve_forks()
        sys.exit()
    prepare(sys.argv[1:])
    run()
