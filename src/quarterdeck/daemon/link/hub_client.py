"""The client of a hub: joins and leaves it, connects, and comes back after every failure."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import secrets
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import structlog
from msgspec.structs import replace
from websockets.exceptions import WebSocketException

from quarterdeck.api.backend import Backend
from quarterdeck.api.http.asgi import App, error_body
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.config.settings import HubSettings
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.link.command_ledger import CommandLedger
from quarterdeck.daemon.link.hub_connection import HubConnection, LinkParts
from quarterdeck.daemon.link.hub_rules import HubRules
from quarterdeck.daemon.link.hub_socket import connect_trouble, hub_socket
from quarterdeck.daemon.link.in_process_call import ApiAnswer
from quarterdeck.daemon.link.link_report import link_report
from quarterdeck.daemon.link.outgoing.share_policy import SharePolicy
from quarterdeck.daemon.link.remote_calls import RemoteCalls
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.setup.joined_hub import HubAddress, HubMembership, hub_address, read_membership, stamp
from quarterdeck.errors import ConfigError
from quarterdeck.link.backoff import Backoff
from quarterdeck.link.messages import RegisteredMessage
from quarterdeck.link.redaction.secret_remover import SecretRemover
from quarterdeck.link.redaction.share_levels import EVERYTHING, ShareLevels
from quarterdeck.link.runner_link import RunnerLink
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

CURSOR = "hub"
WATCH_SECONDS = 1.0
SAVE_CURSOR_EVERY = 10
"""After this many looks the cursor is saved."""

logger = structlog.get_logger("link")


class HubClient:
    """The link of this machine, from `run` to its cancellation."""

    def __init__(
        self,
        home: Path,
        settings: HubSettings,
        name: str,
        loop: Loop,
        log: Log,
        reader: Reader,
        backend: Backend,
        live: Broadcaster,
        api: App,
        attendance: Attendance,
        known_secrets: list[str],
    ) -> None:
        self._home, self._settings, self._loop, self.log = home, settings, loop, log
        self._attendance = attendance
        self._membership = HubMembership()
        self._address: HubAddress | None = None
        self._trouble: str | None = None
        self._stamp: tuple[int, ...] = ()
        self._most = EVERYTHING
        self._secrets = SecretRemover(known_secrets)
        self._policy = self._make_policy()
        self._threads = ThreadPoolExecutor(1, "link"), ThreadPoolExecutor(1, "link-calls")
        self._ledger = CommandLedger(home / "link.db")
        self._rules = HubRules(loop, settings.may)
        self.parts = LinkParts(
            name=name,
            instance=secrets.token_hex(8),
            may=frozenset(settings.may),
            loop=loop,
            reader=reader,
            backend=backend,
            live=live,
            attendance=attendance,
            calls=RemoteCalls(api, self._ledger, settings.may, lambda: self._policy, self._threads[1], self._type),
            rules=self._rules,
            thread=self._threads[0],
            policy=lambda: self._policy,
            registered=self._registered,
        )
        self.link = self._new_link()
        self._since = time.time()
        self._has_new, self._changed = asyncio.Event(), asyncio.Event()
        self._saved_cursor: int | None = None
        self._running: asyncio.Task[None] | None = None
        self._connection: HubConnection | None = None
        loop.subscribe(lambda _: self._has_new.set())

    def _new_link(self) -> RunnerLink:
        s = self._settings
        backoff = Backoff(s.reconnect_initial_seconds, max(s.reconnect_initial_seconds, s.reconnect_max_seconds))
        return RunnerLink(self.log.cursor(CURSOR) or 0, backoff, s.heartbeat_seconds, time.monotonic())

    def report(self) -> dict[str, Any] | None:
        """What every surface shows of the link."""
        return link_report(
            self._address.url if self._address else None,
            self.link,
            since=self._since,
            last=self._loop.state.seq_no,
            event_bytes=self._event_bytes(),
            room=self._settings.backlog_bytes,
            may=list(self._settings.may),
            share=self._settings.share,
            folders=self._membership.share,
            people=self._attendance.at_hub,
            rules_refused=self._rules.refused,
            trouble=self._trouble,
        )

    def _event_bytes(self) -> float:
        """The usual size of an event in the log."""
        return self.log.used_bytes() / max(1, self.log.seq_no - self.log.trimmed)

    def make_room(self) -> None:
        """Let a trim remove what has waited longest for the hub, once it takes more than its room."""
        kept = int(self._settings.backlog_bytes / max(1.0, self._event_bytes()))
        self.log.unsent_from = max(0, self.log.seq_no - kept + 1)

    # the membership

    async def run(self) -> None:
        """Keep the link, until cancelled."""
        watcher = asyncio.create_task(self._watch())
        try:
            while True:
                self._changed.clear()
                await self.read_membership_files()
                if self._address is None:
                    await self._changed.wait()
                else:
                    await self._attempt(self._address)
        finally:
            watcher.cancel()
            await self._save_cursor()
            for thread in self._threads:
                thread.shutdown(wait=False, cancel_futures=True)

    async def _watch(self) -> None:
        """Look every second whether a file has changed: a hub was joined or left, a token or a level replaced."""
        for second in itertools.count(1):
            await asyncio.sleep(WATCH_SECONDS)
            if second % SAVE_CURSOR_EVERY == 0:
                await self._save_cursor()
            if stamp(self._home, self._address) != self._stamp:
                await self._files_changed()

    async def _files_changed(self) -> None:
        """A new token is for the next connection. Another hub or another level needs a new connection now, which begins
        with a new snapshot."""
        connection, before = self._connection, (self._address, self._membership)
        await self.read_membership_files()
        self._changed.set()
        if connection is not None and before != (self._address, self._membership):
            await connection.close()

    async def read_membership_files(self) -> None:
        before = self._address
        self._stamp = stamp(self._home, before)  # before the files are read: a change meanwhile is seen
        try:
            self._membership = read_membership(self._home)
            self._address, self._trouble = hub_address(self._home, self._settings, self._membership), None
        except ConfigError as error:
            self._address, self._trouble = None, str(error)
        if before != self._address:
            self._stamp = stamp(self._home, self._address)
        self._policy = self._make_policy()
        if before is not None and (self._address is None or self._address.url != before.url):
            self.link = self._new_link()
        in_hub = self._address is not None
        await self._loop.wait_until_idle()
        if self._loop.state.settings.in_hub != in_hub:
            self._loop.change_settings(replace(self._loop.state.settings, in_hub=in_hub))
        has_cursor = self.log.cursor(CURSOR) is not None
        if not in_hub and self._trouble is None and has_cursor:
            await self._rules.replace(())
            await self._loop.wait_until_idle()
            self.log.set_cursor(CURSOR, None)
        elif in_hub and not has_cursor:
            self.log.set_cursor(CURSOR, 0)

    def _make_policy(self) -> SharePolicy:
        levels = ShareLevels(self._settings.share, self._membership.share, self._most)
        return SharePolicy(levels, self._secrets, self._folder_of, self._session_of)

    def _registered(self, message: RegisteredMessage) -> None:
        self._since = time.time()
        self._most = message.config.withhold
        self._policy = self._make_policy()
        logger.info("the hub has registered this machine", epoch=message.epoch, events=message.last_seq_no)

    async def _type(self, name: str, args: Any) -> ApiAnswer:
        if self._connection is None:
            return ApiAnswer(409, error_body("no_terminal", "open the terminal first"))
        return await self._connection.streams.type(name, args)

    def _folder_of(self, session_id: str) -> str:
        state = self._loop.state
        session = state.sessions.get(session_id) or state.ended.get(session_id)
        return session.context.cwd if session else ""

    def _session_of(self, request_id: str) -> str:
        request = self._loop.find(request_id)
        return request.session_id if request else ""

    # one connection

    async def _attempt(self, address: HubAddress) -> None:
        """One connection, from its attempt to the end of the wait after it."""
        link, trouble = self.link, None
        link.connect(time.monotonic())
        try:
            token = address.token()
            self._secrets.learn(token)
            async with hub_socket(address.url, token) as socket:
                self._connection = HubConnection(self.parts, link, socket, self._has_new)
                await self._connection.run()
        except ConfigError as error:
            trouble = ("config", str(error))
        except (OSError, TimeoutError, WebSocketException, ssl.SSLError) as error:
            trouble = connect_trouble(error)
        except Exception as error:
            logger.exception("the link failed")
            trouble = ("failed", f"{type(error).__name__}; see the daemon's log")
        finally:
            self._connection = None
            self._attendance.at_hub = 0
            link.close(time.monotonic(), random.random(), trouble)  # noqa: S311 a wait needs no secret number
            self._since = time.time()
        logger.info("the link to the hub is down", trouble=link.trouble)
        await self._save_cursor()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, link.connect_at - time.monotonic())):
                await self._changed.wait()

    async def _save_cursor(self) -> None:
        """Keep how far the hub is. It is written seldom, as it costs a sync to disk: one that is too low only keeps a
        few events longer."""
        cursor = self.link.cursor
        if self._address is None or cursor == self._saved_cursor:
            return
        await self._loop.wait_until_idle()
        self.log.set_cursor(CURSOR, cursor)
        self._saved_cursor = cursor

    def start(self) -> None:
        """Begin."""
        self._running = asyncio.create_task(self.run())

    async def stop(self) -> None:
        """End the link, and close its files."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        self._ledger.close()
