"""Secrets after a word that names them."""

from __future__ import annotations

import pytest

from quarterdeck.link.redaction.secret_labels import LABEL, without_labelled


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("PASSWORD=opensesame", "PASSWORD=*"),
        ("password: opensesame", "password: opensesame"),
        ("password: 0pensesame", "password: *"),
        ('"token": "abc-123-def"', '"token": "*"'),
        ("token=$TOKEN", "token=$TOKEN"),
        ("Authorization: Bearer abcdefghijk9", "Authorization: Bearer *"),
        ("--api-key 12ab-34cd", "--api-key *"),
    ],
)
def test_the_value_after_the_word_is_replaced(text: str, shown: str) -> None:
    assert without_labelled(text, "*") == shown


@pytest.mark.parametrize("name", ["password", "API_KEY", "client-secret", "githubToken", "db.password"])
def test_a_name_of_a_secret(name: str) -> None:
    assert LABEL.fullmatch(name)


@pytest.mark.parametrize("name", ["tokens", "input_tokens", "keyboard", "author", "primary_key", "secretary", "path"])
def test_a_name_of_something_else(name: str) -> None:
    assert not LABEL.fullmatch(name)
