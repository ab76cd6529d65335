"""A slow proxy to a daemon: it forwards small pieces, each one late."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

PIECE = 512
PIECE_SECONDS = 0.03
"""17 kB per second, each way."""


@asynccontextmanager
async def slow_link(url: str) -> AsyncGenerator[str]:
    """The address of the slow proxy to this daemon."""
    daemon = urlsplit(url)
    carrying: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(daemon.hostname, daemon.port)
        own = f"127.0.0.1:{server.sockets[0].getsockname()[1]}".encode()
        requests, answers = _carry(reader, back, own, daemon.netloc.encode()), _carry(there, writer)
        for task in (asyncio.create_task(requests), asyncio.create_task(answers)):
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
    """Forward everything until it ends, the proxy's address replaced: the daemon checks the Host header."""
    try:
        while piece := await reader.read(PIECE):
            await asyncio.sleep(PIECE_SECONDS)
            writer.write(piece.replace(here, there) if here else piece)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
