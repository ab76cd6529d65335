"""The terminal face in a real terminal, by itself: without colours, and with the person's own editor."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, decision_in, permission
from tests.support.tmux import Pane

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]
COLOURS = re.compile(r"\x1b\[[\d;]*?[34]8;2;(\d+);(\d+);(\d+)")


@contextmanager
def face(daemon: Daemon, columns: int = 120, rows: int = 40, **more: str) -> Iterator[Pane]:
    """`qd up` in a terminal of its own."""
    env = {"HOME": str(daemon.home.parent), "QUARTERDECK_HOME": str(daemon.home), "LANG": "C.UTF-8", **more}
    env |= {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-m", "quarterdeck", "up"]
    with Pane(command, env, cwd=daemon.home.parent, columns=columns, rows=rows) as pane:
        pane.wait_for("Sessions")
        yield pane


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


def test_without_colours_every_state_still_has_its_sign(daemon: Daemon) -> None:
    daemon.hold(permission("git push --force"))
    daemon.until_pending(1)
    with face(daemon, 60, 20, NO_COLOR="1", COLORTERM="truecolor") as pane:
        for sign in ("▸ Desk 1 of 1", "◆", "needs you", "!!", "[a]", "? help"):
            pane.wait_for(sign, 10)
        told = COLOURS.findall(pane.screen(styled=True))
        assert {len(set(colour)) for colour in told} <= {1}


def test_an_input_is_edited_in_the_persons_own_editor(daemon: Daemon, tmp_path: Path) -> None:
    editor = tmp_path / "ed"
    editor.write_text("#!/bin/sh\nprintf 'make amends' > \"$1\"\n")
    editor.chmod(0o700)
    held = daemon.hold(permission("make mistakes"))
    daemon.until_pending(1)
    with face(daemon, EDITOR=str(editor)) as pane:
        pane.wait_for("▸ Desk 1 of 1")
        pane.wait_for("make mistakes")
        pane.press_until("e", "Edit, then allow")
        pane.keys("C-e")
        pane.wait_for("make amends")
        pane.keys("C-s")
        answer = held.answer()[1]
        assert decision_in(answer) == "allow"
        assert b"make amends" in answer
