"""The tokens and signed-in devices of the hub: people and their devices, not machines."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from quarterdeck.core.engine.messages import CommandReply, CreateToken, ElevateToken
from quarterdeck.core.model.state import Token
from quarterdeck.errors import StoreError
from quarterdeck.hub.store.commit_queue import Change, CommitQueue
from quarterdeck.hub.store.records import HubRecord, add_record
from quarterdeck.hub.store.token_rows import delete_token, put_token


class HubTokens:
    """The created credentials. A change is in force once it is on disk."""

    def __init__(self, commits: CommitQueue, tokens: Iterable[Token]) -> None:
        self._commits = commits
        self._tokens: Mapping[str, Token] = {token.token_id: token for token in tokens}

    def by_id(self) -> Mapping[str, Token]:
        """Every token. A change makes another mapping."""
        return self._tokens

    def all(self) -> list[Token]:
        return sorted(self._tokens.values(), key=lambda token: (token.created_at, token.token_id))

    async def create(self, command: CreateToken) -> CommandReply:
        token = Token(
            token_id=command.token_id,
            name=command.name,
            scopes=command.scopes,
            verifier=command.verifier,
            created_at=command.at,
            created_by=command.by,
            kind=command.kind,
            expires_at=command.expires_at,
        )
        what: dict[str, object] = {"name": token.name, "scopes": list(token.scopes), "token_id": token.token_id}
        record = _record("token.create", command.by, token, what)
        return await self._change(lambda db: put_token(db, token), record, {**self._tokens, token.token_id: token})

    async def elevate(self, command: ElevateToken) -> CommandReply:
        known = self._tokens.get(command.token_id)
        if known is None:
            return _not_found(command.token_id)
        token = replace(known, extra_scopes=command.scopes, extra_until=command.until)
        record = _record("token.elevate", command.by, token, {"scopes": list(command.scopes)})
        return await self._change(lambda db: put_token(db, token), record, {**self._tokens, token.token_id: token})

    async def revoke(self, token_id: str, by: str) -> CommandReply:
        known = self._tokens.get(token_id)
        if known is None:
            return _not_found(token_id)
        left = {key: token for key, token in self._tokens.items() if key != token_id}
        record = _record("token.revoke", by, known, {"token_id": token_id})
        return await self._change(lambda db: delete_token(db, token_id), record, left)

    async def _change(self, change: Change[None], record: HubRecord, tokens: Mapping[str, Token]) -> CommandReply:
        try:
            await self._commits.submit(change)
            await self._commits.submit(lambda db: add_record(db, record))
        except StoreError as error:
            return CommandReply(request_id="", outcome="not_recorded", message=str(error))
        self._tokens = tokens
        return CommandReply(request_id="", outcome="applied")


def _record(kind: str, by: str, token: Token, what: dict[str, object]) -> HubRecord:
    who, _, surface = by.partition(" via ")
    return HubRecord(
        kind=kind, at=time.time(), who=who, surface=surface or None, about=f"{token.kind} {token.name}", what=what
    )


def _not_found(token_id: str) -> CommandReply:
    return CommandReply(request_id=token_id, outcome="not_found", message=f"no such token: {token_id}")
