"""Calls of machines: at most once, with one stored result, and never to a machine that is away."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.hub.store.records import RecordQuery, list_records
from quarterdeck.link.messages import CommandResultMessage, QueryResultMessage, RemoteCommand, RemoteQuery
from tests.support.hub_parts import HubParts, KeptRunner, hub_parts, person


async def sent(runner: KeptRunner, kind: type[Any]) -> Any:
    while not any(isinstance(message, kind) for message in runner.sent):
        await asyncio.sleep(0)
    return runner.last(kind)


def outcomes(hub: HubParts) -> list[tuple[str, str, Any]]:
    found = list_records(hub.db, RecordQuery(kinds=("hub.command",)))
    return [(one.record.who, one.record.about, one.record.what["outcome"]) for one in found]


@pytest.mark.law("H8")
async def test_a_command_is_written_down_sent_once_and_its_result_recorded_once(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        args = {"request_id": "q1", "decision": "allow"}
        call = asyncio.create_task(hub.calls.command(runner.state, "decide", args, person()))
        command = await sent(runner, RemoteCommand)
        assert (command.actor, command.args, command.epoch) == ("ann via tui", args, 1)
        result = CommandResultMessage(id=command.id, ok=True, status=200, body=Raw(b'{"decision":"allow"}'))
        await hub.calls.finish_command(runner.state, result)
        await hub.calls.finish_command(runner.state, result)
        assert (await call).body == b'{"decision":"allow"}'
        assert outcomes(hub) == [("ann", "decide q1", "done")]


@pytest.mark.law("H9")
async def test_a_machine_that_is_away_gets_nothing(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        state = hub.enroll("a")
        with pytest.raises(ApiError) as refused:
            await hub.calls.command(state, "decide", {"request_id": "q1"}, person())
        assert refused.value.body["error"]["kind"] == "undeliverable"
        with pytest.raises(ApiError) as refused:
            await hub.calls.query(state, "get_request", {"request_id": "q1"}, person())
        assert refused.value.body["error"]["kind"] == "runner_away"
        assert outcomes(hub) == [("ann", "decide q1", "undeliverable")]


async def test_a_query_is_answered_and_not_recorded(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        call = asyncio.create_task(hub.calls.query(runner.state, "list_rules", {}, person()))
        query = await sent(runner, RemoteQuery)
        hub.calls.finish_query(QueryResultMessage(id=query.id, ok=True, status=200, body=Raw(b"{}")))
        assert (await call).status == 200
        assert outcomes(hub) == []
