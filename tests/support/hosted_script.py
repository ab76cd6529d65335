"""A shell script in the place of the SDK's agent, kept by a real host."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.drivers.claude.sdk_launcher import SDK_HOSTS
from quarterdeck.drivers.claude.sdk_transport import SdkTransport
from quarterdeck.sessions.pty.host_registry import HostRecord, short_name
from quarterdeck.sessions.pty.start import start_host

ENV = {"PATH": "/usr/bin:/bin"}


class HostedScript:
    """A shell script in the agent's place, kept by a real host."""

    def __init__(self, script: str, folder: Path, wait_seconds: float = 60.0) -> None:
        self.messages: list[Any] = []
        self.routed: list[Any] = []
        self.sent: list[str] = []
        self.folder = folder / "hosts"
        self.settings = {
            "session_id": "s1",
            "started_at": 0.0,
            "name": short_name("s1"),
            "folder": str(self.folder),
            "argv": ["/bin/sh", "-c", script],
            "cwd": str(folder),
            "wait_seconds": wait_seconds,
            "denial": "nobody answered",
            "grace_seconds": 60.0,
        }
        self.pipe = self.transport(lambda: start_host(self.settings, ENV, programs=SDK_HOSTS))

    def transport(self, open_host: Callable[[], HostRecord]) -> SdkTransport:
        return SdkTransport(open_host, self.folder, self.messages.append, self.sent.append)

    async def to_its_end(self) -> None:
        await self.pipe.connect()
        await self.read_all(self.pipe)
        await self.pipe.close()

    async def read_all(self, pipe: SdkTransport) -> None:
        with pytest.raises(ConnectionError, match="has ended"):
            await self._read(pipe.read_messages())

    async def _read(self, messages: AsyncIterator[dict[str, Any]]) -> None:
        async for message in messages:
            self.routed.append(message)
