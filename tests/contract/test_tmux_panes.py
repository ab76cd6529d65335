"""Claude Code in the person's own tmux is found, and left alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.sessions.tmux.user_panes import ClaudePane, claude_panes, default_socket
from quarterdeck.system.process_watch import process_id
from tests.support.daemon import Daemon, prompt, until

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not here")


class Own:
    """A person's tmux, with a folder of Claude Code's process files."""

    def __init__(self, folder: Path) -> None:
        self.config, self.socket = folder, default_socket({"TMUX_TMPDIR": str(folder)})
        (folder / "sessions").mkdir()
        self.socket.parent.mkdir(mode=0o700)

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-f", "/dev/null", "-S", str(self.socket), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=5).stdout

    def runs(self, name: str, *argv: str) -> int:
        """The pid of a program in a session of its own."""
        shown = self.tmux("new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", name, "--", *argv)
        return int(shown)

    def is_claude(self, pid: int, session_id: str, start: str | None = None) -> None:
        process = process_id(pid)
        assert process is not None
        said = {"pid": pid, "sessionId": session_id, "procStart": start or process.start, "status": "idle"}
        (self.config / "sessions" / f"{pid}.json").write_text(json.dumps(said))

    async def found(self) -> list[ClaudePane]:
        return await claude_panes(self.config, self.socket)


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    own = Own(tmp_path_factory.mktemp("o"))
    yield own
    own.tmux("kill-server")


def child_of(pid: int) -> int:
    """Its first child, once it has one."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return int(until(lambda: children.read_text().split())[0])


async def test_an_agent_is_found_in_its_pane_itself_or_below_a_shell(own: Own) -> None:
    assert await own.found() == []
    itself = own.runs("a", "sleep", "60")
    shell = own.runs("ab", "sh", "-c", "sleep 60; true")
    own.runs("other", "sleep", "60")
    below = child_of(shell)
    own.is_claude(itself, "one")
    own.is_claude(below, "two")
    found = {pane.session_id: pane for pane in await own.found()}
    assert {name: (pane.session, pane.pane, pane.pid) for name, pane in found.items()} == {
        "one": ("$0", "%0", itself),
        "two": ("$1", "%1", below),
    }
    shown = subprocess.run(["tmux", *found["two"].attach[1:3], "display-message", "-p", "-t", found["two"].attach[-1],
                            "#{session_name}"], capture_output=True, text=True, timeout=5)  # fmt: skip
    assert shown.stdout == "ab\n"


async def test_a_session_that_was_seen_in_a_pane_says_where_and_attach_names_it(own: Own, tmp_path: Path) -> None:
    env = {"TMUX_TMPDIR": str(own.config), "CLAUDE_CONFIG_DIR": str(own.config), "HOME": str(tmp_path)}
    with Daemon(tmp_path / "qd", env=env) as daemon:
        own.is_claude(own.runs("a", "sleep", "60"), "one")
        for session_id in ("one", "two"):
            daemon.hook(prompt("hello", session_id))
        listed = {s["session_id"]: s["where"] for s in daemon.api("GET", "/sessions")[1]["sessions"]}
        assert listed == {"one": f"tmux -S {own.socket} attach-session -t %0", "two": None}
        assert daemon.api("GET", "/sessions/one")[1]["where"] == listed["one"]
        said = qd(daemon, "attach", "one")
        assert (said.returncode, said.stdout.strip()) == (0, listed["one"])
        refused = qd(daemon, "attach", "two")
        assert (refused.returncode, "no terminal of ours" in refused.stderr) == (1, True)


def qd(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"QUARTERDECK_HOME": str(daemon.home), "PATH": os.environ["PATH"]}
    env["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")
    argv = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=30)


@pytest.mark.law("S3")
async def test_a_file_of_an_earlier_process_names_nobody(own: Own) -> None:
    own.is_claude(own.runs("a", "sleep", "60"), "one", start="1")
    (own.config / "sessions" / "x.json").write_text("{}")
    assert await own.found() == []


async def test_no_server_is_started_by_looking(own: Own) -> None:
    assert await own.found() == []
    assert not own.socket.exists()
    own.socket.write_text("no socket")
    assert await own.found() == []
