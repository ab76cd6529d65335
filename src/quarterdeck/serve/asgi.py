"""The few words of ASGI that the plain routes use, and the one error shape."""

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
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
)
NO_STORE: Header = (b"cache-control", b"no-store")
JSON_HEADERS: list[Header] = [(b"content-type", b"application/json"), NO_STORE, *SECURITY, API_POLICY]


def error_body(kind: str, message: str, **more: Any) -> bytes:
    """The one error shape."""
    return write_json({"error": {"kind": kind, "message": message, **more}})


async def respond(send: Send, status: int, body: bytes = b"", headers: Iterable[Header] = JSON_HEADERS) -> None:
    """A whole response at once."""
    shown = [*headers, (b"content-length", str(len(body)).encode())] if body else []
    await send({"type": "http.response.start", "status": status, "headers": shown})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, status: int, kind: str, message: str, **more: Any) -> None:
    """An error in the one shape."""
    await respond(send, status, error_body(kind, message, **more))


def securely(send: Send) -> Send:
    """Adds the headers every answer carries to those of an application that does not know them."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            wanted = [NO_STORE, *SECURITY, API_POLICY]
            message["headers"] = given + [header for header in wanted if header[0] not in names]
        await send(message)

    return sending
