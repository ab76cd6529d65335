"""Public origins, and what a proxy says about a call."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.api.http.public_origins import PublicOrigins, is_proxied

PUBLIC = PublicOrigins(
    ["https://desk.example.org", "https://Desk.tail.net:8443/", "http://plain.test:80"], ["127.0.0.1", "10.0.0.0/8"]
)


def scope(client: str = "127.0.0.1", kind: str = "http") -> dict[str, Any]:
    return {"type": kind, "client": (client, 5), "scheme": "http"}


@pytest.mark.law("A4")
@pytest.mark.parametrize(
    ("host", "origin", "accepted"),
    [
        (b"desk.example.org", b"https://desk.example.org", True),
        (b"desk.example.org:443", b"https://desk.example.org", True),
        (b"desk.tail.net:8443", b"https://desk.tail.net:8443", True),
        (b"plain.test", b"http://plain.test", True),
        (b"desk.tail.net", b"https://desk.tail.net", False),
        (b"desk.example.org:8443", b"https://desk.example.org:8443", False),
        (b"desk.example.org", b"http://desk.example.org", False),
        (b"desk.example.org", b"https://desk.tail.net:8443", False),
        (b"a.desk.example.org", b"https://a.desk.example.org", False),
        (b"", b"null", False),
    ],
)
def test_only_the_exact_origin_of_the_called_host_is_accepted(host: bytes, origin: bytes, accepted: bool) -> None:
    assert PUBLIC.accepts(host, origin) is accepted


@pytest.mark.parametrize(
    "headers",
    [
        {b"host": b"desk.example.org"},
        {b"host": b"127.0.0.1:4180", b"x-forwarded-for": b"1.2.3.4"},
        {b"host": b"127.0.0.1:4180", b"forwarded": b"for=1.2.3.4"},
    ],
)
def test_a_call_to_a_public_host_or_with_a_header_of_proxies_is_marked(headers: dict[bytes, bytes]) -> None:
    call = scope()
    PUBLIC.mark(call, headers)
    assert is_proxied(call)


def test_a_plain_call_is_not_marked() -> None:
    call = scope()
    PUBLIC.mark(call, {b"host": b"127.0.0.1:4180"})
    assert not is_proxied(call)
    assert call["scheme"] == "http"


@pytest.mark.parametrize(
    ("client", "kind", "proto", "scheme"),
    [
        ("127.0.0.1", "http", b"https", "https"),
        ("10.9.8.7", "http", b"https", "https"),
        ("127.0.0.1", "websocket", b"https", "wss"),
        ("127.0.0.1", "http", b"gopher", "http"),
        ("192.168.0.1", "http", b"https", "http"),
        ("", "http", b"https", "http"),
    ],
)
def test_the_scheme_is_believed_of_a_trusted_proxy_alone(client: str, kind: str, proto: bytes, scheme: str) -> None:
    call = scope(client, kind)
    PUBLIC.mark(call, {b"host": b"desk.example.org", b"x-forwarded-proto": proto})
    assert call["scheme"] == scheme
