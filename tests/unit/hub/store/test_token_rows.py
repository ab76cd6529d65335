"""Tokens in the store: in the order in which they were created, a change in its place."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from quarterdeck.core.model.state import Token
from quarterdeck.hub.store.hub_schema import open_hub_store
from quarterdeck.hub.store.token_rows import delete_token, kept_value, put_token, read_tokens


def token(token_id: str) -> Token:
    return Token(token_id=token_id, name=token_id, scopes=("observe",), verifier="v", created_at=1.0, created_by="ann")


def test_tokens_keep_their_order(tmp_path: Path) -> None:
    db = open_hub_store(tmp_path / "hub.db", "normal")
    for name in ("b", "a", "c"):
        put_token(db, token(name))
    put_token(db, replace(token("b"), name="new"))
    delete_token(db, "a")
    assert [one.name for one in read_tokens(db)] == ["new", "c"]
    assert kept_value(db, "hub_id", "h1") == "h1"
    assert kept_value(db, "hub_id", "h2") == "h1"
