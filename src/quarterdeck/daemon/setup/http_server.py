"""The listeners: uvicorn as we run it, on loopback in plain, beyond it only with TLS."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterator
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from quarterdeck.api.http.asgi import App
from quarterdeck.daemon.setup.certificates import Certificate

DRAIN_SECONDS = 2
PING_SECONDS = 15.0
SILENT_SECONDS = 10.0
"""How long a new connection may take to say what it wants."""
HANG_UP_SECONDS = 5.0
STOP_SECONDS = 0.5
FRAME_BYTES = 4 * 1024 * 1024
USUAL_PORTS = {"http": 80, "https": 443}


QUIET = logging.getLogger("uvicorn.websocket")
"""Who connects, and with what query, is no line of ours: anybody could fill the log with it."""
QUIET.setLevel(logging.ERROR)


class Server(uvicorn.Server):
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


class Socket(WebSocketsSansIOProtocol):
    """A WebSocket that ends: a client that reads nothing is not waited for, and nothing is piled up for it."""

    _owed = b""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = QUIET

    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions = cast(dict[str, Any], self.scope["extensions"])
            extensions["quarterdeck.abort"] = self.transport.abort
            extensions["quarterdeck.taken"] = self.writable.wait

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True
        if self.close_timer is not None:
            self.close_timer.cancel()
            self.close_timer = self.loop.call_later(HANG_UP_SECONDS, self.transport.abort)

    def send_receive_event_to_app(self) -> None:
        """Text that is none ends the connection: the client's mistake, and not one for our log."""
        if self.curr_msg_data_type == "text" and not _is_text(self.frames):
            self.conn.send_close(1007)
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        """A pong; to a client that does not read, only the last one, once it does."""
        pongs = self.conn.data_to_send()
        if self.writable.is_set():
            self.transport.write(b"".join(pongs))
        elif pongs:
            self._owed = pongs[-1]

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._owed and not self.close_sent:
            self.transport.write(self._owed)
        self._owed = b""

    def handle_close(self, event: Any) -> None:
        super().handle_close(event)
        self._abort_soon()

    def handle_parser_exception(self) -> None:
        """A client that speaks no WebSocket; one that did not even begin to gets no close frame."""
        if self.conn.close_sent is None:
            self.transport.abort()
            return
        super().handle_parser_exception()
        self._abort_soon()

    def shutdown(self) -> None:
        super().shutdown()
        self._abort_soon(STOP_SECONDS)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()

    def _abort_soon(self, seconds: float = HANG_UP_SECONDS) -> None:
        """What is still to be written has a moment to be read."""
        self.loop.call_later(seconds, self.transport.abort)


def _is_text(parts: list[bytes]) -> bool:
    try:
        b"".join(parts).decode()
    except UnicodeDecodeError:
        return False
    return True


class Http(HttpToolsProtocol):
    """A connection that says nothing is not kept: anybody on this machine can open them until no descriptor is left."""

    _silent: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._silent = self.loop.call_later(SILENT_SECONDS, transport.abort)

    def on_headers_complete(self) -> None:
        if self._silent is not None:
            self._silent.cancel()
            self._silent = None
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._silent is not None:
            self._silent.cancel()
        super().connection_lost(exc)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it exists."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def uvicorn_config(app: App, certificate: Certificate | None = None) -> uvicorn.Config:
    return uvicorn.Config(
        cast(Any, app),
        log_config=None,
        access_log=False,
        lifespan="off",
        http=Http,
        ws=Socket,
        ws_max_size=FRAME_BYTES,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,
        backlog=2048,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=600,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        ssl_certfile=str(certificate.cert) if certificate else None,
        ssl_keyfile=str(certificate.key) if certificate else None,
        ssl_ciphers="",
    )


def url_of(listening: socket.socket, scheme: str = "http", name: str | None = None) -> str:
    host, port = listening.getsockname()[:2]
    shown = name or host
    return f"{scheme}://[{shown}]:{port}" if ":" in shown else f"{scheme}://{shown}:{port}"


def hosts_of(port: int, names: list[str], scheme: str = "http") -> list[str]:
    """Every spelling of Host under which a listener may be called; a browser leaves out the usual port."""
    shown = [f"[{name}]" if ":" in name else name.lower() for name in names]
    return [f"{name}:{port}" for name in shown] + (shown if port == USUAL_PORTS[scheme] else [])
