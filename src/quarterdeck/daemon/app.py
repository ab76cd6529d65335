"""One daemon from start to stop: assembles the parts, runs them, and stops them in order."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import os
import resource
import secrets
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any, TextIO, cast

import structlog

from quarterdeck import __version__
from quarterdeck.api.app import create_api
from quarterdeck.api.backend import Backend
from quarterdeck.api.http.agent_block import AgentGuard
from quarterdeck.api.http.asgi import App
from quarterdeck.api.http.credentials import RateLimit
from quarterdeck.api.http.guard import Guard, GuardedApps
from quarterdeck.api.http.public_origins import PublicOrigins
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.clients import Clients
from quarterdeck.api.live.live_source import MachineSource
from quarterdeck.api.live.terminals import MachineTerminals
from quarterdeck.api.live.websocket import Sockets
from quarterdeck.api.pages import Pages
from quarterdeck.config.effective import EffectiveSetting, effective_settings
from quarterdeck.config.home import prepare_home
from quarterdeck.config.loader import read_config
from quarterdeck.config.redacted import changed_settings
from quarterdeck.config.settings import Config
from quarterdeck.core.engine.messages import DaemonRestarted, Notify
from quarterdeck.core.model.payload import safe_id
from quarterdeck.daemon.backend.backend import daemon_backend
from quarterdeck.daemon.backend.key_deck import DaemonDeck
from quarterdeck.daemon.backend.projects import DaemonProjects
from quarterdeck.daemon.backend.risk import RiskService
from quarterdeck.daemon.backend.risk_plugins import load_plugins
from quarterdeck.daemon.backend.stats import StatsCollector
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.ingest.http_hooks import HookRoute, RemovedHookRoute
from quarterdeck.daemon.ingest.intake import HookIntake
from quarterdeck.daemon.ingest.unix_socket import SocketServer, bind
from quarterdeck.daemon.link.hub_client import HubClient
from quarterdeck.daemon.link.outgoing.share_policy import secrets_of
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.effects import SESSION_EFFECTS
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.maintenance.service import StoreMaintenance
from quarterdeck.daemon.notify.channels import channels_of
from quarterdeck.daemon.notify.notifier import Notifier
from quarterdeck.daemon.sessions.ancestry import KnownAncestry
from quarterdeck.daemon.sessions.controller import SessionController
from quarterdeck.daemon.sessions.launch_specs import LaunchSpecs
from quarterdeck.daemon.sessions.launchers import launchers_of, tmux_socket_of
from quarterdeck.daemon.sessions.observed_sessions import ObservedSessions
from quarterdeck.daemon.sessions.past_sessions import PastSessions
from quarterdeck.daemon.sessions.process_monitor import ProcessMonitor
from quarterdeck.daemon.sessions.transcript_follower import TranscriptFollower
from quarterdeck.daemon.setup.certificates import authority_in
from quarterdeck.daemon.setup.client_tokens import read_credentials, watch_tokens
from quarterdeck.daemon.setup.core_settings import runner_name, settings_of, zone_of
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.daemon.setup.http_server import loop_factory
from quarterdeck.daemon.setup.preflight import require_tls_beyond_loopback
from quarterdeck.daemon.setup.servers import Servers
from quarterdeck.daemon.setup.state_rebuild import check_lost_rows, recover
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.daemon.telemetry.logs import log_unhandled_errors, start_logs
from quarterdeck.drivers.registry import Drivers
from quarterdeck.errors import HomeError
from quarterdeck.sessions.tmux.pane_cache import PaneCache
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

PROGRESS_FROM = 50_000
"""A log of this many events takes long enough to read that its progress is printed."""

READERS = 4
"""Queries of the log that surfaces can have at the same time."""

# Enough for thousands of waiting agents and surfaces.
OPEN_FILES = 65_536

Welcome = Callable[[str], None]
"""Prints what a person does next, with a sign-in link."""
WELCOME_SECONDS = 600.0

logger = structlog.get_logger("daemon")


def run(
    home_path: Path,
    config: Config,
    say: Callable[[str], None],
    stderr: TextIO | None,
    started: Mapping[str, Any] | None = None,
    welcome: Welcome | None = None,
) -> None:
    """Run until SIGTERM or SIGINT. `say` prints the lines a person waits for; the log also goes to `stderr`. `started`
    holds the config file and flags of this start, for clients that show the settings in force. `welcome` prints a
    sign-in link for a person at a terminal; no log has it."""
    require_tls_beyond_loopback(config)
    os.umask(0o077)
    _raise_file_limit()
    prepare_home(home_path)
    home = Home(home_path, started)
    home.lock()
    redactor = Redactor()
    start_logs(home.log, config.log, stderr, redactor)
    faulthandler.enable(2)  # prints where C code crashed, for example on a failing disk; without values
    if home.hook.exists():
        home.keep_forwarder()
    try:
        gc.freeze()  # imported objects are never freed, so no collection needs to walk them
        gc.set_threshold(20_000, 20, 20)  # collect less often: each collection pauses the loop
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_serve(home, config, say, redactor, welcome))
    finally:
        home.unlock()


def _raise_file_limit() -> None:
    """Allow more open files: a login shell often allows 1,024, and every waiting agent needs one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


async def _serve(
    home: Home, config: Config, say: Callable[[str], None], redactor: Redactor, welcome: Welcome | None
) -> None:
    log_unhandled_errors(asyncio.get_running_loop())
    async with AsyncExitStack() as exits:
        daemon = Daemon(home, config, say, redactor, exits)
        await daemon.start()
        if welcome is not None:
            welcome(daemon.sign_in_link())
        await daemon.wait_for_stop()
    logger.info("stopped")
    sys.stdout.flush()


class Daemon:
    """The parts of one daemon. Where a part is made, its end is put on `exits`, so that none is forgotten and the parts
    end in the reverse order; `start` sets them going once all are there."""

    def __init__(
        self, home: Home, config: Config, say: Callable[[str], None], redactor: Redactor, exits: AsyncExitStack
    ) -> None:
        self._home, self._config, self._say, self._redactor, self._exits = home, config, say, redactor, exits
        self._stopping = asyncio.Event()
        self._may_restart = True
        self._attendance = Attendance()
        self._drivers = Drivers(config)
        self._make_record()
        self._make_connections()
        self._make_services()
        self._make_sessions()
        self._make_api()

    def _make_record(self) -> None:
        """The log, its maintenance and its subscribers. They end last, so that the end of every other part is
        recorded."""
        home, config, exits = self._home, self._config, self._exits
        log = exits.enter_context(closing(Log.open(home.database, durability=config.store.durability)))
        exits.callback(log.checkpoint)
        check_lost_rows(log, config)
        self._reader = exits.enter_context(closing(Reader(home.database, connections=READERS)))
        own_reader = exits.enter_context(closing(Reader(home.database)))  # no wait for a surface's long query
        disk = DiskReserve(home.path)
        self._loop, self._log = self._make_loop(log, own_reader, disk), log
        if config.otel.endpoint:
            self._start_otel()
        self._notifier = Notifier(channels_of(config.notify, self._redactor), self._loop)
        exits.callback(self._notifier.stop)
        self._loop.effects.assign(self._notifier, Notify)
        self._maintenance = StoreMaintenance(self._loop, log, own_reader, disk, config.store, home.unclean)
        exits.callback(self._maintenance.stop)

    def _make_loop(self, log: Log, reader: Reader, disk: DiskReserve) -> Loop:
        runner_id = log.meta("runner_id", _new_runner_id(runner_name(self._config)))
        if log.damage is not None:
            logger.error("the log is damaged", row=log.damage.seq_no, reason=log.damage.reason)
            self._say(f"{log.path}: {log.damage}; it is served read-only, nothing is recorded")
        settings = settings_of(self._config, self._home.path, self._drivers)
        state = recover(log, runner_id, settings, _progress(self._say))
        deadlines = Deadlines(self._drivers.session_files, zone_of(self._config))
        deadlines.attended = self._attendance.now
        return Loop(state, log, reader, deadlines, disk)

    def _start_otel(self) -> None:
        from quarterdeck.daemon.telemetry.otel_export import Exporter

        exporter = Exporter(self._config.otel, self._loop.state, self._redactor)
        self._loop.subscribe(exporter)
        self._exits.callback(exporter.stop)

    def _make_connections(self) -> None:
        """The ways in. They end after the loop has answered every agent, so that the answers still go out."""
        self._intake = HookIntake(self._loop, self._attendance)
        self._hook_socket = bind(self._home.socket)
        self._exits.callback(self._home.remove_socket)
        self._hook_server = SocketServer(self._intake)
        self._exits.push_async_callback(self._hook_server.stop)
        self._servers = Servers(self._home, self._config)
        self._exits.push_async_callback(self._servers.drain)
        self._exits.push_async_callback(self._stop_loop)
        self._exits.callback(self._home.remove_note)

    async def _stop_loop(self) -> None:
        """Answer every waiting agent: a released one shows its own dialog."""
        logger.info("stopping", held=self._loop.held)
        self._loop.stop()
        await asyncio.sleep(0)  # the tasks that wait for an answer write it to their connections

    def _make_services(self) -> None:
        """What calls of the API wait for. It ends before the servers drain: they would wait for a scan otherwise."""
        self._past_sessions = PastSessions(self._drivers)
        self._exits.push_async_callback(self._past_sessions.close)
        self._panes = PaneCache(self._drivers.running, os.environ)
        self._exits.callback(self._panes.close)
        loop, settings = self._loop, self._loop.state.settings
        self._risk_service = RiskService(self._cwd_of, loop.submit, settings.home, settings.guarded, load_plugins())
        self._exits.callback(self._risk_service.close)
        self._projects = DaemonProjects(self._config.projects, self._loop, self._past_sessions, self._drivers)
        self._exits.push_async_callback(self._projects.close)

    def _cwd_of(self, session_id: str) -> str:
        state = self._loop.state
        known = state.sessions.get(session_id) or state.ended.get(session_id)
        session = known or self._past_sessions.session(session_id)
        return session.context.cwd if session else ""

    def _make_sessions(self) -> None:
        """The sessions. When the daemon stops for good, those over the SDK end, while the loop still records that."""
        loop, drivers, config = self._loop, self._drivers, self._config
        self._transcripts = TranscriptFollower(loop, drivers)
        self._exits.push_async_callback(self._transcripts.close)
        specs = LaunchSpecs(self._home, config, drivers, self._servers.url)
        observed = ObservedSessions(drivers.session_files, self._panes)
        self._controller = SessionController(loop, self._intake, specs.spec, observed)
        self._exits.push_async_callback(lambda: self._controller.close(restarts=self._may_restart))
        self._controller.register_launchers(launchers_of(config, drivers, self._controller, specs.folder))
        self._tmux_socket = tmux_socket_of(config, specs.folder)
        loop.effects.assign(self._controller.perform, *SESSION_EFFECTS)
        self._deck = DaemonDeck(loop, self._controller, self._home.path, self._exits)
        self._monitor = ProcessMonitor(drivers.session_files, lambda: loop.state.sessions, loop.submit)

    def _make_api(self) -> None:
        """Every ASGI app that is served."""
        loop, attendance = self._loop, self._attendance
        stats = StatsCollector(loop, self._log, attendance, self._notifier.stats)
        backend = daemon_backend(
            loop,
            self._reader,
            self._past_sessions,
            self._risk_service,
            self._projects,
            self._controller,
            self._drivers,
            self._config,
            self._home.worktrees,
            self._panes,
            self._deck,
            stats,
            self._effective_settings(),
            lambda: self._servers.url,
        )
        self._credentials = read_credentials(self._home, loop, self._redactor)
        self._exits.callback(self._save_token_use)
        agents = AgentGuard(KnownAncestry(self._drivers, lambda: loop.state.sessions, self._tmux_socket), loop.submit)
        live = Broadcaster(source := MachineSource(backend))
        loop.subscribe(lambda events: live.published(events, at_once=not loop.is_answering))
        loop.watch_requests(lambda requests: live.changed(requests, at_once=not loop.is_answering))
        loop.watch_requests(self._risk_service.requests_changed)
        self._intake.on_stream = self._controller.on_stream = live.stream
        rate_limit, clients, terminals = RateLimit(), Clients(attendance), MachineTerminals(backend.sessions)
        self._deck.connect(live, clients)
        api = create_api(backend, self._credentials, rate_limit, agents, clients)
        pages = Pages(backend.tokens, self._credentials, authority_in(self._home.path / "tls").cert)
        self._apps = GuardedApps(
            hook=HookRoute(self._intake),
            removed_hook=RemovedHookRoute(self._intake),
            api=cast(App, api),
            live=Sockets(backend, source, live, self._credentials, rate_limit, agents, clients, terminals),
            pages=pages,
            page_paths=pages.paths,
            routes=api.state.routes,
        )
        self._hub = self._make_hub(backend, live, cast(App, api), stats)

    def _make_hub(self, backend: Backend, live: Broadcaster, api: App, stats: StatsCollector) -> HubClient:
        home, reader = self._home, self._exits.enter_context(closing(Reader(self._home.database)))
        known = [home.token("token"), home.token("hook-token"), *secrets_of(os.environ)]
        parts = (self._loop, self._log, reader, backend, live, api, self._attendance, known)
        hub = HubClient(home.path, self._config.hub, runner_name(self._config), *parts)
        self._exits.push_async_callback(hub.stop)
        self._maintenance.retention.before_trim, stats.hub_report = hub.make_room, hub.report
        return hub

    def _effective_settings(self) -> list[EffectiveSetting]:
        """The settings of this start, with the places that they were read from."""
        started = self._home.started or {"file": None, "flags": {}}
        file = Path(started["file"]) if started["file"] else None
        return effective_settings(self._config, read_config(self._home.path, file, flags=started["flags"]))

    def _save_token_use(self) -> None:
        with contextlib.suppress(HomeError):
            self._home.write_token_use(self._credentials.used)

    async def start(self) -> None:
        """Set the parts going, and announce the daemon once it can be reached."""
        loop, exits = self._loop, self._exits
        if loop.damaged is None:
            loop.submit(DaemonRestarted(at=time.time(), settings=changed_settings(self._config)))
        await self._hook_server.start(self._hook_socket)
        self._run(watch_tokens(self._home, self._credentials, self._intake, self._redactor))
        loop.stats.lag.start()
        exits.callback(loop.stats.lag.stop)
        if loop.damaged is None:
            self._run(self._monitor.follow())
        self._transcripts.start()
        handle = asyncio.get_running_loop().add_signal_handler
        handle(signal.SIGTERM, self._stopping.set)
        handle(signal.SIGINT, self._interrupted)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup has it ignored
            handle(signal.SIGHUP, self._stopping.set)
        public = PublicOrigins(self._config.runner.public_urls, self._config.runner.proxies)
        await self._servers.serve(
            lambda listener: Guard(self._apps, self._credentials, listener.hosts, self._attendance.called, public)
        )
        self._maintenance.start()
        self._notifier.page = self._servers.public_url
        self._run(self._controller.adopt())
        self._hub.start()
        self._announce()
        # First of all at the stop: no agent with a dialog of its own waits for the sessions to end.
        exits.callback(lambda: loop.release(spares_reconnecting=self._may_restart))

    def _interrupted(self) -> None:
        """SIGINT is a person (Ctrl-C, `qd stop`), who wants every agent released; SIGTERM also comes from an upgrade or
        a service manager, and then a restart may follow."""
        self._may_restart = False
        self._stopping.set()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run this in the background until the daemon stops."""
        self._exits.callback(asyncio.create_task(work).cancel)

    def _announce(self) -> None:
        url, public, state = self._servers.url, self._servers.public_url, self._loop.state
        beyond = [public] if public else []
        # Before the note: who finds that may look into the log for this line.
        logger.info("ready", url=url, beyond=beyond, runner_id=state.runner_id, events=state.seq_no)
        self._home.write_note(
            pid=os.getpid(),
            url=url,
            socket=str(self._home.socket),
            version=__version__,
            runner_id=state.runner_id,
            **({"public_url": public} if public else {}),
        )
        self._say(f"Quarterdeck is ready at {url}" + "".join(f" and {other}" for other in beyond))

    def sign_in_link(self) -> str:
        """A link that signs in one page, once, within WELCOME_SECONDS."""
        return f"{self._servers.url}/login?code={self._credentials.codes.new('page', WELCOME_SECONDS)}"

    async def wait_for_stop(self) -> None:
        """Wait for a signal, or the end of a server."""
        ends = [asyncio.create_task(self._stopping.wait()), asyncio.create_task(self._servers.wait_for_end())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)


def _progress(say: Callable[[str], None]) -> Callable[[int, int], None]:
    def progress(done: int, total: int) -> None:
        if total >= PROGRESS_FROM and (done % PROGRESS_FROM == 0 or done == total):
            say(f"Reading the log: {done:,} of {total:,} events")

    return progress


def _new_runner_id(name: str) -> str:
    base = safe_id(name, "runner")
    return f"{base[:64]}-{secrets.token_hex(4)}"
