"""A surface's connection to its daemon, over REST and WebSocket; no call blocks the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.http import CALL_SECONDS, START_HINT, Client
from quarterdeck.surfaces.client.live import LiveClient
from quarterdeck.surfaces.client.remote import HINT as REMOTE_HINT
from quarterdeck.surfaces.client.remote import RemoteDaemon

Json = dict[str, Any]
T = TypeVar("T")
TOPICS = ["feed", "requests", "sessions"]
SURFACE = "tui"
PATIENCE = 300.0
LARGE = 256 * 1024
"""Size in bytes above which a command goes over REST, because a WebSocket frame may be 1 MiB at most."""


class DaemonConnection:
    """The connection to the daemon of one home, or to that of another machine. `place` is what people know it by: the
    home or the address."""

    def __init__(
        self,
        home: Path,
        where: Callable[[], tuple[str, str]] | None = None,
        remote: RemoteDaemon | None = None,
    ) -> None:
        self.remote = remote
        hint = REMOTE_HINT if remote else START_HINT
        self.way_to_start = hint[2:3].upper() + hint[3:]
        self._hint = hint
        self.place = remote.url if remote else str(home)
        self.where = where or (remote.endpoint if remote else lambda: Client.endpoint(home))
        self.live = LiveClient(self.where, client=SURFACE, topics=TOPICS)

    def client(self, seconds: float = CALL_SECONDS) -> Client:
        """A REST client for the daemon's current address."""
        url, token = self.where()
        return Client(url, token, SURFACE, seconds, self._hint)

    @property
    def url(self) -> str:
        """The daemon's address; empty while none is running."""
        try:
            return self.where()[0]
        except QuarterdeckError:
            return ""

    async def get(self, path: str, /, **query: Any) -> Json:
        """Read a view."""
        return await run_in_thread(lambda: self.client().get(f"/api/v1{path}", **query))

    async def post(self, path: str, body: Json) -> Json:
        """Send a command."""
        return await run_in_thread(lambda: self.client().post(f"/api/v1{path}", body))

    async def long_call(self, method: str, path: str, body: Json | None = None) -> Json:
        """Make a call that may take minutes, such as to start a session, install a plugin or scan for projects."""
        return await run_in_thread(lambda: self.client(PATIENCE).call(method, f"/api/v1{path}", body))

    async def delete(self, path: str) -> Json:
        """Delete a resource."""
        return await run_in_thread(lambda: self.client().call("DELETE", f"/api/v1{path}"))

    async def request(self, request_id: str) -> Json:
        """Read the card of a request."""
        return await self.get(f"/requests/{quote(request_id, safe='')}")

    async def decide(self, request: Json, **body: Any) -> Json:
        """Decide a request as it was shown: its digest is sent along."""
        decision = {key: value for key, value in body.items() if value is not None}
        decision |= {"request_id": request["request_id"], "digest": request["digest"]}
        if len(json.dumps(decision)) > LARGE:
            path = f"/requests/{quote(decision.pop('request_id'), safe='')}/decision"
            return await self.post(path, decision)
        result: Json = await self.live.command("decide", **decision)
        return result

    async def decide_many(self, decisions: list[Json]) -> list[Json]:
        """Decide several requests, each by its id and digest; each has its own result."""
        found = await self.post("/requests/decisions", {"decisions": decisions})
        return list(found["decisions"])


async def run_in_thread(call: Callable[[], T]) -> T:
    """Run a slow call in a daemon thread and return its result. Unlike an executor's, such a thread does not delay the
    exit of the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def finish(set_outcome: Callable[[], None]) -> None:
        if not done.cancelled():
            set_outcome()

    def run() -> None:
        set_outcome: Callable[[], None]
        try:
            set_outcome = partial(done.set_result, call())
        except Exception as error:
            set_outcome = partial(done.set_exception, error)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, set_outcome)

    threading.Thread(target=run, daemon=True).start()
    return await done
