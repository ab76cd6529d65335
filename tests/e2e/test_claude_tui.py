"""The terminal UI in a real terminal, with real keys, beside a real Claude Code session."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.claude import Json
from tests.support.connected_claude import Connected
from tests.support.daemon import PATIENCE_SECONDS
from tests.support.tmux import Pane, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


@contextmanager
def tui(pair: Connected, columns: int = 120, rows: int = 40) -> Iterator[Pane]:
    """`qd up` in a terminal of its own, until it is left with q."""
    env = {"HOME": str(pair.claude.path), "QUARTERDECK_HOME": str(pair.daemon.home), "LANG": "C.UTF-8"}
    env |= {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-m", "quarterdeck", "up"]
    with Pane(command, env, cwd=pair.claude.path, columns=columns, rows=rows) as pane:
        pane.wait_for("Sessions")
        pane.wait_for("✓")
        yield pane


def press_until_over(pane: Pane, key: str, pair: Connected, request: Json) -> None:
    """A card's keys act once it has been seen for a moment: press until the request is over."""

    def pressed() -> bool:
        pane.keys(key)
        return bool(pair.request(request)["status"] != "pending")

    wait_until(pressed, PATIENCE_SECONDS, pane.screen)


def test_a_request_of_a_real_session_is_allowed_and_another_denied(newest: Connected) -> None:
    with newest.terminal() as terminal, tui(newest) as desk:
        terminal.type_prompt(newest.script_bash("touch sailed"))
        request = newest.request_to_run("touch sailed")
        desk.wait_for("touch sailed")
        wait_until(lambda: desk.title() == "(1) Quarterdeck", PATIENCE_SECONDS, desk.title)
        desk.keys("n")
        press_until_over(desk, "a", newest, request)
        decided = newest.confirmed(request)["decision"]
        assert (decided["decision"], decided["by"]) == ("allow", "owner via tui")
        desk.wait_for("· confirmed")
        terminal.wait_for("finished")
        assert newest.path("sailed").exists()
        wait_until(lambda: desk.title() == "Quarterdeck", PATIENCE_SECONDS, desk.title)

        terminal.type_prompt(newest.script_bash("touch sunk"))
        request = newest.request_to_run("touch sunk")
        desk.resize(60, 20)
        desk.wait_for("touch sunk")
        desk.press_until("d", "A message for the agent")
        desk.keys("not in these waters", "Enter")
        decided = newest.closed(request)["decision"]
        assert (decided["decision"], decided["message"]) == ("deny", "not in these waters")
        assert not newest.path("sunk").exists()
        desk.keys("q")
        desk.wait_for_end()
