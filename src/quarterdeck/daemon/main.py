"""One daemon from start to stop: puts the parts together and takes them apart in order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import os
import resource
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import structlog
import uvicorn

from quarterdeck import __version__, hook
from quarterdeck.config import Config, changed_settings, claude_config_dir, prepare_home
from quarterdeck.core.commands import Restarted
from quarterdeck.core.payload import safe_id
from quarterdeck.core.state import Settings
from quarterdeck.daemon.desk import DaemonDesk
from quarterdeck.daemon.ears import Attendance, Ears
from quarterdeck.daemon.home import Home, bind_port
from quarterdeck.daemon.hook_route import HookRoute
from quarterdeck.daemon.listen import SocketServer, bind
from quarterdeck.daemon.loop import Loop
from quarterdeck.daemon.recover import recover
from quarterdeck.daemon.waiting import Waiting
from quarterdeck.errors import ConfigError, HomeError
from quarterdeck.serve.api import create_api
from quarterdeck.serve.guard import App, Guard, Tokens
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

DRAIN_SECONDS = 2
PROGRESS_FROM = 50_000
TOKEN_SECONDS = 1.0
OPEN_FILES = 65_536

logger = structlog.get_logger("daemon")


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: it would wait for held requests and then raise again."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


def run(home_path: Path, config: Config, say: Callable[[str], None]) -> None:
    """Run until SIGTERM or SIGINT. `say` prints the line a person waits for."""
    _refuse_wide_bind(config.runner.host)
    os.umask(0o077)
    _raise_file_limit()
    prepare_home(home_path)
    home = Home(home_path)
    home.lock()
    if home.forwarder.exists():
        home.keep_forwarder(Path(hook.__file__))
    try:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(home, config, say))
    finally:
        home.unlock()


def _raise_file_limit() -> None:
    """A login shell often gives 1,024 open files; every agent that waits needs one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _refuse_wide_bind(host: str) -> None:
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise ConfigError(f"runner.host must be a loopback address, is {host!r}: serving others needs TLS")


async def _serve(home: Home, config: Config, say: Callable[[str], None]) -> None:
    log = Log.open(home.database, durability=config.store.durability)
    tokens = Tokens(owner=home.token("token").encode(), hook=home.token("hook-token").encode())
    reader = Reader(home.database)
    attendance = Attendance()
    own_reader = Reader(home.database)
    loop = _start_loop(log, own_reader, config, attendance, say)
    ears = Ears(loop, attendance)
    tcp = bind_port(home, config.runner.host, config.runner.port)
    sockets = SocketServer(ears)
    await sockets.start(bind(home.socket))
    api = cast(App, create_api(DaemonDesk(loop, reader)))
    guard = Guard(HookRoute(ears), api, tokens, _hosts(tcp), attendance.seen)
    server = _Server(_uvicorn_config(guard))
    rereading = asyncio.create_task(_reread_tokens(home, tokens))
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    serving = asyncio.create_task(server.serve(sockets=[tcp]))
    await server.ready.wait()
    url = _url(tcp)
    home.write_note(
        pid=os.getpid(), url=url, socket=str(home.socket), version=__version__, runner_id=loop.state.runner_id
    )
    logger.info("ready", url=url, runner_id=loop.state.runner_id, events=loop.state.seq_no)
    say(f"Quarterdeck is ready at {url}")
    await asyncio.wait([serving, asyncio.ensure_future(stopping.wait())], return_when=asyncio.FIRST_COMPLETED)
    rereading.cancel()
    await _stop(home, loop, sockets, server, serving)
    log.checkpoint()
    own_reader.close()
    reader.close()
    log.close()


async def _reread_tokens(home: Home, tokens: Tokens) -> None:
    """A token that was rotated counts within a second, and the old one no more."""
    while True:
        await asyncio.sleep(TOKEN_SECONDS)
        with contextlib.suppress(HomeError, OSError):
            tokens.owner = home.token("token").encode()
            tokens.hook = home.token("hook-token").encode()


def _start_loop(log: Log, reader: Reader, config: Config, attendance: Attendance, say: Callable[[str], None]) -> Loop:
    settings = Settings(
        hold=config.decide.hold, wait_seconds=config.decide.wait_seconds, hold_stop=config.decide.hold_stop
    )
    runner_id = log.meta("runner_id", _new_runner_id(config.runner.name))
    if log.damage is not None:
        logger.error("the log is damaged", row=log.damage.seq_no, reason=log.damage.reason)
        say(f"{log.path}: row {log.damage.seq_no}: {log.damage.reason}; it is served read-only, nothing is recorded")
    state = recover(log, runner_id, settings, _progress(say))
    waiting = Waiting(claude_config_dir(config) / "sessions")
    waiting.attended = attendance.now
    loop = Loop(state, log, reader, waiting)
    if log.damage is None:
        loop.tell(Restarted(at=time.time(), settings=changed_settings(config)))
    return loop


def _progress(say: Callable[[str], None]) -> Callable[[int, int], None]:
    def progress(done: int, total: int) -> None:
        if total >= PROGRESS_FROM and (done % PROGRESS_FROM == 0 or done == total):
            say(f"Reading the log: {done:,} of {total:,} events")

    return progress


def _new_runner_id(name: str) -> str:
    base = safe_id(name or socket.gethostname().split(".")[0], "runner")
    return f"{base[:64]}-{secrets.token_hex(4)}"


def _uvicorn_config(app: App) -> uvicorn.Config:
    return uvicorn.Config(
        cast(Any, app),
        log_config=None,
        access_log=False,
        lifespan="off",
        http="httptools",
        ws="none",
        backlog=2048,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=600,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )


def _url(tcp: socket.socket) -> str:
    host, port = tcp.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _hosts(tcp: socket.socket) -> list[str]:
    port = tcp.getsockname()[1]
    return [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]


async def _stop(
    home: Home, loop: Loop, sockets: SocketServer, server: uvicorn.Server, serving: asyncio.Task[None]
) -> None:
    """Answer everybody who waits, then close: an agent that is let go shows its own dialog."""
    logger.info("stopping", held=loop.held)
    home.remove_note()
    loop.stop()
    await asyncio.sleep(0)
    server.should_exit = True
    await asyncio.wait([serving], timeout=DRAIN_SECONDS + 1)
    await sockets.stop()
    with contextlib.suppress(OSError):
        home.socket.unlink()
    logger.info("stopped")
    sys.stdout.flush()
