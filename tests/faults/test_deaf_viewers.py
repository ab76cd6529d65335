"""Who looks at a terminal and never reads costs nobody anything."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, Json
from tests.support.live import Socket, following, hello, opened

pytestmark = pytest.mark.faults

MOST_MEMORY = 250 * 1024
MOST_READ = 8 * 1024 * 1024
LOOK_SECONDS = 2.0


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "qd", env={"HOME": str(tmp_path), "SHELL": "/bin/sh"}) as daemon:
        assert daemon.api("POST", "/projects/trust", {"path": str(tmp_path)})[0] == 200
        yield daemon


def shell(daemon: Daemon, tmp_path: Path, mode: str) -> Json:
    status, session = daemon.api("POST", "/sessions", {"cwd": str(tmp_path), "mode": mode, "shell": True}, timeout=60)
    assert status == 201, session
    return dict(session)


def memory(daemon: Daemon) -> int:
    lines = Path(f"/proc/{daemon.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def read_so_far(daemon: Daemon) -> int:
    """All bytes that the daemon has read from anywhere."""
    return int(Path(f"/proc/{daemon.pid}/io").read_text().split()[1])


async def shown(socket: Socket, wanted: bytes) -> bytes:
    heard, looked = b"", False
    while wanted not in heard or not looked:
        message = await socket.until("stream")
        looked = True
        heard = heard[-100_000:] + (base64.b64decode(message["data"]) if message["kind"] == "terminal" else b"")
    return heard


async def types(socket: Socket, session: Json, keys: bytes) -> None:
    words = base64.b64encode(keys).decode()
    assert (await socket.command("terminal_input", session_id=session["session_id"], data=words))["ok"]


@pytest.mark.law("S6")
@pytest.mark.parametrize("mode", ["pty", "tmux"])
async def test_nothing_piles_up_for_who_never_reads_and_others_see_all(
    daemon: Daemon, tmp_path: Path, mode: str
) -> None:
    session = await asyncio.to_thread(shell, daemon, tmp_path, mode)
    topics = [f"streams:{session['session_id']}"]
    async with following(daemon, topics=topics) as typing:
        await shown(typing, b"")
        await types(typing, session, b"yes all day\n")
        await shown(typing, b"all day\r\nall day")
    async with opened(daemon) as deaf:
        await deaf.send(hello(daemon.token, topics=topics))
        await asyncio.sleep(LOOK_SECONDS)
        before = read_so_far(daemon)
        await asyncio.sleep(LOOK_SECONDS)
        assert read_so_far(daemon) - before < MOST_READ
        assert memory(daemon) < MOST_MEMORY
        async with following(daemon, topics=topics) as reading:
            await shown(reading, b"all day\r\nall day")
            await types(reading, session, b"\x03echo $((40+2))-is-it\n")
            await shown(reading, b"42-is-it")
        assert memory(daemon) < MOST_MEMORY
    assert (await asyncio.to_thread(daemon.api, "POST", f"/sessions/{session['session_id']}/end", {}, 60))[0] == 202
