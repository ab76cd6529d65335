"""Operations that a machine carries out: sent on as they came, and the answers of several machines as one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.hub.routes.forwarded import checked, machine_of, merged
from quarterdeck.hub.routes.hub_routes import HUB_ROUTES
from quarterdeck.hub.runners.machine_calls import Reply
from quarterdeck.link.messages import QueryResultMessage, RemoteQuery
from tests.support.hub import session_view
from tests.support.hub_parts import hub_parts, person


async def test_a_list_has_the_rows_of_every_machine_and_names_the_missing(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        hub.enroll("b")
        endpoint = HUB_ROUTES["list_rules"]
        call = asyncio.create_task(endpoint.serve(hub.backend, {"caller": person()}, None, {}))
        while not any(isinstance(one, RemoteQuery) for one in runner.sent):
            await asyncio.sleep(0)
        query = runner.last(RemoteQuery)
        body = Raw(b'{"rules":[{"rule_id":"r1"}],"next":null}')
        hub.calls.finish_query(QueryResultMessage(id=query.id, ok=True, status=200, body=body))
        answer: Any = json.loads((await call).content)
        assert answer["rules"] == [{"runner_id": "a-1", "rule_id": "r1"}]
        assert [(one["name"], one["kind"]) for one in answer["missing"]] == [("b", "runner_away")]


async def test_the_machine_is_the_one_that_is_named_or_has_the_session(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        a: Any = await hub.joined("a")
        assert await machine_of(hub.backend, {}, None) is a.state
        b: Any = await hub.joined("b")
        await hub.show(b, sessions=[session_view("b-1", "s1")])
        assert await machine_of(hub.backend, {"session_id": "s1"}, None) is b.state
        assert await machine_of(hub.backend, {"session_id": "s1"}, "a-1") is a.state
        with pytest.raises(ApiError) as refused:
            await machine_of(hub.backend, {}, None)
        assert refused.value.body["error"]["field"] == "runner_id"


def test_an_error_of_a_machine_is_the_error_of_the_hub() -> None:
    body = b'{"error":{"kind":"already_decided","message":"by bob"}}'
    with pytest.raises(ApiError) as refused:
        checked(Reply(409, body))
    assert (refused.value.code, refused.value.body) == (409, json.loads(body))
    with pytest.raises(ApiError):
        checked(Reply(500, b"nonsense"))
    assert checked(Reply(200, b"{}")).ok
    assert merged([]) == {}
