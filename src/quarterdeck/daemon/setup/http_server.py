"""The listeners: uvicorn with Quarterdeck's limits, in plain on loopback, and only with TLS beyond it."""

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

from quarterdeck.api.http.asgi import App, Receive, Scope, Send
from quarterdeck.config.addresses import USUAL_PORTS
from quarterdeck.daemon.setup.certificates import Certificate
from quarterdeck.daemon.telemetry.escaped_errors import head_of, log_escaped_error

# A stop must not take longer than a person waits; every held call has its answer before the drain begins.
DRAIN_SECONDS = 2
# Finds a client that vanished without closing, as a suspended laptop does.
PING_SECONDS = 15.0
SILENT_SECONDS = 10.0
"""How long a new connection may take to send its request."""
# A client that reads nothing would keep its connection, and what is queued for it, forever.
HANG_UP_SECONDS = 5.0
# The same when the daemon stops: within DRAIN_SECONDS.
STOP_SECONDS = 0.5
FRAME_BYTES = 4 * 1024 * 1024
HEAD_BYTES = 64 * 1024
"""The longest head of a request. It is counted before it is parsed, because the parser copies a long header again and
again: 64 MiB of one would stop every other client for seconds."""
PIECE_BYTES = 16 * 1024


QUIET_LOGGER = logging.getLogger("uvicorn.websocket")
"""Connections and their queries are not logged: any client could fill the log with them."""
QUIET_LOGGER.setLevel(logging.ERROR)


class DaemonServer(uvicorn.Server):
    """uvicorn without its own signal handling, which would wait for held requests and then raise again."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that always ends: a client that reads nothing is not waited for, and nothing is queued for it."""

    _owed = b""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = QUIET_LOGGER

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
        """Close the connection on text that is not UTF-8: a mistake of the client, so it is not logged."""
        if self.curr_msg_data_type == "text" and not _is_text(self.frames):
            self.conn.send_close(1007)
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        """Send a pong; a client that does not read gets only the last one, once it reads again."""
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
        """Close on bytes that are not WebSocket; before the handshake without a close frame."""
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
        """Abort after a moment in which the client can read the rest."""
        self.loop.call_later(seconds, self.transport.abort)


def _is_text(parts: list[bytes]) -> bool:
    try:
        b"".join(parts).decode()
    except UnicodeDecodeError:
        return False
    return True


class HttpProtocol(HttpToolsProtocol):
    """A connection that sends nothing is closed: otherwise any local client could use up all descriptors. Bytes that
    are no body (a head, trailers, blank lines) have a limit, and a target must be a path."""

    _silent: asyncio.TimerHandle | None = None
    _since_progress = 0
    _has_progress = False

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE_BYTES):
            piece = data[start : start + PIECE_BYTES] if len(data) > PIECE_BYTES else data
            self._has_progress = False
            try:
                super().data_received(piece)
            except Exception:
                log_escaped_error("http", piece, is_head=not self._has_progress)
                self.transport.abort()
                return
            if self.transport.is_closing() or self.transport.get_protocol() is not self:
                return
            self._since_progress = 0 if self._has_progress else self._since_progress + len(piece)
            if self._since_progress >= HEAD_BYTES - PIECE_BYTES:
                self._refuse_head()
                return

    def _refuse_head(self) -> None:
        """Answer, unless that would go into another answer, and read no more."""
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(HEAD_TOO_LARGE)
        self.transport.close()

    def on_message_begin(self) -> None:
        self._has_progress = True
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        self._has_progress = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._has_progress = True
        super().on_message_complete()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._silent = self.loop.call_later(SILENT_SECONDS, transport.abort)

    def on_headers_complete(self) -> None:
        if self._silent is not None:
            self._silent.cancel()
            self._silent = None
        if not self.url.startswith(b"/"):
            raise ValueError("the target is not a path")  # the parser reports it as malformed, which answers 400
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._silent is not None:
            self._silent.cancel()
        super().connection_lost(exc)


_TOO_LARGE = b'{"error":{"kind":"too_large","message":"the head of a request has at most 64 KiB"}}'
HEAD_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_TOO_LARGE), _TOO_LARGE)
)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def logging_errors(app: App) -> App:
    """The application, with its errors logged beside the head of their request."""

    async def logged(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except Exception:
            log_escaped_error(scope["type"], head_of(scope), is_head=True)
            raise

    return logged


def uvicorn_config(app: App, certificate: Certificate | None = None, frame_bytes: int = FRAME_BYTES) -> uvicorn.Config:
    return uvicorn.Config(
        cast(Any, logging_errors(app)),
        log_config=None,
        access_log=False,
        lifespan="off",
        http=HttpProtocol,
        ws=WebSocketProtocol,
        ws_max_size=frame_bytes,
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
    """Every spelling of `Host` for a listener; a browser leaves out the usual port."""
    shown = [f"[{name}]" if ":" in name else name.lower() for name in names]
    return [f"{name}:{port}" for name in shown] + (shown if port == USUAL_PORTS[scheme] else [])
