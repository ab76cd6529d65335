"""Tokens of people at the hub: in force once they are stored, and recorded."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.core.engine.messages import CreateToken, ElevateToken
from quarterdeck.hub.hub_tokens import HubTokens
from quarterdeck.hub.store.records import RecordQuery, list_records
from quarterdeck.hub.store.token_rows import read_tokens
from tests.support.hub_parts import hub_parts


async def test_a_token_is_created_elevated_and_revoked_with_a_record_of_each(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        new = CreateToken(token_id="t1", name="deck", scopes=("observe",), verifier="v", by="ann via cli", at=5.0)
        assert (await hub.tokens.create(new)).outcome == "applied"
        more = ElevateToken(token_id="t1", scopes=("approve",), until=9.0, by="ann", at=6.0)
        assert (await hub.tokens.elevate(more)).outcome == "applied"
        assert HubTokens(hub.commits, read_tokens(hub.db)).all()[0].scopes_at(7.0) == ("observe", "approve")
        assert (await hub.tokens.revoke("t1", "ann")).outcome == "applied"
        assert (await hub.tokens.revoke("t1", "ann")).outcome == "not_found"
        assert hub.tokens.by_id() == {}
        kinds = [(one.record.kind, one.record.who) for one in list_records(hub.db, RecordQuery())]
        assert kinds == [("token.create", "ann"), ("token.elevate", "ann"), ("token.revoke", "ann")]
