"""The socket's door: who may come in, and what stands in its place."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.core.model.decisions import NoOpinion
from quarterdeck.core.model.state import Request, Settings, State
from quarterdeck.daemon.ingest.intake import Attendance, Ears, spoken
from quarterdeck.daemon.ingest.unix_socket import SocketServer, bind, peer_uid
from quarterdeck.daemon.loop.deadlines import Waiting
from quarterdeck.daemon.loop.disk_reserve import Disk
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.loop.waiters import Told
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.errors import HomeError
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

ENVELOPE = b'{"request_id":"e1","payload":{"session_id":"s","hook_event_name":"Stop"}}\n'


async def speak(folder: Path, content: bytes) -> bytes:
    """Run a socket server in this process and say something to it; gives all it answered."""
    log = Log.open(folder / "events.db")
    reader = Reader(folder / "events.db")
    loop = Loop(State(runner_id="r", settings=Settings()), log, reader, Waiting(SessionsFolder(folder)), Disk(folder))
    server = SocketServer(Ears(loop, Attendance()))
    await server.start(bind(folder / "hook.sock"))
    incoming, outgoing = await asyncio.open_unix_connection(str(folder / "hook.sock"))
    outgoing.write(content)
    outgoing.write_eof()
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        answer = await asyncio.wait_for(incoming.read(), 10)
    outgoing.close()
    await server.stop()
    loop.stop()
    reader.close()
    log.close()
    return answer


@pytest.mark.law("A3")
async def test_our_own_user_is_heard(tmp_path: Path) -> None:
    assert b'"action":"passthrough"' in await speak(tmp_path, ENVELOPE)


def forwarded(gate: str, **payload: Any) -> bytes:
    body = json.dumps({"session_id": "s", **payload}).encode()
    return b"QDHOOK/1 %d %s sdk-cli - -\n%s" % (len(body), gate.encode(), body)


CALL: dict[str, Any] = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.mark.parametrize("gate", ["assist", "enforce"])
async def test_a_call_that_no_rule_is_about_goes_its_own_way(tmp_path: Path, gate: str) -> None:
    assert await speak(tmp_path, forwarded(gate, **CALL)) == b"0 0\n"


@pytest.mark.law("D2")
@pytest.mark.parametrize(
    "change", [{"tool_name": None}, {"tool_input": "ls"}, {"hook_event_name": "ToolStart"}, {"hook_event_name": 3}]
)
async def test_the_gate_blocks_what_it_cannot_read_and_an_observer_lets_it_pass(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    said = await speak(tmp_path, forwarded("enforce", **{**CALL, **change}))
    assert (said[:2], b"a PreToolUse with tool_name and tool_input" in said) == (b"2 ", True)
    assert await speak(tmp_path, forwarded("assist", **{**CALL, **change})) == b"0 0\n"


@pytest.mark.law("D2")
@pytest.mark.parametrize("gate", [True, False])
def test_silence_about_a_call_that_is_held_at_the_gate_blocks_it(gate: bool) -> None:
    request = Request(
        request_id="r",
        kind="permission",
        session_id="s",
        run_id="s:R1",
        event_id="s:R1:E1",
        seq_no=1,
        hook_name="PreToolUse",
        tool_name="Bash",
        tool_input={},
        digest="",
        opened_at=0.0,
        held=True,
        holder="forwarder",
        enforced=gate,
    )
    said = spoken(Told(NoOpinion(), request))
    assert (said.answer, said.error) == (None, "nobody decided" if gate else None)


@pytest.mark.law("A3")
async def test_a_foreign_user_is_turned_away_unheard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.daemon.ingest.unix_socket.peer_uid", lambda connection: os.getuid() + 1)
    assert await speak(tmp_path, ENVELOPE) == b""


@pytest.mark.law("A3")
def test_the_system_says_who_is_on_the_other_side() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    assert peer_uid(ours) == os.getuid()
    ours.close()
    theirs.close()


@pytest.mark.law("A2")
def test_the_socket_is_ours_alone_and_a_stale_one_is_replaced(tmp_path: Path) -> None:
    for _ in range(2):
        bind(tmp_path / "hook.sock").close()
        assert (tmp_path / "hook.sock").stat().st_mode & 0o777 == 0o600


@pytest.mark.law("A2")
def test_what_we_did_not_put_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("file", "link"):
        with pytest.raises(HomeError, match="remove it"):
            bind(tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    with pytest.raises(HomeError, match="shorter QUARTERDECK_HOME"):
        bind(tmp_path / ("x" * 120))
