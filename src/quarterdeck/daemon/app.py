"""One daemon from start to stop: puts the parts together and takes them apart in order."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import itertools
import os
import resource
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import structlog

from quarterdeck import __version__, hook
from quarterdeck.api.app import create_api
from quarterdeck.api.http.agent_block import Agents
from quarterdeck.api.http.asgi import App
from quarterdeck.api.http.credentials import Access, Pace
from quarterdeck.api.http.guard import Doors, Guard
from quarterdeck.api.live.broadcast import Live
from quarterdeck.api.live.websocket import Sockets
from quarterdeck.api.pages import PATHS, Pages
from quarterdeck.config import Config, changed_settings, claude_config_dir, is_loopback, prepare_home
from quarterdeck.core.engine.messages import Restarted
from quarterdeck.core.model.payload import safe_id
from quarterdeck.daemon.backend.backend import DaemonDesk
from quarterdeck.daemon.backend.projects import ProjectShelf
from quarterdeck.daemon.backend.risk import Judging
from quarterdeck.daemon.backend.risk_plugins import load_plugins
from quarterdeck.daemon.backend.sessions import SessionDesk
from quarterdeck.daemon.backend.stats import Figures
from quarterdeck.daemon.ingest.http_hooks import HookRoute
from quarterdeck.daemon.ingest.intake import Attendance, Ears
from quarterdeck.daemon.ingest.unix_socket import SocketServer, bind
from quarterdeck.daemon.loop.deadlines import Waiting
from quarterdeck.daemon.loop.disk_reserve import Disk
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.maintenance.service import Keeping
from quarterdeck.daemon.notify.channels import channels_of
from quarterdeck.daemon.notify.notifier import Notifier
from quarterdeck.daemon.sessions.ancestry import KnownAncestry
from quarterdeck.daemon.sessions.controller import Crew
from quarterdeck.daemon.sessions.launch_specs import Kits
from quarterdeck.daemon.sessions.launchers import ways_of
from quarterdeck.daemon.sessions.past_sessions import PriorSessions
from quarterdeck.daemon.sessions.process_monitor import Truth
from quarterdeck.daemon.sessions.transcript_follower import follow
from quarterdeck.daemon.setup.certificates import Certificate, names_of, own_certificate, self_signed
from quarterdeck.daemon.setup.core_settings import settings_of, zone_of
from quarterdeck.daemon.setup.home import Home, bind_port, listen_on
from quarterdeck.daemon.setup.http_server import DRAIN_SECONDS, Server, hosts_of, loop_factory, url_of, uvicorn_config
from quarterdeck.daemon.setup.preflight import refuse_plain_beyond_loopback
from quarterdeck.daemon.setup.recovery import recover
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.daemon.telemetry.logs import log_what_escapes, start_logs
from quarterdeck.drivers.claude.cli import ClaudeCli, find_claude
from quarterdeck.drivers.claude.extensions import Extensions
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.errors import HomeError
from quarterdeck.sessions.tmux.pane_cache import Panes
from quarterdeck.store.hash_chain import Damage
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader
from quarterdeck.store.search_index import known_upto

if TYPE_CHECKING:
    from quarterdeck.daemon.telemetry.otel_export import Exporter

LOOPBACK_NAMES = ["127.0.0.1", "localhost", "::1"]
PROGRESS_FROM = 50_000
TOKEN_SECONDS = 1.0
SAVE_USE_EVERY = 60
OPEN_FILES = 65_536

logger = structlog.get_logger("daemon")


def run(
    home_path: Path,
    config: Config,
    say: Callable[[str], None],
    stderr: TextIO | None,
    started: Mapping[str, Any] | None = None,
) -> None:
    """Run until SIGTERM or SIGINT. `say` prints the line a person waits for; the log goes to `stderr` too. `started`
    says with which file and flags, for whoever asks what is in force."""
    refuse_plain_beyond_loopback(config)
    os.umask(0o077)
    _raise_file_limit()
    prepare_home(home_path)
    home = Home(home_path, started)
    home.lock()
    redactor = Redactor()
    start_logs(home.log, config.log.level, stderr, redactor)
    faulthandler.enable(2)  # a crash in C, as of a log on a disk that fails, says where on stderr; values are left out
    if home.forwarder.exists():
        home.keep_forwarder(Path(hook.__file__))
    try:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_serve(home, config, say, redactor))
    finally:
        home.unlock()


def _raise_file_limit() -> None:
    """A login shell often gives 1,024 open files; every agent that waits needs one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _serve(home: Home, config: Config, say: Callable[[str], None], redactor: Redactor) -> None:
    log_what_escapes(asyncio.get_running_loop())
    log = Log.open(home.database, durability=config.store.durability)
    _miss_lost_rows(log, config)
    reader = Reader(home.database)
    attendance = Attendance()
    own_reader = Reader(home.database)
    disk = Disk(home.path)
    loop = _start_loop(home, log, own_reader, config, attendance, disk, say)
    keeping = Keeping(loop, log, own_reader, disk, config.store, home.unclean)
    exporter = _start_otel(config, loop, redactor)
    notifier = Notifier(channels_of(config.notify, redactor), loop)
    loop.notify = notifier
    ears = Ears(loop, attendance)
    claude = claude_config_dir(config).absolute()
    folder = SessionsFolder(claude / "sessions")
    prior = PriorSessions(claude)
    judging = _judging(loop, prior)
    projects = ProjectShelf(config.projects, loop, prior)
    extensions = Extensions(_claude(config, claude), claude, projects.folders)
    kits = Kits(home, config, claude, lambda: url_of(tcp))
    crew = Crew(loop, ears, kits.kit)
    crew.sign_on(ways_of(config, crew, kits.folder))
    loop.work = crew.do
    panes = Panes(claude, os.environ)
    desk = DaemonDesk(
        loop,
        reader,
        prior,
        judging,
        projects,
        extensions,
        SessionDesk(loop, crew, folder, config, home.worktrees),
        panes,
        Figures(loop, log, attendance, notifier.figures),
    )
    access = _access(home, loop, redactor)
    agents = Agents(KnownAncestry(folder, lambda: loop.state.sessions), loop.tell)
    doors = _doors(loop, ears, crew, desk, judging, access, attendance, agents)
    tcp = bind_port(home, _loopback(config), config.runner.port)
    guards: list[tuple[Guard, socket.socket, Certificate | None]] = [
        (Guard(doors, access, hosts_of(_port(tcp), [*LOOPBACK_NAMES, _loopback(config)]), attendance.seen), tcp, None)
    ]
    guards += [
        (Guard(doors, access, hosts_of(_port(wide), names, "https"), attendance.seen), wide, certificate)
        for wide, names, certificate in _beyond_loopback(home, config)
    ]
    if log.damage is None:
        loop.tell(Restarted(at=time.time(), settings=changed_settings(config)))
    sockets = SocketServer(ears)
    await sockets.start(bind(home.socket))
    servers = [(Server(uvicorn_config(guard, certificate)), listening) for guard, listening, certificate in guards]
    rereading = asyncio.create_task(_reread_tokens(home, access, redactor))
    loop.stats.lag.start()
    truth = Truth(folder, lambda: loop.state.sessions, loop.tell)
    following = asyncio.create_task(truth.follow()) if loop.damaged is None else None
    transcripts = follow(loop, claude / "projects")
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    serving = [asyncio.create_task(server.serve(sockets=[listening])) for server, listening in servers]
    for server, _ in servers:
        await server.ready.wait()
    keeping.start()
    notifier.page = _public_url(config, [listening for _, listening in servers])
    adopting = asyncio.create_task(crew.adopt())
    _announce(home, config, loop, [listening for _, listening in servers], say)
    waiting = [*serving, asyncio.ensure_future(stopping.wait())]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    loop.let_go()
    rereading.cancel()
    with contextlib.suppress(HomeError):
        home.write_token_use(access.used)
    loop.stats.lag.stop()
    if following is not None:
        following.cancel()
    adopting.cancel()
    await crew.close()
    await transcripts.close()
    await projects.close()
    await prior.close()
    judging.close()
    panes.close()
    await _stop(home, loop, sockets, [server for server, _ in servers], serving)
    keeping.stop()
    notifier.stop()
    if exporter is not None:
        exporter.stop()
    log.checkpoint()
    own_reader.close()
    reader.close()
    log.close()


def _port(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])


def _claude(config: Config, folder: Path) -> Callable[[], ClaudeCli | None]:
    """Finds the command line of Claude Code, when it is needed."""

    def found() -> ClaudeCli | None:
        path = find_claude(config.claude.path)
        return ClaudeCli(path, folder) if path else None

    return found


def _access(home: Home, loop: Loop, redactor: Redactor) -> Access:
    """Who may come in. What they show is never logged."""
    owner, hook_token = _tokens(home, redactor)
    access = Access(owner, hook_token, lambda: loop.state.tokens)
    access.used.update(home.read_token_use())
    return access


def _judging(loop: Loop, prior: PriorSessions) -> Judging:
    """Who judges requests."""

    def cwd_of(session_id: str) -> str:
        state = loop.state
        session = state.sessions.get(session_id) or state.ended.get(session_id) or prior.session(session_id)
        return session.context.cwd if session else ""

    settings = loop.state.settings
    return Judging(cwd_of, settings.home, settings.guarded, load_plugins())


def _doors(
    loop: Loop,
    ears: Ears,
    crew: Crew,
    desk: DaemonDesk,
    judging: Judging,
    access: Access,
    attendance: Attendance,
    agents: Agents,
) -> Doors:
    """Everything that is served."""
    pace = Pace()
    live = Live(desk)
    loop.subscribe(live.published)
    loop.watch_requests(live.changed)
    loop.watch_requests(judging.saw)
    judging.changed = lambda ids: live.changed([r for r in map(loop.state.requests.get, ids) if r is not None])
    ears.streamed = live.stream
    crew.streamed = live.stream
    api = create_api(desk, access, pace, agents)
    return Doors(
        hook=HookRoute(ears),
        api=cast(App, api),
        live=Sockets(desk, live, access, pace, agents, attendance.count),
        pages=Pages(desk, access),
        page_paths=PATHS,
        routes=api.state.routes,
    )


def _announce(
    home: Home, config: Config, loop: Loop, listening: list[socket.socket], say: Callable[[str], None]
) -> None:
    url = url_of(listening[0])
    public = _public_url(config, listening)
    beyond = [public] if public else []
    home.write_note(
        pid=os.getpid(),
        url=url,
        socket=str(home.socket),
        version=__version__,
        runner_id=loop.state.runner_id,
        **({"public_url": public} if public else {}),
    )
    logger.info("ready", url=url, beyond=beyond, runner_id=loop.state.runner_id, events=loop.state.seq_no)
    say(f"Quarterdeck is ready at {url}" + "".join(f" and {other}" for other in beyond))


def _public_url(config: Config, listening: list[socket.socket]) -> str | None:
    """Where another machine calls us, if it can."""
    beyond = [url_of(wide, "https", names_of(config.runner.host, [])[0]) for wide in listening[1:]]
    return beyond[0] if beyond else None


def _loopback(config: Config) -> str:
    """Hooks and commands of this machine always find us here."""
    return config.runner.host if is_loopback(config.runner.host) else "127.0.0.1"


def _beyond_loopback(home: Home, config: Config) -> list[tuple[socket.socket, list[str], Certificate]]:
    runner = config.runner
    if is_loopback(runner.host):
        return []
    names = names_of(runner.host, runner.hosts)
    if runner.tls_cert and runner.tls_key:
        certificate = own_certificate(runner.tls_cert, runner.tls_key)
    else:
        certificate = self_signed(home.path / "tls", names)
    return [(listen_on(runner.host, runner.tls_port), names, certificate)]


def _tokens(home: Home, redactor: Redactor) -> tuple[str, str]:
    owner, hook_token = home.token("token"), home.token("hook-token")
    redactor.learn(owner)
    redactor.learn(hook_token)
    return owner, hook_token


async def _reread_tokens(home: Home, access: Access, redactor: Redactor) -> None:
    """A token that was rotated counts within a second, and the old one no more."""
    saved = dict(access.used)
    for second in itertools.count(1):
        await asyncio.sleep(TOKEN_SECONDS)
        with contextlib.suppress(HomeError, OSError):
            access.replace(*_tokens(home, redactor))
            if second % SAVE_USE_EVERY == 0 and access.used != saved:
                home.write_token_use(access.used)
                saved = dict(access.used)


def _miss_lost_rows(log: Log, config: Config) -> None:
    """A log that is shorter than its index has lost rows, with its -wal file or to an older copy: their numbers must
    not be given again. With `normal` durability a power cut may take the last ones, and that was agreed to."""
    known = known_upto(log.path)
    if log.damage is None and config.store.durability == "full" and known > log.seq_no:
        reason = f"rows up to {known} were here and are gone; if you put an older copy back, remove search.db beside it"
        log.damage = Damage(log.seq_no + 1, reason)


def _start_loop(
    home: Home, log: Log, reader: Reader, config: Config, attendance: Attendance, disk: Disk, say: Callable[[str], None]
) -> Loop:
    runner_id = log.meta("runner_id", _new_runner_id(config.runner.name))
    if log.damage is not None:
        logger.error("the log is damaged", row=log.damage.seq_no, reason=log.damage.reason)
        say(f"{log.path}: {log.damage}; it is served read-only, nothing is recorded")
    state = recover(log, runner_id, settings_of(config, home.path), _progress(say))
    waiting = Waiting(SessionsFolder(claude_config_dir(config) / "sessions"), zone_of(config))
    waiting.attended = attendance.now
    return Loop(state, log, reader, waiting, disk)


def _start_otel(config: Config, loop: Loop, redactor: Redactor) -> Exporter | None:
    if not config.otel.endpoint:
        return None
    from quarterdeck.daemon.telemetry.otel_export import Exporter

    exporter = Exporter(config.otel, loop.state, redactor)
    loop.subscribe(exporter)
    return exporter


def _progress(say: Callable[[str], None]) -> Callable[[int, int], None]:
    def progress(done: int, total: int) -> None:
        if total >= PROGRESS_FROM and (done % PROGRESS_FROM == 0 or done == total):
            say(f"Reading the log: {done:,} of {total:,} events")

    return progress


def _new_runner_id(name: str) -> str:
    base = safe_id(name or socket.gethostname().split(".")[0], "runner")
    return f"{base[:64]}-{secrets.token_hex(4)}"


async def _stop(
    home: Home, loop: Loop, sockets: SocketServer, servers: list[Server], serving: list[asyncio.Task[None]]
) -> None:
    """Answer everybody who waits, then close: an agent that is let go shows its own dialog."""
    logger.info("stopping", held=loop.held)
    home.remove_note()
    loop.stop()
    await asyncio.sleep(0)
    for server in servers:
        server.should_exit = True
    await asyncio.wait(serving, timeout=DRAIN_SECONDS + 1)
    await sockets.stop()
    with contextlib.suppress(OSError):
        home.socket.unlink()
    logger.info("stopped")
    sys.stdout.flush()
