"""The loop of an agent's host, with scripts that write like an agent."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from quarterdeck.sessions.pty.host_registry import read_records
from quarterdeck.system import process_table
from tests.support.hosted_script import HostedScript
from tests.support.session_listener import eventually


@pytest.mark.law("S2")
async def test_an_agent_does_not_outlive_its_host(tmp_path: Path) -> None:
    scene = HostedScript("setsid sleep 60 & echo $! > child.new; mv child.new child; wait", tmp_path)
    await scene.pipe.connect()
    await eventually((tmp_path / "child").exists)
    record = next(read_records(scene.folder))
    os.kill(record.host.pid, signal.SIGKILL)
    await scene.read_all(scene.pipe)
    assert scene.pipe.code is None
    assert await eventually(lambda: not process_table.runs(record.child))
    assert await eventually(lambda: not process_table.alive(int((tmp_path / "child").read_text())))
    await scene.pipe.close()


async def test_a_line_that_is_too_long_is_replaced(tmp_path: Path) -> None:
    scene = HostedScript("head -c 34000000 /dev/zero | tr '\\0' x; echo; echo '{\"type\": \"next\"}'", tmp_path)
    await scene.to_its_end()
    assert scene.messages == [{"type": "unreadable", "why": "too_large"}, {"type": "next"}]


async def test_an_agent_that_floods_waits_for_its_daemon(tmp_path: Path) -> None:
    scene = HostedScript(
        'for i in $(seq 3000); do echo "{\\"n\\": $i, \\"text\\": \\"$(printf %4000s)\\"}"; done', tmp_path
    )
    await scene.pipe.connect()
    await scene.read_all(scene.pipe)
    await scene.pipe.close()
    assert [message["n"] for message in scene.messages] == list(range(1, 3001))
