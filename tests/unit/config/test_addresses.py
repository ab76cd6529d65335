"""Addresses: which text is an origin."""

from __future__ import annotations

import pytest

from quarterdeck.config.addresses import hub_url_problem, origin_problem


@pytest.mark.parametrize("url", ["https://desk.example.org", "https://desk.tail.net:8443", "http://[::1]:80/"])
def test_an_origin_is_a_scheme_a_host_and_perhaps_a_port(url: str) -> None:
    assert origin_problem(url) is None


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("desk.example.org", "must begin with"),
        ("ftp://desk.example.org", "must begin with"),
        ("https://*.example.org", "must name one host"),
        ("https://ann@desk.example.org", "must name one host"),
        ("https://dësk.example.org", "must name one host"),
        ("https://", "must name one host"),
        ("https://desk.example.org/page", "must have no path"),
        ("https://desk.example.org?a=b", "must have no path"),
        ("https://desk.example.org/#", "must have no path"),
        ("https://desk.example.org:0", "has no port 0"),
        ("https://desk.example.org:99999", "cannot be read"),
        ("https://[::1", "cannot be read"),
    ],
)
def test_what_is_no_origin_is_named(url: str, problem: str) -> None:
    assert problem in (origin_problem(url) or "")


@pytest.mark.parametrize(
    "url", ["https://hub.example.org", "http://127.0.0.1:4180", "http://localhost", "http://[::1]"]
)
def test_a_hub_is_reached_over_tls_or_on_this_machine(url: str) -> None:
    assert hub_url_problem(url) is None


@pytest.mark.parametrize("url", ["http://hub.example.org", "http://10.0.0.1", "wss://hub.example.org", "https://h/x"])
def test_no_token_goes_to_another_machine_in_plain_text(url: str) -> None:
    assert hub_url_problem(url) is not None
