"""One connection of a runner: its token first, then the link's own protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from quarterdeck.hub.runners.runner_socket import RunnerSocket
from quarterdeck.hub.store.enrolments import add_enrolment, new_credential
from quarterdeck.link.codec import read_hub_frame, write_frame
from quarterdeck.link.messages import BackfillMessage, EventAck, LinkSettings, RegisteredMessage, RegisterMessage
from tests.support.hub import link_event
from tests.support.hub_parts import HubParts, hub_parts


class Wire:
    """The other end of an ASGI connection."""

    def __init__(self, token: str) -> None:
        self.sent: list[dict[str, Any]] = []
        self._frames: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.scope: dict[str, Any] = {
            "headers": [(b"authorization", b"Bearer " + token.encode())],
            "client": ("10.0.0.1", 5),
        }
        self.scope |= {"extensions": {"quarterdeck.abort": self.hang_up}}

    def hang_up(self) -> None:
        self._frames.put_nowait({"type": "websocket.disconnect"})

    def say(self, message: Any) -> None:
        self._frames.put_nowait({"type": "websocket.receive", "text": write_frame(message)})

    async def receive(self) -> Any:
        return await self._frames.get()

    async def send(self, message: Any) -> None:
        self.sent.append(dict(message))

    async def answer(self, kind: type[Any]) -> Any:
        while True:
            frames = [one.get("text") or one.get("bytes") for one in self.sent if one["type"] == "websocket.send"]
            found = [one for one in map(read_hub_frame, filter(None, frames)) if isinstance(one, kind)]
            if found:
                return found[-1]
            await asyncio.sleep(0)


def enrolled(hub: HubParts) -> str:
    _, token = new_credential("a")
    hub.registry.add(add_enrolment(hub.db, "e-a", token, "a", "ann", 1.0), token)
    return token


async def test_an_unknown_token_is_refused_at_the_upgrade_and_counted(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        wire = Wire("qdr_wrong")
        await RunnerSocket(hub.intake, LinkSettings())(wire.scope, wire.receive, wire.send)
        assert wire.sent[0]["status"] == 401
        assert hub.failures == ["10.0.0.1"]


async def test_a_runner_registers_and_its_events_are_acknowledged_once_stored(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        wire = Wire(enrolled(hub))
        connection = asyncio.create_task(RunnerSocket(hub.intake, LinkSettings())(wire.scope, wire.receive, wire.send))
        wire.say(RegisterMessage(runner_id="a-1", name="a", seq_no=0, instance="i"))
        assert (await wire.answer(RegisteredMessage)).epoch == 1
        wire.say(BackfillMessage(events=[link_event("a-1", 1), link_event("a-1", 2)]))
        assert (await wire.answer(EventAck)).last_seq_no == 2
        assert hub.db.execute("SELECT count(*) FROM events").fetchone() == (2,)
        wire.hang_up()
        await connection
        assert hub.registry.connected() == []
