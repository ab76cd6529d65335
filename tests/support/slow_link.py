"""A link to a daemon that is slow: every piece comes late, and little at a time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

PIECE = 512
PIECE_SECONDS = 0.03
"""17 kB a second, each way."""


@asynccontextmanager
async def slow_link(url: str) -> AsyncGenerator[str]:
    """The address at which the daemon is reached slowly."""
    daemon = urlsplit(url)
    carrying: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(daemon.hostname, daemon.port)
        ours = f"127.0.0.1:{server.sockets[0].getsockname()[1]}".encode()
        asked, told = _carry(reader, back, ours, daemon.netloc.encode()), _carry(there, writer)
        for task in (asyncio.create_task(asked), asyncio.create_task(told)):
            carrying.add(task)
            task.add_done_callback(carrying.discard)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in list(carrying):
            task.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)


async def _carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, here: bytes = b"", there: bytes = b""
) -> None:
    """Everything, until it ends; the daemon is called by its own name."""
    try:
        while piece := await reader.read(PIECE):
            await asyncio.sleep(PIECE_SECONDS)
            writer.write(piece.replace(here, there) if here else piece)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
