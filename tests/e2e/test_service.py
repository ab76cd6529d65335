"""`qd service` with a real systemd user manager: a restart and a crash leave terminals and SDK sessions running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.claude import API_KEY, ClaudeHome, Json, require
from tests.support.daemon import Daemon, until
from tests.support.model_server import ModelServer, Turn, text
from tests.support.tmux import Pane
from tests.support.user_manager import UserManager, require_systemd

pytestmark = [pytest.mark.e2e]

QD = (sys.executable, "-m", "quarterdeck")


class ServedHome:
    """A scratch HOME with a user manager and Quarterdeck's home in its default place."""

    def __init__(self, manager: UserManager) -> None:
        self.manager = manager
        self.home = manager.home / ".local" / "share" / "quarterdeck"
        self.home.mkdir(parents=True, mode=0o700)
        (self.home / "config.yaml").write_text("runner:\n  port: 0\n")
        self.unit = manager.home / ".config" / "systemd" / "user" / "quarterdeck.service"
        self.daemon = Daemon(self.home)
        manager.env["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")

    def qd(self, *words: str, code: int = 0, **env: str) -> str:
        """What a command prints; it must exit with this code."""
        done = self.manager.run(*QD, *words, check=False, **env)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def service_pid(self) -> int:
        """The process of the service; 0 while there is none."""
        return int(self.manager.systemctl("show", "quarterdeck", "--property=MainPID", "--value"))

    def until_ready(self, *, after: int = 0) -> int:
        """Wait until the service's daemon is ready, as another process than `after`."""

        def ready() -> bool:
            pid = self.service_pid()
            return pid not in (0, after) and self.daemon.note().get("pid") == pid

        until(ready, every=0.05, what="the daemon of the service")
        return self.service_pid()

    def starts(self, mode: str, **body: object) -> Json:
        cwd = str(self.manager.home / "project")
        status, session = self.daemon.api("POST", "/sessions", {"cwd": cwd, "mode": mode, **body})
        assert status == 201, session
        return self.running(session["session_id"])

    def running(self, session_id: str) -> Json:
        """The session once its process is known and it is up."""

        def up() -> Json | None:
            session: Json = self.daemon.api("GET", f"/sessions/{session_id}")[1]
            return session if session["pid"] and session["owned"]["status"] == "up" else None

        return until(up, every=0.05, what=f"{session_id} up") or {}

    def trust_project(self) -> None:
        (self.manager.home / "project").mkdir(exist_ok=True)
        self.qd("projects", "trust", str(self.manager.home / "project"), "--yes")


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHome]:
    require_systemd()
    with UserManager(tmp_path_factory.mktemp("s")) as manager:
        yield ServedHome(manager)


def test_install_is_shown_first_done_once_and_removed_without_a_trace(served: ServedHome) -> None:
    before = sorted(served.manager.home.rglob("*"))
    shown = served.qd("service", "install", "--dry-run", ANTHROPIC_API_KEY=API_KEY)
    assert "+KillMode=process" in shown
    assert "would run: systemctl --user --no-pager enable quarterdeck.service" in shown
    assert sorted(served.manager.home.rglob("*")) == before
    assert "starts when you log in" in served.qd("service", "install", ANTHROPIC_API_KEY=API_KEY)
    pid = served.until_ready()
    unit = served.unit.read_text()
    secrets = [(served.home / name).read_text().strip() for name in ("token", "hook-token")]
    assert [secret for secret in (*secrets, API_KEY, API_KEY[-20:]) if secret in unit] == []
    assert "Nothing to change" in served.qd("service", "install", ANTHROPIC_API_KEY=API_KEY)
    assert (served.service_pid(), served.unit.read_text()) == (pid, unit)
    assert f"running as pid {pid}; starts when you log in" in served.qd("service", "status")
    served.qd("service", "remove")
    assert (served.unit.exists(), served.service_pid()) == (False, 0)
    assert not list(served.manager.home.rglob("*.wants/*"))
    assert "Nothing to remove" in served.qd("service", "remove")


def test_systemd_finds_no_fault_in_the_unit_even_with_an_odd_home(served: ServedHome) -> None:
    odd = served.manager.home / 'a b %h $HOME "q" \\n'
    odd.mkdir(mode=0o700)
    (odd / "config.yaml").write_text("runner:\n  port: 0\n")
    served.qd("service", "install", QUARTERDECK_HOME=str(odd))
    assert served.manager.run("systemd-analyze", "--user", "verify", str(served.unit)).stderr == ""
    assert Daemon(odd).note()["pid"] == served.service_pid()
    assert "Nothing to change" in served.qd("service", "install", QUARTERDECK_HOME=str(odd))


def test_a_service_that_cannot_start_says_why(served: ServedHome) -> None:
    (served.home / "events.db").mkdir()
    shown = served.qd("service", "install", code=1)
    assert "the service did not start: " in shown
    assert "events.db" in shown
    assert (served.home / "log" / "service.log").stat().st_mode & 0o077 == 0


@pytest.mark.law("S1")
@pytest.mark.parametrize("how", ["restart", "crash"])
def test_terminals_and_sdk_sessions_outlive_the_daemon(served: ServedHome, how: str) -> None:
    with ModelServer() as model:
        claude = ClaudeHome(served.manager.home.parent / "c", cli=require("2.1.325"), model_url=model.url)
        model.scripts["think"] = (Turn(text("thought"), before=600.0),)
        served.manager.systemctl("set-environment", *(f"{k}={v}" for k, v in claude.env.items() if k not in KEPT))
        (served.home / "config.yaml").write_text(f"runner:\n  port: 0\nclaude:\n  path: {claude.cli}\n")
        served.qd("service", "install")
        pid = served.until_ready()
        served.trust_project()
        sessions = [served.starts("pty", shell=True), served.starts("sdk", prompt="think")]
        before = [session["pid"] for session in sessions]
        if how == "restart":
            served.manager.systemctl("restart", "quarterdeck")
        else:
            os.kill(pid, signal.SIGKILL)
        served.until_ready(after=pid)
        assert [served.running(session["session_id"])["pid"] for session in sessions] == before
        for session in sessions:
            served.qd("end", session["session_id"])


KEPT = ("HOME", "PATH", "XDG_RUNTIME_DIR")


def test_a_daemon_that_runs_already_is_handed_over_with_its_terminals(served: ServedHome) -> None:
    served.qd("up")
    served.trust_project()
    terminal = served.starts("pty", shell=True)
    first = served.daemon.note()["pid"]
    served.qd("service", "install")
    assert served.until_ready() != first
    assert served.running(terminal["session_id"])["pid"] == terminal["pid"]
    served.qd("end", terminal["session_id"])


def test_stop_lasts_and_up_starts_the_service_again(served: ServedHome) -> None:
    served.qd("service", "install")
    pid = served.until_ready()
    assert "starts again when you log in" in served.qd("stop")
    assert (served.service_pid(), "not running" in served.qd("service", "status")) == (0, True)
    assert "qd up" in next(line for line in served.qd("doctor", code=1).splitlines() if "→ qd up" in line)
    served.qd("up")
    assert served.until_ready(after=pid) == served.daemon.note()["pid"]


def test_doctor_names_variables_that_the_service_lacks_and_never_their_values(served: ServedHome) -> None:
    served.qd("service", "install")
    lacking = {"ANTHROPIC_API_KEY": API_KEY, "HTTPS_PROXY": "http://user:pass@proxy", "CLAUDE_CODE_ENTRYPOINT": "cli"}
    shown = served.qd("doctor", code=1, **lacking)
    assert "your shell has variables that the service lacks: ANTHROPIC_API_KEY, HTTPS_PROXY\n" in shown
    assert [value for value in (API_KEY, "pass@proxy", "ENTRYPOINT") if value in shown] == []
    served.manager.systemctl("set-environment", *(f"{name}={value}" for name, value in lacking.items()))
    served.manager.systemctl("restart", "quarterdeck")
    served.until_ready()
    assert "variables that the service lacks" not in served.qd("doctor", code=1, **lacking)


def test_a_file_of_somebody_else_and_a_service_of_another_home_are_left_alone(served: ServedHome) -> None:
    served.qd("service", "install")
    other = served.qd("service", "install", code=1, QUARTERDECK_HOME=str(served.manager.home / "other"))
    assert f"first: QUARTERDECK_HOME={served.home} qd service remove" in other
    served.qd("service", "remove")
    served.unit.write_text("[Service]\nExecStart=/bin/true\n")
    for words in (("service", "install"), ("service", "remove")):
        assert "was not written by Quarterdeck" in served.qd(*words, code=1)
    assert served.unit.read_text() == "[Service]\nExecStart=/bin/true\n"


@pytest.mark.usefixtures("tmux")
def test_up_offers_the_service_once_on_a_terminal(served: ServedHome, tmp_path: Path) -> None:
    def up(answer: str) -> str:
        command = [*served.manager.command(*QD, "up", "--plain")]
        with Pane(command, served.manager.env, cwd=tmp_path) as pane:
            pane.wait_for("running at")
            pane.wait_for("help")
            pane.keys("quit", "Enter")
            if answer:
                pane.wait_for("Start it whenever you log in?")
                pane.keys(answer, "Enter")
            pane.wait_for_end()
            return pane.screen()

    up("n")
    assert not served.unit.exists()
    assert "Start it whenever" not in up("")
    (served.home / "service-offered").unlink()
    up("y")
    served.until_ready()


def test_without_a_user_manager_install_says_what_to_do_instead(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path / "none")}
    env["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")
    done = subprocess.run([*QD, "service", "install"], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, len(done.stderr.splitlines()), list(tmp_path.iterdir())) == (1, 1, [])
    assert "systemd is not responding for this user" in done.stderr
    assert "start it by hand with qd up, or let cron do it" in done.stderr
