"""The agent below its supervisor, and its pipes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quarterdeck.drivers.claude.sdk_host.agent_process import AgentProcess
from quarterdeck.sessions.host.terminal import read_line


def read_all(pipe: int) -> bytes:
    os.set_blocking(pipe, True)
    with open(pipe, "rb") as file:
        return file.read()


@pytest.mark.parametrize(
    ("script", "status"), [("cat; echo oops >&2; exit 3", "768"), ("cat; echo oops >&2; kill -9 $$", "9")]
)
def test_an_agent_reads_writes_and_ends_with_its_status(tmp_path: Path, script: str, status: str) -> None:
    agent = AgentProcess({"argv": ["/bin/sh", "-c", script], "cwd": str(tmp_path)})
    os.write(agent.stdin, b"{}\n")
    os.close(agent.stdin)
    assert (read_all(agent.stdout), read_all(agent.stderr)) == (b"{}\n", b"oops\n")
    assert read_line(agent.supervisor_pipe) == status
    os.waitpid(agent.supervisor_pid, 0)


def test_a_folder_that_is_gone_ends_it_with_its_reason(tmp_path: Path) -> None:
    agent = AgentProcess({"argv": ["/bin/true"], "cwd": str(tmp_path / "gone")})
    assert read_all(agent.stderr).decode().strip() == f"{tmp_path / 'gone'}: No such file or directory"
    os.waitpid(agent.supervisor_pid, 0)
