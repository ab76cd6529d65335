"""The transport beneath the SDK's client, with programs that write like an agent."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.drivers.claude.sdk_host.sdk_host import LAST_WORDS
from quarterdeck.drivers.claude.sdk_transport import read_line
from quarterdeck.sessions.pty.host_registry import read_records
from quarterdeck.system import process_table
from tests.support.hosted_script import HostedScript
from tests.support.session_listener import eventually


async def test_the_client_gets_its_own_protocol_and_the_session_gets_the_rest(tmp_path: Path) -> None:
    lines = ['{"type": "control_request", "request_id": "1"}', '[debug] {"type": "no"}', '{"type": "new"}']
    scene = HostedScript("; ".join(f"echo '{line}'" for line in lines), tmp_path)
    await scene.to_its_end()
    assert scene.routed == [{"type": "control_request", "request_id": "1"}]
    assert scene.messages == [{"type": "new"}]
    assert (scene.pipe.code, scene.pipe.last_words) == (0, "")


async def test_its_last_words_and_its_exit_are_kept(tmp_path: Path) -> None:
    scene = HostedScript("yes error | head -c 90000 >&2; echo last >&2; kill -9 $$", tmp_path)
    await scene.to_its_end()
    assert scene.pipe.code == -signal.SIGKILL
    assert scene.pipe.last_words.endswith("error\nlast")
    assert LAST_WORDS - 10 < len(scene.pipe.last_words) <= LAST_WORDS


@pytest.mark.law("I9")
async def test_it_has_its_own_environment_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_TOKEN", "secret")
    scene = HostedScript("env > seen; ls /proc/$$/fd | wc -l >> seen", tmp_path)
    await scene.to_its_end()
    seen = (tmp_path / "seen").read_text()
    assert "QUARTERDECK" not in seen
    assert "PATH=/usr/bin:/bin" in seen


@pytest.mark.law("S2")
async def test_an_agent_that_ignores_signals_is_ended_with_everything_it_started(tmp_path: Path) -> None:
    stubborn = "trap '' TERM INT HUP; (trap '' TERM; setsid sleep 60 &)"
    scene = HostedScript(f"{stubborn}; echo $$ > pid.new; mv pid.new pid; while :; do sleep 60; done", tmp_path)
    await scene.pipe.connect()
    await eventually((tmp_path / "pid").exists)
    async with asyncio.timeout(50):
        await scene.pipe.close()
    assert scene.pipe.code == -signal.SIGKILL
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


async def test_the_agent_is_found_below_its_supervisors(tmp_path: Path) -> None:
    scene = HostedScript("echo $$ > pid.new; mv pid.new pid; read line", tmp_path)
    await scene.pipe.connect()
    while not (tmp_path / "pid").exists():
        await scene.pipe.write("")
    found = scene.pipe.agent
    assert found is not None
    assert found.pid == int((tmp_path / "pid").read_text())
    await scene.pipe.close()
    with pytest.raises(ConnectionError, match="closed its input"):
        await scene.pipe.write("too late")


@pytest.mark.law("D2")
@pytest.mark.law("I1")
def test_a_request_that_breaks_a_limit_is_passed_on_to_be_refused() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    request = {"type": "control_request", "request_id": "7", "request": {"subtype": "can_use_tool", "input": deep}}
    read = read_line(json.dumps(request).encode())
    assert (read["request_id"], read["request"].keys()) == ("7", {"subtype"})
    assert read["request"]["subtype"].startswith("too_deep: ")
    unreadable = read_line(json.dumps({"type": "assistant", "message": deep}).encode())
    assert unreadable == {"type": "unreadable", "why": "too_deep"}
    assert read_line(b'{"type": "cut off') == {"type": "unreadable", "why": "not_json"}


@pytest.mark.law("S1")
async def test_the_next_daemon_finds_the_agent_and_what_no_daemon_has_taken(tmp_path: Path) -> None:
    script = 'echo "{\\"n\\": 1}"; read line; echo "{\\"n\\": $line}"; read line; exit 3'
    scene = HostedScript(script, tmp_path)
    await scene.pipe.connect()
    first = asyncio.create_task(scene.read_all(scene.pipe))
    await eventually(lambda: scene.messages == [{"n": 1}])
    scene.pipe.detach()
    await scene.pipe.close()
    await first
    record = next(read_records(scene.folder))
    assert process_table.runs(record.child)

    again = scene.transport(lambda: record)
    await again.connect()
    second = asyncio.create_task(scene.read_all(again))
    await again.write("2\n")
    await eventually(lambda: scene.messages == [{"n": 1}, {"n": 2}])
    await again.write("3\n")
    await again.wait_for_end()
    await second
    await again.close()
    assert again.code == 3
    assert list(read_records(scene.folder)) == []
