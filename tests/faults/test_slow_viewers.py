"""A viewer of a terminal that never reads affects nobody else."""

from __future__ import annotations

import asyncio
import base64
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, Json, until
from tests.support.ws_client import Socket, following, hello, opened

pytestmark = pytest.mark.faults

MOST_MEMORY = 250 * 1024
MOST_READ = 2 * 1024 * 1024
LOOK_SECONDS = 0.5
ESCAPE_SEQUENCE = re.compile(rb"\x1b(\[[0-9;?]*[A-Za-z]|\(B)")
FLOOD = re.compile(rb"all day(\r\n)?all day")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "qd", env={"HOME": str(tmp_path), "SHELL": "/bin/sh"}) as daemon:
        assert daemon.api("POST", "/projects/trust", {"path": str(tmp_path)})[0] == 200
        yield daemon


def shell(daemon: Daemon, tmp_path: Path, mode: str) -> Json:
    status, session = daemon.api("POST", "/sessions", {"cwd": str(tmp_path), "mode": mode, "shell": True})
    assert status == 201, session
    return dict(session)


def memory(daemon: Daemon) -> int:
    lines = Path(f"/proc/{daemon.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def read_in_a_look(daemon: Daemon) -> int:
    """The bytes that the daemon reads from anywhere in a while."""
    before = read_so_far(daemon)
    time.sleep(LOOK_SECONDS)
    return read_so_far(daemon) - before


def read_so_far(daemon: Daemon) -> int:
    return int(Path(f"/proc/{daemon.pid}/io").read_text().split()[1])


async def shown(socket: Socket, expected: re.Pattern[bytes] | None = None) -> None:
    """Wait until the terminal is attached and shows this. tmux draws the lines one by one for a client that keeps up,
    and whole screens, with an escape sequence after each line, for one that does not."""
    received = b""
    while True:
        message = await socket.until("stream")
        received = received[-100_000:] + (base64.b64decode(message["data"]) if message["kind"] == "terminal" else b"")
        if expected is None or expected.search(ESCAPE_SEQUENCE.sub(b"", received)):
            return


async def types(socket: Socket, session: Json, keys: bytes) -> None:
    words = base64.b64encode(keys).decode()
    assert (await socket.command("terminal_input", session_id=session["session_id"], data=words))["ok"]


@pytest.mark.law("S6")
@pytest.mark.parametrize("mode", ["pty", "tmux"])
async def test_nothing_piles_up_for_a_viewer_that_never_reads_and_others_see_everything(
    daemon: Daemon, tmp_path: Path, mode: str
) -> None:
    session = await asyncio.to_thread(shell, daemon, tmp_path, mode)
    topics = [f"streams:{session['session_id']}"]
    async with following(daemon, topics=topics) as typing:
        await shown(typing)
        await types(typing, session, b"yes all day\n")
        await shown(typing, FLOOD)
    async with opened(daemon) as stalled:
        await stalled.send(hello(daemon.token, topics=topics))
        await asyncio.to_thread(until, lambda: read_in_a_look(daemon) < MOST_READ, what="an end of reading")
        assert memory(daemon) < MOST_MEMORY
        async with following(daemon, topics=topics) as reading:
            await shown(reading, FLOOD)
            await types(reading, session, b"\x03echo $((40+2))-is-it\n")
            await shown(reading, re.compile(rb"42-is-it"))
        assert memory(daemon) < MOST_MEMORY
    assert (await asyncio.to_thread(daemon.api, "POST", f"/sessions/{session['session_id']}/end", {}, 60))[0] == 202
