"""Credentials of a real daemon for tests, and every route of the daemon."""

import re
import time
from typing import cast

from litestar import Litestar
from litestar.routes import HTTPRoute

from quarterdeck.api.app import create_api
from quarterdeck.api.backend import Backend
from quarterdeck.api.http.agent_block import AgentGuard
from quarterdeck.api.http.credentials import Credentials, RateLimit
from quarterdeck.api.live.clients import Clients
from tests.support.daemon import Daemon, Json
from tests.support.raw_http import JSON, Answer, Headers, bearer, send

Route = tuple[str, str, str]
"""Method, path, and the scope it needs."""

OUTSIDE: list[Route] = [("POST", "/hook", "ingest"), ("GET", "/nowhere", "observe")]


def empty_api() -> Litestar:
    """The API without anything behind it."""
    credentials = Credentials("o" * 43, "h" * 43, dict)
    return create_api(cast(Backend, None), credentials, RateLimit(), cast(AgentGuard, None), cast(Clients, None))


def every_route() -> list[Route]:
    """Every route, read from the application so that none is forgotten; ids in paths do not exist."""
    app = empty_api()
    found = [
        (str(method), re.sub(r"\{[^}]*\}", "nothing", route.path), str(handler.opt.get("scope", "observe")))
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods - {"OPTIONS"}
    ]
    return sorted({route for route in [*found, *OUTSIDE] if route[2] != "none"})


def make_token(daemon: Daemon, *scopes: str, seconds: float | None = None) -> Json:
    """Create a token with exactly these scopes; returns `token` and `token_id`."""
    body = {"name": "+".join(scopes).replace("+", "-"), "scopes": scopes, "expires_seconds": seconds}
    status, made = daemon.api("POST", "/tokens", body)
    assert status == 201, made
    return dict(made)


def revoked_token(daemon: Daemon) -> str:
    made = make_token(daemon, "observe", "approve", "admin", "ingest")
    assert daemon.api("DELETE", f"/tokens/{made['token_id']}")[0] == 200
    return str(made["token"])


def expired_token(daemon: Daemon) -> str:
    made = make_token(daemon, "observe", "approve", "admin", "ingest", seconds=0.05)
    time.sleep(max(0.0, made["expires_at"] - time.time()) + 0.01)
    return str(made["token"])


class Page:
    """A page that signed in through a link."""

    def __init__(self, daemon: Daemon) -> None:
        self.port = daemon.port
        self.origin = ("Origin", daemon.url)
        _, code = daemon.api("POST", "/login-codes", {})
        self.answer = send(self.port, "GET", "/login" + code["url"].partition("/login")[2])
        assert self.answer.status == 303, self.answer
        self.set_cookie = self.answer.header("set-cookie") or ""
        self.cookie = ("Cookie", self.set_cookie.partition(";")[0])
        self.secret = self.cookie[1].partition("=")[2]
        self.csrf = ("X-CSRF-Token", str(self.call("GET", "/api/v1/me").json["csrf"]))

    def call(self, method: str, path: str, *headers: tuple[str, str], body: bytes = b"") -> Answer:
        """Call with the cookie and no other header."""
        return send(self.port, method, path, [self.cookie, *headers], body)


def as_token(daemon: Daemon, token: str, method: str, path: str, body: bytes = b"{}", more: Headers = ()) -> Answer:
    """Call with this token."""
    content = body if method in ("POST", "PUT", "PATCH") else b""
    return send(daemon.port, method, path, [bearer(token), JSON, *more], content)


def decide_a_thousand(daemon: Daemon, token: str) -> Answer:
    """The most decisions that fit in one call, about requests that do not exist."""
    body = b'{"decisions":[%b]}' % b",".join([b'{"request_id":"nothing"}'] * 1000)
    return as_token(daemon, token, "POST", "/api/v1/requests/decisions", body)
