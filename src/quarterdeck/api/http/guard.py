"""The door in front of every route: Host, Origin, credential and scope are checked before anything is read."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from http.cookies import CookieError, SimpleCookie

from msgspec import Struct

from quarterdeck.api.http.asgi import (
    JSON_HEADERS,
    App,
    Receive,
    Scope,
    Send,
    error_body,
    refuse,
    respond,
    securely,
    turn_away,
)
from quarterdeck.api.http.credentials import Access, Principal, csrf_of

UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Routes(Struct, frozen=True):
    """Which scope each path and method needs; what is not named needs `observe`."""

    table: tuple[tuple[re.Pattern[str], Mapping[str, str]], ...] = ()

    def scope_of(self, path: str, method: str) -> str:
        for pattern, methods in self.table:
            if method in methods and pattern.fullmatch(path):
                return methods[method]
        return "observe"

    def methods_of(self, path: str) -> set[str]:
        """Every method the path answers to."""
        return next((set(methods) for pattern, methods in self.table if pattern.fullmatch(path)), set())


class Doors(Struct, frozen=True, kw_only=True):
    """What stands behind the guard."""

    hook: App
    api: App
    live: App
    pages: App
    page_paths: frozenset[str] = frozenset()
    routes: Routes = Routes()


class Guard:
    """Lets a request through when it may. `hosts` are exact `host:port` spellings of one listener."""

    def __init__(self, doors: Doors, access: Access, hosts: Iterable[str], seen: Callable[[], None]) -> None:
        self._doors = doors
        self._access = access
        self._hosts = frozenset(host.encode() for host in hosts)
        self._origins = frozenset(scheme + host for host in self._hosts for scheme in (b"http://", b"https://"))
        self._seen = seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._live(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        given = scope["headers"]
        headers = dict(given)
        repeats = len(headers) != len(given)
        if headers.get(b"host", b"").lower() not in self._hosts or (repeats and _twice(given)):
            await refuse(send, 421, "foreign_host", "this Host is not served here")
        elif (origin := headers.get(b"origin")) is not None and not self._ours(scope, origin):
            await refuse(send, 403, "foreign_origin", "this Origin may not call Quarterdeck")
        elif scope["path"] == "/hook":
            await self._hook(scope, headers, receive, send)
        elif scope["path"] == "/healthz" and scope["method"] == "GET":
            await self._doors.api(scope, receive, securely(send))
        elif scope["path"] in self._doors.page_paths:
            await self._doors.pages(scope, receive, send)
        else:
            await self._api(scope, headers, receive, securely(send))

    def _ours(self, scope: Scope, origin: bytes) -> bool:
        """Only pages of this very listener, over the scheme it speaks."""
        tls = scope.get("scheme") in ("https", "wss")
        return origin in self._origins and origin.startswith(b"https://" if tls else b"http://")

    async def _hook(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        scheme, _, secret = headers.get(b"authorization", b"").partition(b" ")
        principal = self._access.who(secret) if secret and scheme.lower() == b"bearer" else None
        if principal is None:
            await self._unknown(scope, bool(secret), send)
        elif not principal.may("ingest"):
            await refuse(send, 403, "forbidden", "this token may not post hook events", scope="ingest")
        else:
            scope["qd_headers"] = headers
            await self._doors.hook(scope, receive, send)

    async def _api(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        """Who calls, and whether they may; the credential comes before path, method and body."""
        principal, shown = self._who(scope, headers)
        method = scope["method"]
        if principal is None:
            await self._unknown(scope, shown, send)
            return
        needed = self._doors.routes.scope_of(scope["path"], method)
        if not principal.may(needed):
            await refuse(send, 403, "forbidden", f"this token lacks the scope {needed}", scope=needed)
        elif principal.kind == "page" and method in UNSAFE and not _proves_itself(principal, headers):
            await refuse(send, 403, "csrf", "a signed-in page must send its X-CSRF-Token; see GET /api/v1/me")
        elif method == "OPTIONS" and (methods := self._doors.routes.methods_of(scope["path"])):
            allow = ", ".join(sorted({*methods, "OPTIONS"})).encode()
            await send({"type": "http.response.start", "status": 204, "headers": [(b"allow", allow)]})
            await send({"type": "http.response.body", "body": b""})
        else:
            scope["qd_principal"] = principal
            self._seen()
            await self._doors.api(scope, receive, send)

    def _who(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[Principal | None, bool]:
        """Who calls, and whether they showed a credential at all. A cookie counts only without a token."""
        authorization = headers.get(b"authorization")
        if authorization is not None:
            scheme, _, secret = authorization.partition(b" ")
            known = self._access.who(secret) if scheme.lower() == b"bearer" else None
            return known if known is None or known.kind != "page" else None, True
        secret = _cookie(headers, cookie_name(scope))
        if not secret or headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
            return None, False
        principal = self._access.who(secret)
        return (principal if principal is not None and principal.kind == "page" else None), True

    async def _unknown(self, scope: Scope, shown: bool, send: Send) -> None:
        if shown and self._access.failures.count(address_of(scope)):
            body = error_body("too_many_failures", "too many wrong credentials from here; wait a minute")
            await respond(send, 429, body, [*JSON_HEADERS, (b"retry-after", b"60")])
        else:
            await refuse(send, 401, "unauthorized", "a valid token is needed: Authorization: Bearer <token>")

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A WebSocket is checked like any request; it may also show its credential in its first message."""
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        await receive()
        if headers.get(b"host", b"").lower() not in self._hosts or _twice(scope["headers"]):
            await turn_away(send, 421, "foreign_host", "this Host is not served here")
        elif origin is not None and not self._ours(scope, origin):
            await turn_away(send, 403, "foreign_origin", "this Origin may not call Quarterdeck")
        else:
            await self._live_as(*self._who(scope, headers), scope, receive, send)

    async def _live_as(
        self, principal: Principal | None, shown: bool, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if shown and principal is None:
            self._access.failures.count(address_of(scope))
            await turn_away(send, 401, "unauthorized", "a valid token is needed")
        elif principal is not None and not principal.may("observe"):
            await turn_away(send, 403, "forbidden", "this token lacks the scope observe")
        elif scope["path"] != "/ws":
            await turn_away(send, 404, "not_found", "the socket is at /ws")
        else:
            scope["qd_principal"] = principal
            await self._doors.live(scope, receive, send)


def address_of(scope: Scope) -> str:
    """Where a caller is, for counting what goes wrong there."""
    return str((scope.get("client") or ("",))[0])


def cookie_name(scope: Scope) -> str:
    """Cookies do not tell ports apart, so the name does."""
    return f"quarterdeck_{(scope.get('server') or ('', 0))[1]}"


def set_cookie(scope: Scope, secret: str, seconds: float) -> str:
    """A page's credential: no script reads it, no other site sends it; of no seconds, it is forgotten."""
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{cookie_name(scope)}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={int(seconds)}{secure}"


def _cookie(headers: dict[bytes, bytes], name: str) -> bytes:
    try:
        found = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(name)
    except CookieError:
        return b""
    return found.value.encode("latin-1", "replace") if found else b""


def _proves_itself(principal: Principal, headers: dict[bytes, bytes]) -> bool:
    """A form or an image of another site sends our cookie along, never this header, and always its Origin."""
    given = headers.get(b"x-csrf-token", b"")
    return hmac.compare_digest(given, csrf_of(principal).encode())


def _twice(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether a header that decides anything stands there more than once."""
    names = [key for key, _ in headers if key in (b"host", b"origin", b"authorization")]
    return len(names) != len(set(names))
