"""No secret leaves: hundreds of texts with one, hundreds of innocent ones, in text and in JSON."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.audit.redaction import HIDDEN
from quarterdeck.link.redaction.secret_remover import SecretRemover
from tests.support.secret_corpus import Secret, innocent, secrets

SECRETS, INNOCENT = secrets(), innocent()


def test_the_corpus_is_large() -> None:
    assert len(SECRETS) >= 300
    assert len(set(INNOCENT)) >= 200


def test_no_secret_of_the_corpus_leaves_and_its_place_is_marked() -> None:
    remover = SecretRemover()
    for text, secret in SECRETS:
        shown = remover.text(text)
        assert secret not in shown, text
        assert secret[8:-8] not in shown or len(secret) < 32, text
        assert HIDDEN in shown, text


def test_no_secret_of_the_corpus_leaves_in_an_event() -> None:
    remover = SecretRemover()
    for text, secret in SECRETS:
        for value in ({"command": text}, {"lines": [text]}, [{"deep": {"deeper": text}}], {text: 1}):
            shown = remover.body(msgspec.json.encode({"seq_no": 1, "data": {"tool_input": value}}))
            assert msgspec.json.encode(secret)[1:-1] not in shown, text


def test_innocent_texts_are_unharmed() -> None:
    remover = SecretRemover()
    harmed = [(text, shown) for text in INNOCENT if (shown := remover.text(text)) != text]
    assert harmed == []


def test_an_innocent_event_keeps_its_bytes() -> None:
    remover = SecretRemover()
    body = b'{"seq_no": 1,  "session_id": "5bcc959a-1f0e-4c7b-9a51-0e9b7e2c6d11", "data": {"command": "make test"}}'
    assert remover.body(body) is body


@pytest.mark.parametrize("name", ["password", "api_key", "client_secret", "DB_PASSWORD", "accessToken", "x-api-key"])
def test_under_the_name_of_a_secret_all_of_the_value_is_one(name: str) -> None:
    assert SecretRemover().clean({name: "two words-9"}) == {name: HIDDEN}
    assert SecretRemover().clean({name: "required"}) in ({name: "required"}, {name: HIDDEN})
    assert SecretRemover().clean({name: 42, f"{name}s_used": 3}) == {name: 42, f"{name}s_used": 3}


def test_a_known_secret_is_removed_even_where_it_looks_innocent() -> None:
    remover = SecretRemover(["plainword"])
    remover.learn('quo"ted and ünusual')
    remover.learn("short")
    assert remover.text("say plainword now") == f"say {HIDDEN} now"
    body = msgspec.json.encode({"data": {"text": 'a quo"ted and ünusual b', "other": "short"}})
    assert msgspec.json.decode(remover.body(body)) == {"data": {"text": f"a {HIDDEN} b", "other": "short"}}


@pytest.mark.law("H16")
def test_verifiers_and_raw_payloads_never_leave() -> None:
    event = {"kind": "token.create", "data": {"token_id": "t1", "verifier": "ab" * 32, "raw": {"a": 1}, "payload": "x"}}
    assert msgspec.json.decode(SecretRemover().body(msgspec.json.encode(event)))["data"] == {"token_id": "t1"}


def test_ids_and_digests_of_quarterdeck_are_kept() -> None:
    ids = {
        "request_id": "hK9mQ2vL8nR4tY7wP3sD6fG1",
        "digest": "ab" * 32,
        "tool_use_id": "toolu_01A09q90qw90lq917835lq9AbC",
    }
    assert SecretRemover().clean({**ids, "password": "s3cr3t-9"}) == {**ids, "password": HIDDEN}


@given(st.recursive(st.text() | st.integers() | st.none(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_json_stays_json_and_a_second_look_finds_nothing(value: object) -> None:
    remover = SecretRemover()
    once = remover.body(msgspec.json.encode(value))
    assert remover.body(once) == once


@given(st.sampled_from(SECRETS), st.text(max_size=30), st.text(max_size=30))
def test_lines_around_a_secret_do_not_hide_it(secret: Secret, before: str, after: str) -> None:
    shown = SecretRemover().text(f"{before}\n{secret.text}\n{after}")
    assert secret.secret not in shown or secret.secret in before + after
