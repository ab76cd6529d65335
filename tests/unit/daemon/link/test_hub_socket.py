"""The words for a hub that cannot be reached."""

from __future__ import annotations

import ssl

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from quarterdeck.daemon.link.hub_socket import HubConnect, connect_trouble, hub_socket


def answered(status: int) -> InvalidStatus:
    return InvalidStatus(Response(status, "", Headers(Location="https://evil.example.org")))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (answered(401), "unauthorized"),
        (answered(403), "unauthorized"),
        (answered(404), "not_a_hub"),
        (answered(301), "not_a_hub"),
        (ssl.SSLCertVerificationError("no"), "certificate"),
        (TimeoutError(), "unreachable"),
        (ConnectionRefusedError("refused"), "unreachable"),
    ],
)
def test_each_failure_has_its_kind(error: BaseException, kind: str) -> None:
    found, words = connect_trouble(error)
    assert found == kind
    assert words


@pytest.mark.law("H16")
def test_a_redirect_is_not_followed() -> None:
    redirect = answered(301)
    assert HubConnect("ws://127.0.0.1").process_redirect(redirect) is redirect


def test_the_address_of_the_hub_becomes_that_of_its_socket() -> None:
    assert hub_socket("http://127.0.0.1:4180", "t").uri == "ws://127.0.0.1:4180/ws/runner"
