"""One connection: it registers, sends the log, and closes on what is no message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from quarterdeck.config.settings import HubSettings
from quarterdeck.daemon.link.hub_client import HubClient
from quarterdeck.daemon.link.hub_connection import HubConnection
from quarterdeck.link.messages import (
    BROKEN_RULE,
    BackfillAck,
    BackfillMessage,
    EventAck,
    HubPing,
    RegisteredMessage,
    RegisterMessage,
    RunnerPong,
    ViewMessage,
)
from tests.support.link_client import hub_client, record_prompt
from tests.support.link_socket import LinkSocket


@asynccontextmanager
async def connected(folder: Path) -> AsyncIterator[tuple[HubClient, LinkSocket, asyncio.Task[None]]]:
    async with hub_client(folder, HubSettings()) as client:
        await record_prompt(client, "hello")
        client.link.connect(0.0)
        socket = LinkSocket()
        connection = HubConnection(client.parts, client.link, cast(Any, socket), asyncio.Event())
        task = asyncio.create_task(connection.run())
        yield client, socket, task
        await connection.close()
        await task


async def until_sent(socket: LinkSocket, kind: type[Any]) -> Any:
    async with asyncio.timeout(30.0):
        while not (found := [message for message in socket.sent if isinstance(message, kind)]):
            await asyncio.sleep(0.001)
    return found[0]


async def test_it_registers_and_sends_the_log_and_the_views(tmp_path: Path) -> None:
    async with connected(tmp_path) as (client, socket, _):
        register = await until_sent(socket, RegisterMessage)
        assert register.seq_no == client.parts.loop.state.seq_no > 0
        socket.put(RegisteredMessage(last_seq_no=0, epoch=1, at=0.0))
        backfill = await until_sent(socket, BackfillMessage)
        assert [event.seq_no for event in backfill.events] == list(range(1, register.seq_no + 1))
        assert (await until_sent(socket, ViewMessage)).snapshot
        socket.put(BackfillAck(last_seq_no=register.seq_no))
        socket.put(HubPing())
        await until_sent(socket, RunnerPong)
        assert client.link.state == "ready"


@pytest.mark.law("H3")
async def test_an_ack_of_the_future_closes_the_connection(tmp_path: Path) -> None:
    async with connected(tmp_path) as (client, socket, task):
        socket.put(RegisteredMessage(last_seq_no=0, epoch=1, at=0.0))
        await until_sent(socket, BackfillMessage)
        socket.put(EventAck(last_seq_no=10_000))
        await asyncio.wait([task])
        assert socket.closed is not None
        assert socket.closed[0] == BROKEN_RULE
        assert client.link.cursor == 0


@pytest.mark.parametrize("frame", ["nonsense", b"\x00", '{"type":"hello"}'])
async def test_what_is_no_message_closes_the_connection(tmp_path: Path, frame: str | bytes) -> None:
    async with connected(tmp_path) as (client, socket, task):
        socket.put(frame)
        await asyncio.wait([task])
        assert socket.closed is not None
        assert socket.closed[0] == BROKEN_RULE
        assert client.link.trouble is not None
        assert client.link.trouble[0] == "protocol"
