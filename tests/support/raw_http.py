"""HTTP as bytes on a socket: any method, any path, headers in any order and repeated."""

import contextlib
import json
import socket
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The response; names in `headers` are in lower case."""

    status: int
    headers: Headers
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        """The kind of an error; fails when the response has another shape."""
        error = self.json["error"]
        assert set(self.json) == {"error"}, self.body
        assert error["message"], self.body
        return str(error["kind"])


def send(
    port: int,
    method: str,
    path: str,
    headers: Headers = (),
    body: bytes = b"",
    tls: ssl.SSLContext | None = None,
    name: str = "127.0.0.1",
) -> Answer:
    """Send one request on a new connection. Adds a Host header unless there is one."""
    names = [key.lower() for key, _ in headers]
    all_headers = [*([] if "host" in names else [("Host", f"{name}:{port}")]), *headers]
    if body or method in ("POST", "PUT", "PATCH"):
        all_headers.append(("Content-Length", str(len(body))))
    if "connection" not in names:
        all_headers.append(("Connection", "close"))
    lines = [f"{method} {path} HTTP/1.1", *(f"{key}: {value}" for key, value in all_headers)]
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
        wrapped = tls.wrap_socket(plain, server_hostname=name) if tls else plain
        with contextlib.suppress(ConnectionError):  # it may answer before it has read everything
            wrapped.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        content = b"".join(_chunks(wrapped))
        wrapped.close()
    return _read(content)


def _chunks(connection: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(1 << 16):
            yield chunk


def _read(content: bytes) -> Answer:
    head, _, body = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [(key.lower(), value.strip()) for key, _, value in (line.partition(":") for line in lines)]
    if ("transfer-encoding", "chunked") in headers:
        body = _joined(body)
    return Answer(status=int(first.split()[1]), headers=headers, body=body)


def _joined(chunked: bytes) -> bytes:
    whole = b""
    while chunked:
        size, _, chunked = chunked.partition(b"\r\n")
        whole, chunked = whole + chunked[: int(size, 16)], chunked[int(size, 16) + 2 :]
    return whole


def bearer(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


JSON = ("Content-Type", "application/json")
