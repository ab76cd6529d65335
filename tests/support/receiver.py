"""A real HTTP server on loopback that takes notifications, or does as a broken one does."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.support.daemon import Json, until


class Taken:
    """One POST as it came."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path, self.headers, self.body = path, headers, body

    @property
    def json(self) -> Json:
        return dict(json.loads(self.body))


class Receiver:
    """With `with` it listens inside. `statuses` are what it answers with, the last one for ever; `hang` never answers,
    `tls` speaks TLS with this certificate and key."""

    def __init__(self, *statuses: int, hang: bool = False, tls: tuple[str, str] | None = None) -> None:
        self.taken: list[Taken] = []
        left = list(statuses or (200,))
        released = self._released = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.taken.append(Taken(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                if hang:
                    released.wait()
                status = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def until_taken(self, count: int, seconds: float = 15.0) -> list[Taken]:
        """Wait until so many have come."""
        until(lambda: len(self.taken) >= count, seconds, what=f"{count} notifications")
        return self.taken
