"""The end of a session that the person started: by its own process, and no other."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.core.model.state import ProcessId
from quarterdeck.daemon.sessions.observed_sessions import ObservedSessions
from quarterdeck.drivers.base import SessionProcess
from quarterdeck.errors import Refused
from quarterdeck.sessions.tmux.pane_cache import PaneCache
from quarterdeck.system.process_table import process_id


class Files:
    """Process files that name these processes."""

    def __init__(self, *pids: int) -> None:
        self.pids = pids

    def read(self) -> list[SessionProcess]:
        return [SessionProcess("s1", pid, "busy", None, 0.0, agent="claude") for pid in self.pids]

    def identity(self, process: SessionProcess) -> ProcessId | None:
        return process_id(process.pid)


@pytest.fixture
def agent() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as running:
        yield running
        running.kill()


def sessions(tmp_path: Path, *pids: int) -> ObservedSessions:
    return ObservedSessions(Files(*pids), PaneCache(list, {"TMUX_TMPDIR": str(tmp_path)}))


async def test_the_process_ends_by_sigterm(agent: subprocess.Popen[bytes], tmp_path: Path) -> None:
    process = process_id(agent.pid)
    assert process is not None
    await sessions(tmp_path, agent.pid).end("s1", process)
    assert await asyncio.to_thread(agent.wait) == -15


@pytest.mark.law("S3")
async def test_a_recycled_pid_is_not_signalled(agent: subprocess.Popen[bytes], tmp_path: Path) -> None:
    with pytest.raises(Refused, match=f"now runs as process {agent.pid}"):
        await sessions(tmp_path, agent.pid).end("s1", ProcessId(agent.pid, "1"))
    assert agent.poll() is None


async def test_what_cannot_be_found_for_certain_is_refused(agent: subprocess.Popen[bytes], tmp_path: Path) -> None:
    with pytest.raises(Refused, match="does not know"):
        await sessions(tmp_path).interrupt("s1")
    with pytest.raises(Refused, match="several processes"):
        await sessions(tmp_path, agent.pid, agent.pid).interrupt("s1")
    with pytest.raises(Refused, match=f"runs as process {agent.pid}, outside your tmux"):
        await sessions(tmp_path, agent.pid).interrupt("s1")
    assert agent.poll() is None
