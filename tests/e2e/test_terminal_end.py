"""`qd up` ends on SIGHUP, SIGTERM and with its terminal, whatever has the screen."""

import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.daemon import PATIENCE_SECONDS, Daemon, permission, until
from tests.support.tmux import Pane

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]
SIGNALS = pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP], ids=str)
UP = (sys.executable, "-m", "quarterdeck", "up")
STUBBORN = "#!/bin/sh\ntrap '' HUP TERM INT\necho editing\nwhile [ ! -e {go_on} ]; do sleep 0.05; done\n"
POLITE = "#!/bin/sh\necho editing\nexec sleep 600\n"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        running.hold(permission("make mistakes"))
        running.until_pending(1)
        yield running


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Path]:
    """An editor that a test writes; one that ignores signals ends with the test."""
    yield tmp_path / "ed"
    (tmp_path / "go-on").touch()


def env(daemon: Daemon, **more: str) -> dict[str, str]:
    named = {"HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home), "LANG": "C.UTF-8"}
    source = str(Path(__file__).parents[2] / "src")
    return {**named, "PATH": os.environ["PATH"], "PYTHONPATH": source, "TERM": "xterm-256color", **more}


@contextmanager
def desk(daemon: Daemon, *args: str, shows: str = "make mistakes", before: str = "", **more: str) -> Iterator[Pane]:
    """`qd up` in a terminal whose shell says how it ended."""
    script = f"{before}{shlex.join([*UP, *args])}; echo ended with $?; stty -a; sleep 60"
    with Pane(["sh", "-c", script], env(daemon, **more), cwd=daemon.home.parent) as pane:
        pane.wait_for(shows)
        yield pane


def desk_pid(pane: Pane) -> int:
    (child,) = Path(f"/proc/{pane.pid}/task/{pane.pid}/children").read_text().split()
    return int(child)


def open_editor(pane: Pane, editor: Path, script: str) -> None:
    editor.write_text(script.format(go_on=editor.parent / "go-on"))
    editor.chmod(0o700)
    pane.press_until("e", "Edit, then allow")
    pane.keys("C-e")
    pane.wait_for("editing")


@SIGNALS
@pytest.mark.parametrize("script", [POLITE, STUBBORN], ids=["editor", "editor that ignores signals"])
def test_a_signal_ends_the_desk_while_an_editor_has_the_screen(
    daemon: Daemon, editor: Path, script: str, sign: signal.Signals
) -> None:
    with desk(daemon, EDITOR=str(editor)) as pane:
        open_editor(pane, editor, script)
        os.kill(desk_pid(pane), sign)
        pane.wait_for(re.compile(rf"ended with {128 + sign}(?s:.*) icanon (?s:.*) echo "))
        assert pane.modes() == (False, False)


@SIGNALS
def test_a_signal_ends_the_desk_while_a_sessions_terminal_has_the_screen(daemon: Daemon, sign: signal.Signals) -> None:
    assert daemon.api("POST", "/projects/trust", {"path": str(daemon.home.parent)})[0] == 200
    start = {"cwd": str(daemon.home.parent), "mode": "pty", "shell": True}
    status, session = daemon.api("POST", "/sessions", start)
    assert status == 201, session
    with desk(daemon) as pane:
        pane.keys("Tab")
        pane.wait_for("▸ Sessions")
        pane.keys("End")
        pane.wait_for("t terminal")
        pane.keys("t")
        pane.wait_for(re.compile(r"\A[^│┃]*[#$]\s*\Z"))
        pane.keys("echo in$((1+1))side", "Enter")
        pane.wait_for("in2side")
        os.kill(desk_pid(pane), sign)
        pane.wait_for(re.compile(rf"ended with {128 + sign}(?s:.*) icanon (?s:.*) echo "))
        assert pane.modes() == (False, False)
    path = f"/sessions/{session['session_id']}"
    assert daemon.api("GET", path)[1]["owned"]["status"] == "up"
    daemon.api("POST", f"{path}/end")
    until(lambda: daemon.api("GET", path)[1]["owned"]["status"] == "down", what="the end of its shell")


def test_an_editor_ends_with_the_desk_that_opened_it(daemon: Daemon, editor: Path) -> None:
    with desk(daemon, EDITOR=str(editor)) as pane:
        open_editor(pane, editor, POLITE)
        opened = Path(f"/proc/{desk_pid(pane)}/task")
        (child,) = {pid for task in opened.iterdir() for pid in (task / "children").read_text().split()}
        os.kill(desk_pid(pane), signal.SIGTERM)
        until(lambda: not Path(f"/proc/{child}").exists(), what="the end of the editor")


@SIGNALS
def test_a_signal_ends_plain_mode_and_restores_the_terminal(daemon: Daemon, sign: signal.Signals) -> None:
    with desk(daemon, "--plain") as pane:
        os.kill(desk_pid(pane), sign)
        pane.wait_for(re.compile(rf"ended with {128 + sign}(?s:.*) icanon (?s:.*) echo "))


@SIGNALS
def test_a_signal_ends_a_desk_that_was_started_with_this_signal_ignored(daemon: Daemon, sign: signal.Signals) -> None:
    with desk(daemon, before=f"trap '' {sign.name.removeprefix('SIG')}; ") as pane:
        os.kill(desk_pid(pane), sign)
        pane.wait_for(f"ended with {128 + sign}")


@pytest.mark.parametrize("args", [(), ("--plain",)], ids=["screen", "plain"])
def test_the_desk_ends_when_its_terminal_is_gone_and_no_signal_says_so(daemon: Daemon, args: tuple[str, ...]) -> None:
    """A terminal that is not the controlling one of its program, as below some terminal programs and after setsid,
    goes without a SIGHUP: each read is an end of file, each write an error."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    up = [*UP, *args]
    with subprocess.Popen(
        up, env=env(daemon), start_new_session=True, stdin=terminal, stdout=terminal, stderr=terminal
    ) as process:
        try:
            os.close(terminal)
            shown = b""
            while b"mistakes" not in shown:
                assert select.select([master], [], [], PATIENCE_SECONDS)[0], shown
                shown += os.read(master, 65536)
            os.close(master)
            process.wait(PATIENCE_SECONDS)
        finally:
            process.kill()
