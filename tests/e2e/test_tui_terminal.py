"""The terminal UI in a real terminal: without colours, with the person's own editor, ended by signals."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.claude import ClaudeHome, require
from tests.support.daemon import PATIENCE_SECONDS, Daemon, decision_in, permission, until
from tests.support.tmux import Pane, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]
COLOURS = re.compile(r"\x1b\[(?:[\d;:]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;:m]")


@contextmanager
def tui(daemon: Daemon, columns: int = 120, rows: int = 40, **more: str) -> Iterator[Pane]:
    """`qd up` in a terminal of its own."""
    env = {"HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home), "LANG": "C.UTF-8", **more}
    env |= {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    up = shlex.join([sys.executable, "-m", "quarterdeck", "up"])
    with Pane(
        ["sh", "-c", f"{up}; echo ended with $?; sleep 60"], env, cwd=daemon.home.parent, columns=columns, rows=rows
    ) as pane:
        pane.wait_for("Sessions")
        yield pane


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


def test_without_colours_every_state_still_has_its_sign(daemon: Daemon) -> None:
    daemon.hold(permission("git push --force"))
    daemon.until_pending(1)
    with tui(daemon, 60, 20, NO_COLOR="1", COLORTERM="truecolor") as pane:
        for sign in ("▸ Desk 1 of 1", "◆", "needs you", "!!", "[a]", "? help"):
            pane.wait_for(sign)
        assert not COLOURS.search(pane.screen(styled=True))
        pane.keys("Tab", "Tab", "Down")
        pane.wait_for("▌◆")


def test_an_input_is_edited_in_the_persons_own_editor(daemon: Daemon, tmp_path: Path) -> None:
    editor = tmp_path / "ed"
    editor.write_text("#!/bin/sh\nprintf 'make amends' > \"$1\"\n")
    editor.chmod(0o700)
    held = daemon.hold(permission("make mistakes"))
    daemon.until_pending(1)
    with tui(daemon, EDITOR=str(editor)) as pane:
        pane.wait_for("▸ Desk 1 of 1")
        pane.wait_for("make mistakes")
        pane.press_until("e", "Edit, then allow")
        pane.keys("C-e")
        pane.wait_for("make amends")

        def is_decided() -> bool:
            """Press again: a dialog accepts nothing until it has been visible for a moment."""
            pane.keys("C-s")
            return not daemon.pending()

        until(is_decided, every=1.0, what="the decision")
        answer = held.answer()[1]
        assert decision_in(answer) == "allow"
        assert b"make amends" in answer


def test_a_new_request_notifies_while_an_editor_has_the_screen(daemon: Daemon, tmp_path: Path) -> None:
    editor, go_on = tmp_path / "ed", tmp_path / "go-on"
    editor.write_text(f"#!/bin/sh\necho editing\nwhile [ ! -e {go_on} ]; do sleep 0.05; done\n")
    editor.chmod(0o700)
    daemon.hold(permission("make mistakes"))
    daemon.until_pending(1)
    with tui(daemon, EDITOR=str(editor)) as pane:
        pane.wait_for("▸ Desk 1 of 1")
        pane.press_until("e", "Edit, then allow")
        pane.keys("C-e")
        pane.wait_for("editing")
        daemon.hold(permission("make haste", "other"))
        wait_until(lambda: pane.title() == "(2) Quarterdeck", PATIENCE_SECONDS, pane.title)
        assert "make haste" not in pane.screen()
        go_on.touch()
        pane.wait_for("Edit, then allow")
        pane.keys("Escape")
        pane.wait_for("Desk 1 of 2")


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP], ids=str)
def test_a_signal_ends_the_terminal_ui_and_restores_the_terminal(daemon: Daemon, sign: signal.Signals) -> None:
    with tui(daemon) as pane:
        assert pane.modes() == (True, True)
        (child,) = Path(f"/proc/{pane.pid}/task/{pane.pid}/children").read_text().split()
        os.kill(int(child), sign)
        pane.wait_for(f"ended with {128 + sign}")
        assert pane.modes() == (False, False)


def test_connecting_from_the_desk_asks_once_and_only_for_a_change(tmp_path: Path) -> None:
    claude = ClaudeHome(tmp_path, cli=require("2.1.325"), model_url="http://127.0.0.1:9")
    home = claude.path / "quarterdeck"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text(f"claude:\n  path: {claude.cli}\n  config_dir: {claude.config}\n")
    with Daemon(home) as running:
        with tui(running) as pane:
            pane.wait_for("Nothing is connected yet")
            pane.press_until("i", "Do it? [y/N]")
            pane.keys("Escape")
            pane.wait_for("Nothing is connected yet")
            assert not claude.settings_file.exists()
            pane.keys("i")
            pane.wait_for(re.compile(r"(?s)Do it\? .*Do it\? "))
            pane.keys("y")
            pane.wait_for("Press a key to go back")
            pane.keys("Escape")
            pane.wait_for("Claude Code is connected")
        with tui(running) as pane:
            pane.wait_for("Claude Code is connected")
            pane.press_until("i", "nothing was changed")
            assert "Do it?" not in pane.wait_for("Press a key to go back")
