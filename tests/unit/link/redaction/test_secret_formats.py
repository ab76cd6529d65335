"""Secrets with a form of their own."""

from __future__ import annotations

import pytest

from quarterdeck.link.redaction.secret_formats import without_keys_and_addresses, without_tokens
from tests.support.secret_corpus import SERVICES

KNOWN = {name: token for name, token in SERVICES.items() if not name.startswith("unknown")}


@pytest.mark.parametrize("name", KNOWN)
def test_the_token_of_a_service_is_known_by_its_beginning(name: str) -> None:
    assert without_tokens(f"({KNOWN[name]})", "*") == "(*)"


def test_an_address_keeps_its_name_and_loses_its_password() -> None:
    assert without_keys_and_addresses("redis://ann:pw12@cache:6379/0", "*") == "redis://ann:*@cache:6379/0"


def test_a_key_whose_end_is_cut_off_is_a_key() -> None:
    assert without_keys_and_addresses("a -----BEGIN RSA PRIVATE KEY-----\nMIIE", "*") == "a *"
