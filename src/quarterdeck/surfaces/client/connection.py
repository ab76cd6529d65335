"""The way to the daemon: follows it, asks it, orders it; nothing here waits on the loop."""

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
from quarterdeck.surfaces.client.http import CALL_SECONDS, Client
from quarterdeck.surfaces.client.live import Live

Json = dict[str, Any]
T = TypeVar("T")
TOPICS = ["feed", "requests", "sessions"]
SURFACE = "tui"
PATIENCE = 300.0
LARGE = 256 * 1024
"""Bytes from which on an order goes over REST, since a frame of ours may be 1 MiB at most."""


class Talk:
    """One daemon, by the home it runs in."""

    def __init__(self, home: Path, where: Callable[[], tuple[str, str]] | None = None) -> None:
        self.home = home
        self.where = where or (lambda: Client.where(home))
        self.live = Live(self.where, client=SURFACE, topics=TOPICS)

    def client(self, seconds: float = CALL_SECONDS) -> Client:
        """A client of the daemon as it is reached now."""
        url, token = self.where()
        return Client(url, token, SURFACE, seconds)

    @property
    def url(self) -> str:
        """Where the daemon listens; empty while none does."""
        try:
            return self.where()[0]
        except QuarterdeckError:
            return ""

    async def get(self, path: str, /, **query: Any) -> Json:
        """Read a view."""
        return await aside(lambda: self.client().get(f"/api/v1{path}", **query))

    async def post(self, path: str, body: Json) -> Json:
        """Order something."""
        return await aside(lambda: self.client().post(f"/api/v1{path}", body))

    async def slowly(self, method: str, path: str, body: Json | None = None) -> Json:
        """A call that may take a while: something is started, installed or looked for."""
        return await aside(lambda: self.client(PATIENCE).call(method, f"/api/v1{path}", body))

    async def delete(self, path: str) -> Json:
        """Take something away."""
        return await aside(lambda: self.client().call("DELETE", f"/api/v1{path}"))

    async def request(self, request_id: str) -> Json:
        """One request, whole."""
        return await self.get(f"/requests/{quote(request_id, safe='')}")

    async def decide(self, request: Json, **body: Any) -> Json:
        """Decide what was shown; its digest goes with it."""
        named = {key: value for key, value in body.items() if value is not None}
        named |= {"request_id": request["request_id"], "digest": request["digest"]}
        if len(json.dumps(named)) > LARGE:
            path = f"/requests/{quote(named.pop('request_id'), safe='')}/decision"
            return await self.post(path, named)
        result: Json = await self.live.command("decide", **named)
        return result

    async def decide_many(self, decisions: list[Json]) -> list[Json]:
        """Decide each of these, by its own id and digest; each has its own result."""
        found = await self.post("/requests/decisions", {"decisions": decisions})
        return list(found["decisions"])


async def aside(call: Callable[[], T]) -> T:
    """The result of a call that may take long, made in a thread that keeps nobody from leaving."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(settle: Callable[[], None]) -> None:
        if not done.cancelled():
            settle()

    def run() -> None:
        settle: Callable[[], None]
        try:
            settle = partial(done.set_result, call())
        except Exception as error:
            settle = partial(done.set_exception, error)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(tell, settle)

    threading.Thread(target=run, daemon=True).start()
    return await done
