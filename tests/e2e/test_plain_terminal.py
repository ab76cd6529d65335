"""Plain mode in a real terminal: typed text survives announcements, and the person's own editor opens."""

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from tests.support.daemon import PATIENCE_SECONDS, Daemon, decision_in, permission
from tests.support.tmux import Pane, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


@contextmanager
def lines(daemon: Daemon, **more: str) -> Iterator[Pane]:
    """`qd up --plain` below a shell that shows how it leaves the terminal."""
    env = {"HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home), "LANG": "C.UTF-8", **more}
    env |= {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = ["sh", "-c", f"trap : INT; {sys.executable} -m quarterdeck up --plain; echo left; stty -a; cat"]
    with Pane(command, env, cwd=daemon.home.parent, columns=100, rows=40) as pane:
        pane.wait_for("Connected.")
        yield pane


def settles() -> None:
    """Wait until a request that just arrived may be decided."""
    came = time.monotonic()
    wait_until(lambda: time.monotonic() - came > 2 * SETTLE_SECONDS, PATIENCE_SECONDS, str)


def enter(pane: Pane, text: str) -> None:
    pane.keys("-l", text)
    pane.keys("Enter")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


def test_typed_text_is_repeated_below_an_announcement(daemon: Daemon) -> None:
    with lines(daemon) as pane:
        pane.keys("-l", "deny 1 not")
        pane.wait_for("deny 1 not")
        held = daemon.hold(permission("make haste"))
        shown = pane.wait_for(re.compile(r"It takes: .*\ndeny 1 not"))
        assert "Request 1: w wants to run" in shown
        assert shown.count("deny 1 not") == 2
        settles()
        pane.keys("x", "BSpace")
        enter(pane, " so fast")
        assert b"not so fast" in held.answer()[1]
        pane.wait_for("Request 1: Denied by owner from tui")
        pane.keys("Up")
        pane.wait_for(re.compile(r"deny 1 not so fast\s*$"))
        pane.keys("C-u")
        enter(pane, "quit")
        assert " echo " in pane.wait_for(re.compile(r"left\n(?:.*\n)*.* icanon "))


def test_an_interrupted_plain_mode_leaves_the_terminal_as_it_was(daemon: Daemon) -> None:
    with lines(daemon) as pane:
        pane.keys("C-c")
        assert " echo " in pane.wait_for(re.compile(r"left\n(?:.*\n)*.* icanon "))


def test_an_input_is_edited_in_the_persons_own_editor_and_read_back(daemon: Daemon, tmp_path: Path) -> None:
    editor = tmp_path / "ed"
    editor.write_text("#!/bin/sh\nprintf 'make amends' > \"$1\"\n")
    editor.chmod(0o700)
    with lines(daemon, EDITOR=str(editor)) as pane:
        held = daemon.hold(permission("make mistakes"))
        pane.wait_for("It takes:")
        settles()
        enter(pane, "edit 1")
        pane.wait_for("Allow exactly this?")
        assert "  make amends" in pane.screen()
        enter(pane, "yes")
        answer = held.answer()[1]
        assert decision_in(answer) == "allow"
        assert b"make amends" in answer
