"""One hub from start to stop: assembles the parts, runs them, and stops them in order."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sqlite3
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any, TextIO, cast

import structlog

from quarterdeck import __version__
from quarterdeck.api.app import create_api
from quarterdeck.api.http.agent_block import AgentGuard, BlockedCaller
from quarterdeck.api.http.asgi import App, Receive, Scope, Send, refuse
from quarterdeck.api.http.credentials import Credentials, RateLimit
from quarterdeck.api.http.guard import Guard, GuardedApps
from quarterdeck.api.http.public_origins import PublicOrigins
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.clients import Clients
from quarterdeck.api.live.topics import stream_sessions
from quarterdeck.api.live.websocket import Sockets
from quarterdeck.api.pages import Pages
from quarterdeck.config.effective import effective_settings
from quarterdeck.config.home import prepare_home
from quarterdeck.config.loader import read_config
from quarterdeck.config.settings import Config
from quarterdeck.core.model.payload import safe_id
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.maintenance.log_follower import LogFollower
from quarterdeck.daemon.setup.certificates import authority_in
from quarterdeck.daemon.setup.core_settings import runner_name
from quarterdeck.daemon.setup.http_server import loop_factory
from quarterdeck.daemon.setup.preflight import require_tls_beyond_loopback
from quarterdeck.daemon.setup.servers import Servers
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.daemon.telemetry.logs import log_unhandled_errors, start_logs
from quarterdeck.errors import HomeError, Refused, StoreError
from quarterdeck.hub.common_rules import CommonRules
from quarterdeck.hub.hub_backend import HubBackend
from quarterdeck.hub.hub_health import HubHealth
from quarterdeck.hub.hub_home import HubHome
from quarterdeck.hub.hub_tokens import HubTokens
from quarterdeck.hub.routes.hub_routes import HUB_COMMANDS, HUB_ROUTES
from quarterdeck.hub.runners.event_intake import EventIntake
from quarterdeck.hub.runners.machine_calls import MachineCalls
from quarterdeck.hub.runners.machine_registry import MachineRegistry, MachineState
from quarterdeck.hub.runners.machine_streams import HubTerminals, LiveTexts, MachineStreams
from quarterdeck.hub.runners.runner_socket import RunnerSocket
from quarterdeck.hub.shown_views import HubSource, ShownViews
from quarterdeck.hub.store.commit_queue import CommitQueue
from quarterdeck.hub.store.enrolments import digests, enrolments, machines
from quarterdeck.hub.store.hub_reader import HubReader
from quarterdeck.hub.store.hub_schema import open_hub_store
from quarterdeck.hub.store.machine_views import SessionQuery, list_request_views, list_session_views
from quarterdeck.hub.store.rule_rows import read_rules
from quarterdeck.hub.store.stored_events import index_sessions, next_place
from quarterdeck.hub.store.token_rows import kept_value, read_tokens
from quarterdeck.link.codec import MAX_BYTES
from quarterdeck.link.messages import LinkSettings
from quarterdeck.store.search_index import SearchIndex

READERS = 4
MOST_LIVE = 1_000_000
REREAD_SECONDS = 1.0
INDEX_SECONDS = 0.5
FOLLOW_SECONDS = 0.25

logger = structlog.get_logger("hub")


def run(
    home_path: Path,
    config: Config,
    say: Callable[[str], None],
    stderr: TextIO | None,
    started: Mapping[str, Any] | None = None,
) -> None:
    """Run until SIGTERM or SIGINT. `say` prints the lines a person waits for; the log also goes to `stderr`."""
    require_tls_beyond_loopback(config)
    os.umask(0o077)
    prepare_home(home_path)
    home = HubHome(home_path, started)
    home.lock()
    redactor = Redactor()
    start_logs(home.log, config.log, stderr, redactor)
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_serve(home, config, say, redactor))
    finally:
        home.unlock()


async def _serve(home: HubHome, config: Config, say: Callable[[str], None], redactor: Redactor) -> None:
    log_unhandled_errors(asyncio.get_running_loop())
    async with AsyncExitStack() as exits:
        hub = Hub(home, config, say, redactor, exits)
        await hub.start()
        await hub.wait_for_stop()
    logger.info("stopped")


class NoAncestry:
    """A hub does not know the processes behind its connections: most are on other machines."""

    async def suspect(self, scope: Scope) -> BlockedCaller | None:
        return None


async def no_hooks(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a hook call: agents call the daemon of their own machine."""
    await refuse(send, 404, "not_found", "a hub takes no hook calls; hooks call the daemon of their machine")


class Hub:
    """The parts of one hub. Where a part is made, its end is put on `exits`, so that the parts end in the reverse
    order; `start` sets them going once all are there."""

    def __init__(
        self, home: HubHome, config: Config, say: Callable[[str], None], redactor: Redactor, exits: AsyncExitStack
    ) -> None:
        self._home, self._config, self._say, self._redactor, self._exits = home, config, say, redactor, exits
        self._stopping = asyncio.Event()
        self._attendance = Attendance()
        self._make_store()
        self._servers = Servers(home, config, frame_bytes=MAX_BYTES + 1024)
        exits.push_async_callback(self._servers.drain)
        exits.callback(home.remove_note)
        self._make_parts()
        self._make_api()

    def _make_store(self) -> None:
        home, exits = self._home, self._exits
        self._db = exits.enter_context(closing(open_hub_store(home.database, self._config.store.durability)))
        self._commits = CommitQueue(self._db)
        exits.push_async_callback(self._commits.stop)
        self._reader = exits.enter_context(closing(HubReader(home.database, connections=READERS)))
        base = safe_id(runner_name(self._config), "hub")[:60]
        self._hub_id = kept_value(self._db, "hub_id", f"hub-{base}-{secrets.token_hex(4)}")

    def _make_parts(self) -> None:
        db = self._db
        conflicts = dict(db.execute("SELECT machine, count(*) FROM conflicts GROUP BY machine").fetchall())
        self._registry = MachineRegistry(__version__, enrolments(db), machines(db), conflicts)
        self._registry.learn_digests(digests(db))
        self._shown = ShownViews()
        sessions, _ = list_session_views(db, SessionQuery(only_live=True, limit=MOST_LIVE))
        self._shown.load(sessions, list_request_views(db, ["pending"], 0, MOST_LIVE))
        self._source = HubSource(self._hub_id, self._reader, self._registry, self._shown)
        self._source.place = next_place(db) - 1
        self._live = Broadcaster(self._source)
        self._calls = MachineCalls(self._registry, self._commits)
        self._streams = MachineStreams()
        self._tokens = HubTokens(self._commits, read_tokens(db))
        self._rules = CommonRules(self._commits, self._registry, read_rules(db))
        database = self._home.database
        self._indexer = LogFollower("search index", lambda: SearchIndex(database), lambda: self._source.place)
        self._exits.callback(self._indexer.stop)

    def _make_api(self) -> None:
        home, config = self._home, self._config
        self._credentials = self._read_credentials()
        rate_limit, clients = RateLimit(), Clients(self._attendance)
        agents = AgentGuard(NoAncestry(), lambda refused: None)
        started = home.started or {"file": None, "flags": {}}
        file = Path(started["file"]) if started["file"] else None
        settings = effective_settings(config, read_config(home.path, file, flags=started["flags"]))
        health = HubHealth(
            *(self._hub_id, home.database, self._commits, self._source),
            *(self._shown, self._registry, self._attendance, settings),
        )
        backend = HubBackend(
            runner_id=self._hub_id,
            registry=self._registry,
            commits=self._commits,
            reader=self._reader,
            source=self._source,
            calls=self._calls,
            tokens=self._tokens,
            rules=self._rules,
            health=health,
        )
        self._intake = EventIntake(
            *(self._registry, self._commits, self._source, self._shown, self._live, self._calls, self._streams),
            rules=self._rules,
            count_failure=self._credentials.failures.count,
        )
        terminals = HubTerminals(self._streams, self._live_session)
        api = create_api(backend, self._credentials, rate_limit, agents, clients, HUB_ROUTES)
        pages = Pages(self._tokens, self._credentials, authority_in(home.path / "tls").cert)
        self._apps = GuardedApps(
            hook=no_hooks,
            removed_hook=no_hooks,
            api=cast(App, api),
            live=Sockets(
                *(backend, self._source, self._live, self._credentials, rate_limit, agents, clients, terminals),
                commands=HUB_COMMANDS,
            ),
            pages=pages,
            page_paths=pages.paths,
            routes=api.state.routes,
            runners=RunnerSocket(self._intake, LinkSettings()),
        )

    def _live_session(self, session_id: str) -> tuple[MachineState, bytes] | None:
        """A live session with its machine, if one machine alone has it."""
        found = [(key[0], view) for key, view in self._shown.sessions.items() if key[1] == session_id]
        state = self._registry.by_number(found[0][0]) if len(found) == 1 else None
        return None if state is None else (state, found[0][1].body)

    def _read_credentials(self) -> Credentials:
        owner = self._home.token("token")
        self._redactor.learn(owner)
        credentials = Credentials(owner, secrets.token_urlsafe(32), self._tokens.by_id)
        credentials.used.update(self._home.read_token_use())
        return credentials

    async def _watch_token(self) -> None:
        """Read the owner's token again every second: a rotated one is then accepted, and the old one no longer."""
        unused = secrets.token_urlsafe(32)
        while True:
            await asyncio.sleep(REREAD_SECONDS)
            self._intake.attending(int(self._attendance.now()))
            with contextlib.suppress(HomeError, OSError):
                owner = self._home.token("token")
                self._redactor.learn(owner)
                self._credentials.replace(owner, unused)

    async def _follow_texts(self) -> None:
        """Follow the live text of the sessions that surfaces show."""
        texts = LiveTexts(self._streams, self._live_session, self._live.stream)
        while True:
            await asyncio.sleep(FOLLOW_SECONDS)
            with contextlib.suppress(Refused):
                texts.follow_only(set(stream_sessions(self._live.topics)))

    async def _index(self) -> None:
        """Index events by session, behind the writer."""
        while True:
            await asyncio.sleep(INDEX_SECONDS)
            with contextlib.suppress(StoreError, sqlite3.Error):
                left = 1
                while left:
                    left = await self._commits.submit(index_sessions)

    async def start(self) -> None:
        """Set the parts going, and announce the hub once it can be reached."""
        self._commits.start()
        handle = asyncio.get_running_loop().add_signal_handler
        handle(signal.SIGTERM, self._stopping.set)
        handle(signal.SIGINT, self._stopping.set)
        public = PublicOrigins(self._config.runner.public_urls, self._config.runner.proxies)
        await self._servers.serve(
            lambda listener: Guard(self._apps, self._credentials, listener.hosts, self._attendance.called, public)
        )
        self._indexer.start()
        self._run(self._watch_token())
        self._run(self._index())
        self._run(self._follow_texts())
        url, beyond = self._servers.url, self._servers.public_url
        logger.info("ready", url=url, hub_id=self._hub_id, events=self._source.place, at=time.time())
        more = {"public_url": beyond} if beyond else {}
        self._home.write_note(pid=os.getpid(), url=url, version=__version__, hub_id=self._hub_id, **more)
        self._say(f"The hub is ready at {url}" + (f" and {beyond}" if beyond else ""))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run this in the background until the hub stops."""
        self._exits.callback(asyncio.create_task(work).cancel)

    def sign_in_link(self) -> str:
        """A link that signs in one page, once."""
        return f"{self._servers.url}/login?code={self._credentials.codes.new('page', 600.0)}"

    async def wait_for_stop(self) -> None:
        """Wait for a signal, or the end of a server."""
        ends = [asyncio.create_task(self._stopping.wait()), asyncio.create_task(self._servers.wait_for_end())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
