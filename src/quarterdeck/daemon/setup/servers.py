"""The HTTP servers of one daemon: one for each listener."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quarterdeck.api.http.asgi import App
from quarterdeck.config.settings import Config
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.daemon.setup.http_server import DRAIN_SECONDS, FRAME_BYTES, DaemonServer, url_of, uvicorn_config
from quarterdeck.daemon.setup.listeners import Listener, loopback_listener, public_url, tls_listeners


class Servers:
    """Takes its ports when it is made, so that a port in use ends the start early, and serves on them from `serve` to
    `drain`. Until then a client is refused at once, instead of waiting for the rest of the start."""

    def __init__(self, home: Home, config: Config, frame_bytes: int = FRAME_BYTES) -> None:
        self._listeners = [loopback_listener(home, config), *tls_listeners(home, config)]
        self._frame_bytes = frame_bytes
        self._servers: list[DaemonServer] = []
        self._serving: list[asyncio.Task[None]] = []
        self.url = url_of(self._listeners[0].socket)
        self.public_url = public_url(config, self._listeners)

    async def serve(self, app_of: Callable[[Listener], App]) -> None:
        """Serve an app on each listener; returns when all can be reached."""
        for listener in self._listeners:
            server = DaemonServer(uvicorn_config(app_of(listener), listener.certificate, self._frame_bytes))
            self._servers.append(server)
            self._serving.append(asyncio.create_task(server.serve(sockets=[listener.socket])))
        for server in self._servers:
            await server.ready.wait()

    async def wait_for_end(self) -> None:
        """Wait until a server ends by itself."""
        await asyncio.wait(self._serving, return_when=asyncio.FIRST_COMPLETED)

    async def drain(self) -> None:
        """Let the open calls end, for DRAIN_SECONDS at most, and close."""
        for server in self._servers:
            server.should_exit = True
        if self._serving:
            await asyncio.wait(self._serving, timeout=DRAIN_SECONDS + 1)
        for listener in self._listeners:
            listener.socket.close()
