"""The Unix socket: which peers are served, and which files may be in its place."""

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
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.ingest.intake import HookIntake, hook_response
from quarterdeck.daemon.ingest.unix_socket import SocketServer, bind, peer_uid
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.loop.waiters import HookAnswer
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.errors import HomeError
from quarterdeck.store.log import Log
from quarterdeck.store.queries.feed_query import FeedQuery
from quarterdeck.store.reader import Reader

ENVELOPE = b'{"request_id":"e1","payload":{"session_id":"s","hook_event_name":"Stop"}}\n'


async def speak(folder: Path, content: bytes, *, disconnected: bool = False) -> bytes:
    """Run a socket server in this process, send this to it, and return its whole answer."""
    log = Log.open(folder / "events.db")
    reader = Reader(folder / "events.db")
    loop = Loop(
        State(runner_id="r", settings=Settings()), log, reader, Deadlines(SessionsFolder(folder)), DiskReserve(folder)
    )
    intake = HookIntake(loop, Attendance())
    intake.is_disconnected = disconnected
    server = SocketServer(intake)
    await server.start(bind(folder / "hook.sock"))
    incoming, outgoing = await asyncio.open_unix_connection(str(folder / "hook.sock"))
    outgoing.write(content)
    outgoing.write_eof()
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        answer = await asyncio.wait_for(incoming.read(), 60)
    outgoing.close()
    await server.stop()
    loop.stop()
    reader.close()
    log.close()
    return answer


@pytest.mark.law("A3")
async def test_the_own_user_is_served(tmp_path: Path) -> None:
    assert b'"action":"passthrough"' in await speak(tmp_path, ENVELOPE)


def forwarded(gate: str, tag: str = "-", **payload: Any) -> bytes:
    body = json.dumps({"session_id": "s", **payload}).encode()
    return b"QDHOOK/1 %d %s sdk-cli - %s\n%s" % (len(body), gate.encode(), tag.encode(), body)


CALL: dict[str, Any] = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.mark.parametrize("gate", ["assist", "enforce"])
async def test_a_call_that_no_rule_matches_gets_no_opinion(tmp_path: Path, gate: str) -> None:
    assert await speak(tmp_path, forwarded(gate, **CALL)) == b"0 0\n"


@pytest.mark.law("D2")
@pytest.mark.parametrize(
    "change", [{"tool_name": None}, {"tool_input": "ls"}, {"hook_event_name": "ToolStart"}, {"hook_event_name": 3}]
)
async def test_the_gate_blocks_a_call_it_cannot_read_and_an_observer_lets_it_pass(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    response = await speak(tmp_path, forwarded("enforce", **{**CALL, **change}))
    assert (response[:2], b"a known call with tool_name and tool_input" in response) == (b"2 ", True)
    assert await speak(tmp_path, forwarded("assist", **{**CALL, **change})) == b"0 0\n"


@pytest.mark.law("D2")
@pytest.mark.parametrize("gate", [True, False])
def test_no_opinion_about_a_held_call_blocks_it_at_the_gate(gate: bool) -> None:
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
        waiter="forwarder",
        enforced=gate,
    )
    response = hook_response(HookAnswer(NoOpinion(), request))
    assert (response.answer, response.error) == (None, "nobody decided" if gate else None)


@pytest.mark.law("A3")
async def test_another_user_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.daemon.ingest.unix_socket.peer_uid", lambda connection: os.getuid() + 1)
    assert await speak(tmp_path, ENVELOPE) == b""


@pytest.mark.law("A3")
def test_the_system_gives_the_user_of_the_peer() -> None:
    near, far = socket.socketpair(socket.AF_UNIX)
    assert peer_uid(near) == os.getuid()
    near.close()
    far.close()


@pytest.mark.law("A2")
def test_the_socket_is_private_and_a_stale_one_is_replaced(tmp_path: Path) -> None:
    for _ in range(2):
        bind(tmp_path / "hook.sock").close()
        assert (tmp_path / "hook.sock").stat().st_mode & 0o777 == 0o600


@pytest.mark.law("A2")
def test_another_file_in_its_place_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("file", "link"):
        with pytest.raises(HomeError, match="remove it"):
            bind(tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    with pytest.raises(HomeError, match="shorter QUARTERDECK_HOME"):
        bind(tmp_path / ("x" * 120))


@pytest.mark.parametrize(("tag", "is_recorded"), [("-", False), ("editor:e", False), ("t1", True)])
async def test_after_an_uninstall_only_sessions_with_hooks_of_their_own_are_recorded(
    tmp_path: Path, tag: str, is_recorded: bool
) -> None:
    stop = forwarded("assist", tag, hook_event_name="Stop", cwd="/")
    assert await speak(tmp_path, stop, disconnected=True) == b"0 0\n"
    reader = Reader(tmp_path / "events.db")
    recorded = reader.feed(FeedQuery(session_id="s")).events
    reader.close()
    assert bool(recorded) == is_recorded
