"""A WebSocket of the link without a network: a test puts frames in and reads what was sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from quarterdeck.link.codec import read_runner_frame, write_frame
from quarterdeck.link.messages import AnyHubMessage, AnyRunnerMessage


class LinkSocket:
    """The runner's end of a connection."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self.sent: list[AnyRunnerMessage] = []
        self.closed: tuple[int, str] | None = None

    def put(self, frame: AnyHubMessage | str | bytes) -> None:
        """A frame of the hub."""
        self._frames.put_nowait(frame if isinstance(frame, str | bytes) else write_frame(frame))

    async def send(self, frame: str | bytes) -> None:
        self.sent.append(read_runner_frame(frame))

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self.closed = self.closed or (code, reason)
        self._frames.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        while (frame := await self._frames.get()) is not None:
            yield frame
