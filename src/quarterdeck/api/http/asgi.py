"""ASGI types, security headers and the error shape, for routes outside Litestar."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from quarterdeck.wire import write_json

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

SECURITY: list[Header] = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
API_POLICY: Header = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
PAGE_POLICY: Header = (
    b"content-security-policy",
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    b"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
)
NO_STORE: Header = (b"cache-control", b"no-store")
JSON_HEADERS: list[Header] = [(b"content-type", b"application/json"), NO_STORE, *SECURITY, API_POLICY]


def error_body(kind: str, message: str, **more: Any) -> bytes:
    """The body of an error: every error has this shape."""
    return write_json({"error": {"kind": kind, "message": message, **more}})


async def respond(send: Send, status: int, body: bytes = b"", headers: Iterable[Header] | None = None) -> None:
    """Send a whole response. One without a body gets no headers but those passed."""
    shown = [*(JSON_HEADERS if headers is None and body else headers or ())]
    if body:
        shown.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": shown})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, status: int, kind: str, message: str, **more: Any) -> None:
    """Send an error."""
    await respond(send, status, error_body(kind, message, **more))


async def reject_socket(send: Send, status: int, kind: str, message: str) -> None:
    """Refuse a WebSocket at its upgrade with an error."""
    headers = [*JSON_HEADERS, (b"connection", b"close")]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": error_body(kind, message)})


def securely(send: Send) -> Send:
    """Add the security headers to the responses of an application that does not send them itself."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            names = {name.lower() for name, _ in headers}
            defaults = [NO_STORE, *SECURITY, API_POLICY]
            message["headers"] = headers + [header for header in defaults if header[0] not in names]
        await send(message)

    return sending
