"""A hub client with a real loop and log, and without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.api.backend import Backend
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.live_source import MachineSource
from quarterdeck.config.settings import HubSettings
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.state import Settings
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.link.hub_client import HubClient
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.setup.state_rebuild import recover
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader


class Nobody:
    """The parts of a backend without events, sessions and requests."""

    seq_no = 0

    def live(self) -> list[Any]:
        return []

    def pending(self) -> list[Any]:
        return []


@asynccontextmanager
async def hub_client(folder: Path, settings: HubSettings) -> AsyncIterator[HubClient]:
    """A client that is not started."""
    log = Log.open(folder / "events.db", durability="normal")
    reader = Reader(log.path)
    state = recover(log, "box", Settings(hold="always"))
    loop = Loop(state, log, reader, Deadlines(SessionsFolder(folder)), DiskReserve(folder))
    nothing = dict.fromkeys(Backend.__struct_fields__, cast(Any, None))
    backend = Backend(**nothing | {"runner_id": "box", "feed": Nobody(), "sessions": Nobody(), "requests": Nobody()})
    live = Broadcaster(MachineSource(backend))
    api = cast(Any, None)
    client = HubClient(folder, settings, "box", loop, log, reader, backend, live, api, Attendance(), [])
    try:
        yield client
    finally:
        await client.stop()
        loop.stop()
        reader.close()
        log.close()


async def record_prompt(client: HubClient, words: str) -> None:
    """Record a prompt in the client's log."""
    body = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": words}
    hook = HookReceived(event=read_hook(body, event_id=words, at=1.0), attended=True)
    await client.parts.loop.receive(hook)
