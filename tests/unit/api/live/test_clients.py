"""The connected surfaces, and commands to one of them."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest

from quarterdeck.api.http.credentials import Credentials, Principal
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.live.clients import MOST_COMMANDS, ClientAnswer, Clients, ConnectedClient, NewClientCommand
from quarterdeck.api.live.ws_messages import AnyServerMessage, ClientCommand, CommandResult, Hello, Visible


class Person:
    """Counts what is said about a person being there."""

    def __init__(self) -> None:
        self.counts = {"connected": 0, "visible": 0, "left": 0, "called": 0}

    def connected(self, change: int) -> None:
        self.counts["connected"] += change

    def showing(self, change: int) -> None:
        self.counts["visible"] += change

    def left_visible(self) -> None:
        self.counts["left"] += 1

    def person_called(self) -> None:
        self.counts["called"] += 1


def owner() -> Principal:
    found = Credentials("owner", "hook", dict).principal(b"owner")
    assert found is not None
    return found


class Rig:
    """Clients that keep what they are sent."""

    def __init__(self) -> None:
        self.person = Person()
        self.clients = Clients(self.person)
        self.changes = 0
        self.clients.changed = self._changed
        self.sent: list[ClientCommand] = []
        self.stack = ExitStack()

    def _changed(self) -> None:
        self.changes += 1

    async def _send(self, message: AnyServerMessage) -> None:
        assert isinstance(message, ClientCommand)
        self.sent.append(message)

    def connect(self, client_id: str | None = None, *capabilities: str, principal: Principal | None = None) -> Any:
        hello = Hello(protocol=2, client_id=client_id, capabilities=list(capabilities))
        return self.clients.connected(hello, principal or owner(), self._send)

    async def order(self, client: ConnectedClient, **more: Any) -> tuple[asyncio.Task[ClientAnswer], ClientCommand]:
        """A command that was sent and is not answered yet."""
        task = asyncio.create_task(self.clients.command(client.client_id, NewClientCommand(kind="open", **more)))
        count = len(self.sent)
        while len(self.sent) == count:
            await asyncio.sleep(0)
        return task, self.sent[-1]


def test_a_surface_counts_as_visible_until_it_says_that_it_is_not() -> None:
    rig = Rig()
    with rig.connect() as client:
        assert rig.person.counts == {"connected": 1, "visible": 1, "left": 0, "called": 0}
        rig.clients.show(client, Visible(visible=False))
        rig.clients.show(client, Visible(visible=False))
        assert rig.person.counts["visible"] == 0
    assert rig.person.counts == {"connected": 0, "visible": 0, "left": 0, "called": 0}


def test_a_visible_surface_that_leaves_may_come_back() -> None:
    rig = Rig()
    with rig.connect():
        pass
    assert rig.person.counts == {"connected": 0, "visible": 0, "left": 1, "called": 0}


def test_a_list_that_cannot_be_sent_leaves_nobody_behind() -> None:
    rig = Rig()

    def fail() -> None:
        raise ValueError("cannot be encoded")

    rig.clients.changed = fail
    with pytest.raises(ValueError, match="encoded"), rig.connect():
        pass
    assert rig.clients.views("otter") == []
    assert (rig.person.counts["connected"], rig.person.counts["visible"]) == (0, 0)


def test_only_what_looks_different_is_a_change() -> None:
    rig = Rig()
    with rig.connect("tv") as client:
        rig.clients.show(client, Visible(visible=True, request_id="r1"))
        rig.clients.show(client, Visible(visible=True, request_id="r1"))
        assert rig.changes == 2
        [view] = rig.clients.views("otter")
        assert (view.client_id, view.request_id, view.runner_id) == ("tv", "r1", "otter")
    assert (rig.changes, rig.clients.views("otter")) == (3, [])


def test_an_id_is_taken_only_by_its_own_credential() -> None:
    rig = Rig()
    other = Principal(name="other", kind="token", scopes=frozenset(), secret="other")
    with rig.connect("tv") as first, rig.connect("tv") as second, rig.connect("tv", principal=other) as third:
        assert first.client_id == second.client_id == "tv"
        assert third.client_id != "tv"


async def test_the_newest_connection_gets_a_command_and_answers_once() -> None:
    rig = Rig()
    with rig.connect("e", "commands") as older, rig.connect("e", "commands") as client:
        task, command = await rig.order(client, payload=[1])
        result = CommandResult(id=command.id, result="opened")
        assert not rig.clients.answered(older, result)
        assert rig.clients.answered(client, result)
        assert not rig.clients.answered(client, result)
        assert (await task).result == "opened"
        assert len(rig.sent) == 1


@pytest.mark.parametrize("capabilities", [(), ("binary",)])
async def test_a_client_that_takes_no_commands_is_no_client(capabilities: tuple[str, ...]) -> None:
    rig = Rig()
    with rig.connect("e", *capabilities), pytest.raises(ApiError, match="takes no commands"):
        await rig.clients.command("e", NewClientCommand(kind="open"))
    with pytest.raises(ApiError, match="is not connected") as raised:
        await rig.clients.command("e", NewClientCommand(kind="open"))
    assert raised.value.body["error"]["kind"] == "no_client"


async def test_a_late_answer_is_for_nobody() -> None:
    rig = Rig()
    with rig.connect("e", "commands") as client:
        task, command = await rig.order(client, seconds=0.01)
        with pytest.raises(ApiError, match=r"within 0\.01 s"):
            await task
        assert not rig.clients.answered(client, CommandResult(id=command.id))


async def test_a_client_that_leaves_ends_its_commands() -> None:
    rig = Rig()
    with rig.connect("e", "commands") as client:
        task, _ = await rig.order(client, seconds=60)
    with pytest.raises(ApiError, match="left before it answered"):
        await task


async def test_the_commands_that_wait_for_one_client_are_bounded() -> None:
    rig = Rig()
    with rig.connect("e", "commands") as client:
        tasks = [(await rig.order(client, seconds=60))[0] for _ in range(MOST_COMMANDS)]
        with pytest.raises(ApiError, match="already wait for the client e"):
            await rig.clients.command("e", NewClientCommand(kind="open"))
    assert all(isinstance(one, ApiError) for one in await asyncio.gather(*tasks, return_exceptions=True))
