"""A daemon behind a real reverse proxy with TLS of its own: who gets in by its public name, and who does not."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from socket import create_connection

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from quarterdeck.config.addresses import origin_problem
from tests.support.daemon import Daemon, Json, until
from tests.support.raw_http import JSON, Answer, Headers, bearer, send
from tests.support.reverse_proxy import NAME, free_port, needs_nginx, reverse_proxy

pytestmark = [needs_nginx, pytest.mark.law("A4")]


class Proxied:
    """A daemon, and the port and the certificate of the proxy before it."""

    def __init__(self, daemon: Daemon, port: int, trust: ssl.SSLContext) -> None:
        self.daemon, self.port, self.trust = daemon, port, trust

    @property
    def origin(self) -> str:
        return f"https://{NAME}:{self.port}"

    def call(self, method: str, path: str, headers: Headers = (), body: bytes = b"") -> Answer:
        return send(self.port, method, path, headers, body, tls=self.trust, name=NAME)

    def sign_in(self, purpose: str = "phone") -> tuple[str, Json]:
        """Sign in a browser; returns its cookie and itself."""
        made = self.daemon.api("POST", "/pairing-codes", {"purpose": purpose})[1]
        cookie = self.call("GET", f"/login?code={made['code']}").header("set-cookie") or ""
        return cookie, self.call("GET", "/api/v1/me", [("Cookie", cookie.partition(";")[0])]).json


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder, port = tmp_path_factory.mktemp("proxy"), free_port()
    origin = f"https://{NAME}:{port}"
    assert origin_problem(origin) is None
    env = {"QUARTERDECK_RUNNER_PUBLIC_URLS": origin, "QUARTERDECK_RUNNER_PROXIES": "127.0.0.1"}
    with Daemon(folder / "qd", env=env) as daemon, reverse_proxy(folder, port, daemon.port) as trust:
        yield Proxied(daemon, port, trust)


def test_the_page_and_a_paired_phone_are_served_by_the_public_name(proxied: Proxied) -> None:
    assert proxied.daemon.note()["public_url"] == proxied.origin
    assert proxied.call("GET", "/").status == 200
    cookie, me = proxied.sign_in()
    assert cookie.endswith("; Secure")
    assert me["scopes"] == ["approve", "observe"]
    own = [("Cookie", cookie.partition(";")[0]), ("Origin", proxied.origin), JSON]
    assert proxied.call("POST", "/api/v1/me/step-up", [*own, ("X-CSRF-Token", me["csrf"])], b"{}").status == 200
    assert proxied.call("POST", "/api/v1/me/step-up", own, b"{}").json["error"]["kind"] == "csrf"


def test_a_phone_follows_the_desk_over_the_websocket(proxied: Proxied) -> None:
    cookie, _ = proxied.sign_in()
    where, named = f"wss://{NAME}:{proxied.port}/ws", {"Cookie": cookie.partition(";")[0]}
    hello = json.dumps({"type": "hello", "protocol": 2, "client": "web", "topics": ["requests"]})

    def open_as(origin: str) -> ClientConnection:
        to_nginx = create_connection(("127.0.0.1", proxied.port))
        return connect(
            where,
            sock=to_nginx,
            ssl=proxied.trust,
            server_hostname=NAME,
            origin=Origin(origin),
            additional_headers=named,
        )

    with open_as(proxied.origin) as socket:
        socket.send(hello)
        assert '"resume":"ok"' in str(socket.recv())
    for origin in ("https://evil.example", f"http://{NAME}:{proxied.port}", "null"):
        with pytest.raises(InvalidStatus, match="403"):
            open_as(origin)


@pytest.mark.law("D14")
def test_the_owners_token_is_refused_there_as_no_process_is_known(proxied: Proxied) -> None:
    for path in ("/api/v1/sessions", "/api/v1/tokens", "/metrics"):
        refused = proxied.call("GET", path, [bearer(proxied.daemon.token)])
        assert (refused.status, refused.json["error"]["kind"]) == (403, "local_only")
    hook_token = (proxied.daemon.home / "hook-token").read_text().strip()
    assert proxied.call("POST", "/hook", [bearer(hook_token), JSON], b"{}").status == 403
    direct = [bearer(proxied.daemon.token), ("X-Forwarded-For", "1.2.3.4")]
    assert send(proxied.daemon.port, "GET", "/api/v1/me", direct).status == 403
    assert proxied.daemon.api("GET", "/me")[0] == 200
    made = proxied.daemon.api("POST", "/tokens", {"name": "script", "scopes": ["observe"]})[1]
    assert proxied.call("GET", "/api/v1/sessions", [bearer(made["token"])]).status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 401),
        ([("Cookie", "quarterdeck_1=x")], 401),
        ([("Cookie", "quarterdeck_4180=qdt_wrong")], 401),
        ([("Origin", "https://evil.example")], 403),
        ([("Origin", "null")], 403),
        ([("Host", "evil.example")], 421),
    ],
)
def test_nobody_else_is_served(proxied: Proxied, headers: list[tuple[str, str]], status: int) -> None:
    assert proxied.call("GET", "/api/v1/sessions", headers).status == status


def test_forged_forwarded_headers_change_nothing(proxied: Proxied) -> None:
    forged = [("X-Forwarded-Host", "127.0.0.1"), ("Forwarded", "for=127.0.0.1;proto=http;host=localhost")]
    assert proxied.call("GET", "/api/v1/sessions", [*forged, bearer(proxied.daemon.token)]).status == 403
    cookie, me = proxied.sign_in()
    plain = [("Cookie", cookie.partition(";")[0]), ("X-Forwarded-Proto", "http"), ("Origin", proxied.origin), JSON]
    assert proxied.call("POST", "/api/v1/me/step-up", [*plain, ("X-CSRF-Token", me["csrf"])], b"{}").status == 200


def test_a_proxy_that_is_not_trusted_is_named_in_the_refusal(
    proxied: Proxied, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, port = tmp_path_factory.mktemp("untrusted"), free_port()
    origin = f"https://{NAME}:{port}"
    with (
        Daemon(folder / "qd", env={"QUARTERDECK_RUNNER_PUBLIC_URLS": origin}) as daemon,
        reverse_proxy(folder, port, daemon.port) as trust,
    ):
        other = Proxied(daemon, port, trust)
        cookie, me = other.sign_in()
        assert "Secure" not in cookie
        own = [("Cookie", cookie.partition(";")[0]), ("Origin", origin), JSON, ("X-CSRF-Token", me["csrf"])]
        refused = other.call("POST", "/api/v1/me/step-up", own, b"{}")
        assert refused.status == 403
        assert "runner.proxies" in refused.json["error"]["message"]


@pytest.mark.law("A7")
def test_a_revoked_phone_is_cut_off_there_too(proxied: Proxied) -> None:
    cookie, me = proxied.sign_in()
    assert proxied.daemon.api("DELETE", f"/devices/{me['device_id']}")[0] == 200
    named = [("Cookie", cookie.partition(";")[0])]
    until(lambda: proxied.call("GET", "/api/v1/me", named).status == 401, what="the end of its access")
