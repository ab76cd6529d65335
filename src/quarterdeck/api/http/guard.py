"""The guard in front of every route: checks Host, Origin, credential and scope before it reads anything else."""

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
    reject_socket,
    respond,
    securely,
)
from quarterdeck.api.http.credentials import Credentials, Principal, csrf_of
from quarterdeck.api.http.pairing_codes import COOKIE_KINDS, TOKEN_KINDS
from quarterdeck.api.http.public_origins import LOCAL_KINDS, NO_PROXY, PublicOrigins, is_proxied

UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
WITHOUT_CREDENTIAL = {"/healthz": "GET", "/api/v1/pair": "POST"}
"""The routes of the API that need none: the second one trades a pairing code for a credential."""
OWNER_THROUGH_PROXY = (
    "the owner's token is accepted from this machine only, where the calling process is known; sign in this device: qd "
    "pair"
)


class Routes(Struct, frozen=True):
    """The scope of each path and method; others need `observe`."""

    table: tuple[tuple[re.Pattern[str], Mapping[str, str]], ...] = ()

    def scope_of(self, path: str, method: str) -> str:
        for pattern, methods in self.table:
            if method in methods and pattern.fullmatch(path):
                return methods[method]
        return "observe"

    def methods_of(self, path: str) -> set[str]:
        """Every method of a path."""
        return next((set(methods) for pattern, methods in self.table if pattern.fullmatch(path)), set())


class GuardedApps(Struct, frozen=True, kw_only=True):
    """The applications behind the guard. `runners`, at a hub, authenticates its connections itself."""

    hook: App
    removed_hook: App
    api: App
    live: App
    pages: App
    runners: App | None = None
    page_paths: frozenset[str] = frozenset()
    routes: Routes = Routes()


class ApiCall(Struct, frozen=True, kw_only=True):
    """A call of the API, as far as it tells whether a person made it. `from_terminal`: by a command in a terminal."""

    credential: str
    method: str
    path: str
    from_terminal: bool = False


class Guard:
    """Passes allowed requests on. `hosts` are the exact `host:port` spellings of one listener, `public` the names that
    reach it through a proxy; `seen` is called for every API request with a valid credential."""

    def __init__(
        self,
        apps: GuardedApps,
        credentials: Credentials,
        hosts: Iterable[str],
        seen: Callable[[ApiCall], None],
        public: PublicOrigins = NO_PROXY,
    ) -> None:
        self._apps = apps
        self._credentials = credentials
        self._hosts = frozenset(host.encode() for host in hosts)
        self._origins = frozenset(scheme + host for host in self._hosts for scheme in (b"http://", b"https://"))
        self._seen = seen
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._live(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        pairs = scope["headers"]
        headers = dict(pairs)
        repeats = len(headers) != len(pairs)
        self._public.mark(scope, headers)
        if not self._is_served(headers) or (repeats and _is_ambiguous(pairs)):
            await refuse(send, 421, "foreign_host", "this Host is not served here")
        elif (origin := headers.get(b"origin")) is not None and not self._is_own_origin(scope, headers, origin):
            await refuse(send, 403, "foreign_origin", self._origin_problem(headers, origin))
        elif scope["path"] == "/hook":
            await self._hook(scope, headers, receive, send)
        elif WITHOUT_CREDENTIAL.get(scope["path"]) == scope["method"]:
            await self._apps.api(scope, receive, securely(send))
        elif scope["path"] in self._apps.page_paths:
            await self._apps.pages(scope, receive, send)
        else:
            await self._api(scope, headers, receive, securely(send))

    def _is_served(self, headers: Mapping[bytes, bytes]) -> bool:
        host = headers.get(b"host", b"").lower()
        return host in self._hosts or self._public.serves(host)

    def _is_own_origin(self, scope: Scope, headers: Mapping[bytes, bytes], origin: bytes) -> bool:
        """True only for pages of this listener or of the public URL that was called, over the scheme it uses."""
        tls = scope.get("scheme") in ("https", "wss")
        host = headers.get(b"host", b"").lower()
        known = origin in self._origins if host in self._hosts else self._public.accepts(host, origin)
        return known and origin.startswith(b"https://" if tls else b"http://")

    def _origin_problem(self, headers: Mapping[bytes, bytes], origin: bytes) -> str:
        if self._public.accepts(headers.get(b"host", b"").lower(), origin):
            return "this call came without TLS; if a reverse proxy forwards it, name its address in runner.proxies"
        return "this Origin may not call Quarterdeck"

    async def _hook(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        scheme, _, secret = headers.get(b"authorization", b"").partition(b" ")
        principal = self._credentials.principal(secret) if secret and scheme.lower() == b"bearer" else None
        if principal is None and self._credentials.was_removed(secret):
            await self._apps.removed_hook(scope, receive, send)
        elif principal is None:
            await self._unauthorized(scope, bool(secret), send)
        elif is_proxied(scope) and principal.kind in LOCAL_KINDS:
            await refuse(send, 403, "local_only", OWNER_THROUGH_PROXY)
        elif not principal.may("ingest"):
            await refuse(send, 403, "forbidden", "this token may not post hook events", scope="ingest")
        else:
            scope["qd_headers"] = headers
            await self._apps.hook(scope, receive, send)

    async def _api(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        """Authenticate and authorize, then pass on. The credential is checked before path, method and body, so that an
        unknown caller learns nothing about them."""
        principal, shown = self._authenticate(scope, headers)
        method = scope["method"]
        if principal is None:
            await self._unauthorized(scope, shown, send)
            return
        needed = self._apps.routes.scope_of(scope["path"], method)
        if is_proxied(scope) and principal.kind in LOCAL_KINDS:
            await refuse(send, 403, "local_only", OWNER_THROUGH_PROXY)
        elif not principal.may(needed):
            await refuse(send, 403, "forbidden", f"this token lacks the scope {needed}", scope=needed)
        elif b"authorization" not in headers and method in UNSAFE and not _has_csrf_token(principal, headers):
            await refuse(send, 403, "csrf", "a signed-in page must send its X-CSRF-Token; see GET /api/v1/me")
        elif method == "OPTIONS" and (methods := self._apps.routes.methods_of(scope["path"])):
            allow = ", ".join(sorted({*methods, "OPTIONS"})).encode()
            await send({"type": "http.response.start", "status": 204, "headers": [(b"allow", allow)]})
            await send({"type": "http.response.body", "body": b""})
        else:
            scope["qd_principal"] = principal
            terminal = headers.get(b"x-quarterdeck-terminal") == b"1"
            call = ApiCall(credential=principal.secret, method=method, path=scope["path"], from_terminal=terminal)
            self._seen(call)
            await self._apps.api(scope, receive, send)

    def _authenticate(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[Principal | None, bool]:
        """The caller, and whether it sent a credential at all. A cookie counts only without a token."""
        authorization = headers.get(b"authorization")
        if authorization is not None:
            scheme, _, secret = authorization.partition(b" ")
            known = self._credentials.principal(secret) if scheme.lower() == b"bearer" else None
            return known if known is None or known.kind in (*LOCAL_KINDS, *TOKEN_KINDS) else None, True
        secret = _cookie(headers, cookie_name(scope))
        if not secret or headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
            return None, False
        principal = self._credentials.principal(secret)
        return (principal if principal is not None and principal.kind in COOKIE_KINDS else None), True

    async def _unauthorized(self, scope: Scope, shown: bool, send: Send) -> None:
        if shown and self._credentials.failures.count(address_of(scope)):
            body = error_body("too_many_failures", "too many wrong credentials from here; wait a minute")
            await respond(send, 429, body, [*JSON_HEADERS, (b"retry-after", b"60")])
        else:
            await refuse(send, 401, "unauthorized", "a valid token is needed: Authorization: Bearer <token>")

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a WebSocket like any request. It may also send its credential in its first message."""
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        self._public.mark(scope, headers)
        await receive()
        if not self._is_served(headers) or _is_ambiguous(scope["headers"]):
            await reject_socket(send, 421, "foreign_host", "this Host is not served here")
        elif origin is not None and not self._is_own_origin(scope, headers, origin):
            await reject_socket(send, 403, "foreign_origin", self._origin_problem(headers, origin))
        else:
            await self._accepted(headers, scope, receive, send)

    async def _accepted(self, headers: dict[bytes, bytes], scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a runner, which has a credential of its own kind, or authenticate a surface."""
        if scope["path"] == "/ws/runner" and self._apps.runners is not None:
            await self._apps.runners(scope, receive, send)
        else:
            await self._live_as(*self._authenticate(scope, headers), scope, receive, send)

    async def _live_as(
        self, principal: Principal | None, shown: bool, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if shown and principal is None:
            self._credentials.failures.count(address_of(scope))
            await reject_socket(send, 401, "unauthorized", "a valid token is needed")
        elif principal is not None and is_proxied(scope) and principal.kind in LOCAL_KINDS:
            await reject_socket(send, 403, "local_only", OWNER_THROUGH_PROXY)
        elif principal is not None and not principal.may("observe"):
            await reject_socket(send, 403, "forbidden", "this token lacks the scope observe")
        elif scope["path"] != "/ws":
            await reject_socket(send, 404, "not_found", "the WebSocket is at /ws")
        else:
            scope["qd_principal"] = principal
            await self._apps.live(scope, receive, send)


def address_of(scope: Scope) -> str:
    """The caller's address, for counting its failures."""
    return str((scope.get("client") or ("",))[0])


def cookie_name(scope: Scope) -> str:
    """The cookie's name. It holds the port, as browsers share cookies between the ports of a host."""
    return f"quarterdeck_{(scope.get('server') or ('', 0))[1]}"


def set_cookie(scope: Scope, secret: str, seconds: float) -> str:
    """The Set-Cookie value of a page's credential: no script can read it and no other site can send it. Zero seconds
    deletes it."""
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{cookie_name(scope)}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={int(seconds)}{secure}"


def _cookie(headers: dict[bytes, bytes], name: str) -> bytes:
    try:
        found = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(name)
    except CookieError:
        return b""
    return found.value.encode("latin-1", "replace") if found else b""


def _has_csrf_token(principal: Principal, headers: dict[bytes, bytes]) -> bool:
    """True with the page's CSRF token: a form or an image of another site can send the cookie, never this header."""
    token = headers.get(b"x-csrf-token", b"")
    return hmac.compare_digest(token, csrf_of(principal).encode())


def _is_ambiguous(headers: list[tuple[bytes, bytes]]) -> bool:
    """True when a header that decides access appears more than once."""
    names = [key for key, _ in headers if key in (b"host", b"origin", b"authorization")]
    return len(names) != len(set(names))
