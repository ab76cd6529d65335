"""The door in front of every route: Host, Origin and credential are checked before anything is read."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from msgspec import Struct

from quarterdeck.wire import write_json

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

NO_STORE = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


class Tokens(Struct):
    """The owner's credential, and the one that may only post hook events; either may be replaced while we run."""

    owner: bytes
    hook: bytes


def error_body(kind: str, message: str, **more: Any) -> bytes:
    """The one error shape."""
    return write_json({"error": {"kind": kind, "message": message, **more}})


async def respond(
    send: Send, status: int, body: bytes = b"", headers: Iterable[tuple[bytes, bytes]] = NO_STORE
) -> None:
    """A whole response at once."""
    shown = [*headers, (b"content-length", str(len(body)).encode())] if body else []
    await send({"type": "http.response.start", "status": status, "headers": shown})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, status: int, kind: str, message: str, **more: Any) -> None:
    """An error in the one shape."""
    await respond(send, status, error_body(kind, message, **more))


class Guard:
    """Lets a request through to `hook` or `api` when it may. `hosts` are exact `host:port` spellings."""

    def __init__(self, hook: App, api: App, tokens: Tokens, hosts: Iterable[str], seen: Callable[[], None]) -> None:
        self._hook = hook
        self._api = api
        self._tokens = tokens
        self._hosts = frozenset(host.encode() for host in hosts)
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._seen = seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        given = scope["headers"]
        headers = dict(given)
        origin = headers.get(b"origin")
        repeats = len(headers) != len(given)
        if headers.get(b"host", b"").lower() not in self._hosts or (repeats and _twice(given, b"host")):
            await refuse(send, 421, "foreign_host", "this Host is not served here")
        elif origin is not None and origin not in self._origins:
            await refuse(send, 403, "foreign_origin", "this Origin may not call Quarterdeck")
        elif scope["path"] == "/healthz":
            await self._api(scope, receive, send)
        else:
            await self._check(scope, headers, receive, send)

    def _check(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> Awaitable[None]:
        """Who calls, and whether they may; the credential comes before path, method and body."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        is_hook = hmac.compare_digest(token, self._tokens.hook)
        is_owner = not is_hook and hmac.compare_digest(token, self._tokens.owner)
        if scheme.lower() != b"bearer" or not (is_owner or is_hook):
            return refuse(send, 401, "unauthorized", "a valid token is needed: Authorization: Bearer <token>")
        if scope["path"] == "/hook":
            scope["qd_headers"] = headers
            return self._hook(scope, receive, send)
        if not is_owner:
            return refuse(send, 403, "forbidden", "this token may only post hook events")
        self._seen()
        return self._api(scope, receive, send)


def _twice(headers: list[tuple[bytes, bytes]], name: bytes) -> bool:
    return sum(1 for key, _ in headers if key == name) > 1
