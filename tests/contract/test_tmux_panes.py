"""Claude Code in the person's own tmux is found, and gets keys only when everything is certain."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.config.settings import Config
from quarterdeck.drivers.registry import Drivers
from quarterdeck.sessions.tmux.user_panes import AgentPane, agent_panes, default_socket
from quarterdeck.system.process_table import alive, process_id
from tests.support import composer
from tests.support.daemon import Daemon, prompt, until

pytestmark = pytest.mark.skipif(not (shutil.which("tmux") or os.environ.get("CI")), reason="tmux is not here")


class OwnTmux:
    """A person's tmux, with a folder of Claude Code's process files."""

    def __init__(self, folder: Path) -> None:
        self.config, self.socket = folder, default_socket({"TMUX_TMPDIR": str(folder)})
        self.drivers = Drivers(Config.model_validate({"claude": {"config_dir": str(folder)}}))
        (folder / "sessions").mkdir()
        self.socket.parent.mkdir(mode=0o700)

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-f", "/dev/null", "-S", str(self.socket), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout

    def runs(self, name: str, *argv: str) -> int:
        """Run a program in a new tmux session; returns its pid."""
        shown = self.tmux("new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", name, "--", *argv)
        return int(shown)

    def is_claude(self, pid: int, session_id: str, start: str | None = None) -> None:
        process = process_id(pid)
        assert process is not None
        content = {"pid": pid, "sessionId": session_id, "procStart": start or process.start, "status": "idle"}
        (self.config / "sessions" / f"{pid}.json").write_text(json.dumps(content))

    async def found(self) -> list[AgentPane]:
        return await agent_panes(self.drivers.running, self.socket)


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnTmux]:
    own = OwnTmux(tmp_path_factory.mktemp("o"))
    yield own
    own.tmux("kill-server")


def child_of(pid: int) -> int:
    """The pid of its first child, once it has one."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return int(until(lambda: children.read_text().split())[0])


async def test_an_agent_is_found_in_its_pane_directly_or_below_a_shell(own: OwnTmux) -> None:
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
                            "#{session_name}"], capture_output=True, text=True, timeout=60)  # fmt: skip
    assert shown.stdout == "ab\n"


async def test_a_session_in_a_pane_shows_where_it_is_and_attach_names_it(own: OwnTmux, tmp_path: Path) -> None:
    env = {"TMUX_TMPDIR": str(own.config), "CLAUDE_CONFIG_DIR": str(own.config), "HOME": str(tmp_path)}
    with Daemon(tmp_path / "qd", env=env) as daemon:
        own.is_claude(own.runs("a", "sleep", "60"), "one")
        for session_id in ("one", "two"):
            daemon.hook(prompt("hello", session_id))
        listed = {s["session_id"]: s["where"] for s in daemon.api("GET", "/sessions")[1]["sessions"]}
        assert listed == {"one": f"tmux -S {own.socket} attach-session -t %0", "two": None}
        assert daemon.api("GET", "/sessions/one")[1]["where"] == listed["one"]
        attached = qd(daemon, "attach", "one")
        assert (attached.returncode, attached.stdout.strip()) == (0, listed["one"])
        refused = qd(daemon, "attach", "two")
        assert (refused.returncode, "no terminal that Quarterdeck can attach to" in refused.stderr) == (1, True)


def qd(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"QUARTERDECK_HOME": str(daemon.home), "PATH": os.environ["PATH"]}
    env["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")
    argv = [sys.executable, "-m", "quarterdeck", *words]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)


@pytest.mark.law("S3")
async def test_a_file_of_an_earlier_process_is_ignored(own: OwnTmux) -> None:
    own.is_claude(own.runs("a", "sleep", "60"), "one", start="1")
    (own.config / "sessions" / "x.json").write_text("{}")
    assert await own.found() == []


async def test_reading_panes_starts_no_server(own: OwnTmux) -> None:
    assert await own.found() == []
    assert not own.socket.exists()
    own.socket.write_text("no socket")
    assert await own.found() == []


class SteeredPane:
    """An agent in the person's tmux, drawn by a stand-in, as a session of a daemon."""

    def __init__(self, own: OwnTmux, daemon: Daemon) -> None:
        self.own, self.daemon = own, daemon
        agent = f"CLAUDE_CONFIG_DIR={own.config} QUARTERDECK_TAG=one exec {sys.executable} {composer.__file__}"
        self.pid = own.runs("one", "sh", "-c", agent)
        until(lambda: self.file.exists() and self.reads("status") == "idle", what="its composer")
        daemon.hook(prompt("hello", "one"))
        self.until_pid_known()

    @property
    def file(self) -> Path:
        return self.own.config / "sessions" / f"{self.pid}.json"

    def reads(self, field: str) -> object:
        with contextlib.suppress(OSError, ValueError):
            return json.loads(self.file.read_text()).get(field)
        return None

    def until_pid_known(self) -> None:
        def known() -> bool:
            actions = {a["name"]: a["possible"] for a in self.daemon.api("GET", "/sessions/one")[1]["actions"]}
            return bool(actions["end"] and actions["interrupt"])

        until(known, every=0.1, what="its process and its pane")

    def types(self, text: str) -> None:
        self.own.tmux("send-keys", "-t", "one:", text, "Enter")

    def submitted(self) -> list[str]:
        record = self.own.config / "submitted"
        return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []

    def command(self, route: str, **body: object) -> tuple[int, str]:
        """The status and the kind or the words of a refusal."""
        status, answer = self.daemon.api("POST", f"/sessions/one/{route}", body)
        return status, answer["error"]["message"] if status >= 400 else ""


@pytest.fixture
def steered(own: OwnTmux, tmp_path: Path) -> Iterator[SteeredPane]:
    env = {"TMUX_TMPDIR": str(own.config), "CLAUDE_CONFIG_DIR": str(own.config), "HOME": str(tmp_path)}
    with Daemon(tmp_path / "qd", env=env) as daemon:
        yield SteeredPane(own, daemon)


def test_one_escape_interrupts_a_busy_agent_and_nothing_else_is_pressed(steered: SteeredPane) -> None:
    steered.types("work")
    until(lambda: steered.reads("status") == "busy", what="work")
    assert steered.command("interrupt") == (202, "")
    assert (steered.reads("status"), steered.reads("escapes"), steered.submitted()) == ("idle", 1, ["work"])
    until(lambda: steered.daemon.api("GET", "/sessions/one")[1]["agent_state"] == "idle", what="idle")
    assert steered.command("interrupt") == (409, "one is not at work: nothing to interrupt")
    assert steered.reads("escapes") == 1
    assert [e["data"]["by"] for e in steered.daemon.events("session.interrupt")] == ["owner"]


def test_an_agent_that_stays_busy_is_reported_with_the_reason_after_one_escape(steered: SteeredPane) -> None:
    steered.types("toil")
    until(lambda: steered.reads("status") == "busy", what="work")
    status, reason = steered.command("interrupt")
    assert (status, reason) == (409, "Escape was pressed, and the session is still busy; check its terminal")
    assert steered.reads("escapes") == 1
    assert steered.daemon.events("session.failed")[-1]["data"]["error"] == reason


@pytest.mark.law("S8")
def test_a_prompt_reaches_the_agent_whole_and_not_beside_a_draft_or_a_dialog(steered: SteeredPane) -> None:
    sent = qd(steered.daemon, "send", "one", "and write\na test; please")
    assert (sent.returncode, steered.submitted()) == (0, ["and write\na test; please"]), sent.stderr
    steered.own.tmux("send-keys", "-t", "one:", "half a thought")
    until(lambda: "half a thought" in steered.own.tmux("capture-pane", "-p", "-t", "one:"), what="the draft")
    status, reason = steered.command("messages", prompt="hello")
    assert (status, "unsent text" in reason) == (409, True)
    steered.own.tmux("send-keys", "-t", "one:", "C-u")
    steered.types("ask")
    until(lambda: steered.reads("status") == "waiting", what="the dialog")
    status, reason = steered.command("messages", prompt="hello")
    assert (status, "waiting for an answer" in reason) == (409, True)
    assert steered.submitted() == ["and write\na test; please", "ask"]


@pytest.mark.law("S8")
def test_nothing_is_typed_while_another_program_is_in_front(steered: SteeredPane) -> None:
    os.kill(steered.pid, signal.SIGSTOP)
    steered.own.tmux("respawn-pane", "-k", "-t", "one:", "cat")
    status, reason = steered.command("messages", prompt="rm -rf /")
    assert status == 409, reason
    assert "rm -rf" not in steered.own.tmux("capture-pane", "-p", "-t", "one:")


@pytest.mark.law("S3")
def test_an_observed_agent_is_ended_by_its_own_process_with_what_it_was_running(steered: SteeredPane) -> None:
    steered.types("run sleep 600; true")
    child = child_of(steered.pid)
    assert steered.command("end") == (202, "")
    assert (alive(steered.pid), alive(child)) == (False, False)
    until(lambda: steered.daemon.api("GET", "/sessions/one")[1]["agent_state"] == "ended", what="its end")


def test_all_is_listed_confirmed_and_done_with_a_result_for_each(steered: SteeredPane) -> None:
    steered.types("work")
    until(lambda: steered.daemon.api("GET", "/sessions/one")[1]["agent_state"] == "running", what="running")
    steered.daemon.hook(prompt("hello", "nowhere"))
    refused = qd(steered.daemon, "interrupt", "--all")
    assert (refused.returncode, "(one) running · in your terminal" in refused.stdout) == (1, True), refused.stdout
    assert ("nothing was stopped; to interrupt them: --yes" in refused.stderr, steered.reads("escapes")) == (True, 0)
    done = qd(steered.daemon, "interrupt", "--all", "--yes")
    assert (done.returncode, done.stdout) == (0, "Interrupted: one\n")
    both = qd(steered.daemon, "end", "one", "nowhere")
    assert (both.returncode, both.stdout.splitlines()[0]) == (1, "Ended: one")
    assert "Not ended: nowhere: the process of nowhere is not known; end it in its terminal" in both.stdout
    until(lambda: steered.daemon.api("GET", "/sessions/one")[1]["agent_state"] == "ended", what="its end")
    assert qd(steered.daemon, "end", "--all").stdout == "Nothing to end: no session is running.\n"
    wrong = qd(steered.daemon, "end", "one", "--all")
    assert (wrong.returncode, "name sessions, or use --all" in wrong.stderr) == (2, True)
