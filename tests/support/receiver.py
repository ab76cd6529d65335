"""A real HTTP server on loopback that accepts notifications, or acts like a broken one."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.support.daemon import PATIENCE_SECONDS, Json, until


class Taken:
    """One POST as it came."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path, self.headers, self.body = path, headers, body

    @property
    def json(self) -> Json:
        return dict(json.loads(self.body))


class Receiver:
    """Listens inside a `with` block. `statuses` are its answers, the last one forever; `hang` never answers; `tls`
    speaks TLS with this certificate and key. It answers as soon as `answers` is set, as it is from the start."""

    def __init__(self, *statuses: int, hang: bool = False, tls: tuple[str, str] | None = None) -> None:
        self.taken: list[Taken] = []
        self.answers = threading.Event()
        self.answers.set()
        left = list(statuses or (200,))
        released = self._released = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.taken.append(Taken(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                if hang:
                    released.wait()
                receiver.answers.wait()
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
        self.answers.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)

    def until_taken(self, count: int, seconds: float = PATIENCE_SECONDS) -> list[Taken]:
        """Wait until this many have come."""
        until(lambda: len(self.taken) >= count, seconds, what=f"{count} notifications")
        return self.taken
