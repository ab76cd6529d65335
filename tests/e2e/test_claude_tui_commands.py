"""Sessions started, prompted and ended in the terminal UI, with the real Claude Code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_claude_tui import press_until_over, tui
from tests.support.claude import require
from tests.support.daemon import PATIENCE_SECONDS
from tests.support.model_server import Turn, text
from tests.support.owned_claude import Owner
from tests.support.tmux import READY, Pane, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    """An owner whose project has a hook of its own."""
    folder = tmp_path_factory.mktemp("owner")
    with Owner(
        folder, require("2.1.325"), env={"QUARTERDECK_PROJECTS_ROOTS": str(folder / "home" / "project")}
    ) as owner:
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true the-projects-own-hook"}]}]}
        owner.path(".claude").mkdir(exist_ok=True)
        owner.path(".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
        assert owner.daemon.api("POST", "/projects/scan?anew=true", timeout=60)[0] == 200
        yield owner


def trusts(desk: Pane) -> None:
    """Press y until the project is trusted: its project config must have been on screen for a moment."""

    def pressed() -> bool:
        desk.keys("y")
        return "Trust this project?" not in desk.screen()

    wait_until(pressed, PATIENCE_SECONDS, desk.screen)


def test_a_session_is_started_decided_prompted_and_ended_in_the_terminal_ui(owner: Owner) -> None:
    assert owner.daemon.api("POST", "/projects/untrust", {"path": str(owner.claude.project)})[0] == 200
    prompt = owner.script_bash("touch from-the-dialog")
    words = "and here is the second answer, word after word, which takes its time"
    second = owner.script("now say something", Turn(text(words), between=0.15))
    with tui(owner) as desk:
        desk.keys("s")
        desk.wait_for("Start a session")
        desk.wait_for("untrusted")
        desk.keys(Path(owner.claude.project).name, "Enter")
        desk.keys(prompt, "C-s")
        desk.wait_for("Trust this project?")
        desk.wait_for("true the-projects-own-hook")
        trusts(desk)
        request = owner.request_to_run("touch from-the-dialog")
        desk.wait_for("Started project (")
        desk.wait_for("touch from-the-dialog")
        desk.keys("n")
        press_until_over(desk, "a", owner, request)
        assert owner.confirmed(request)["decision"]["by"] == "owner via tui"
        (session,) = owner.daemon.api("GET", "/sessions")[1]["sessions"]
        assert (session["mode"], session["owned"]["started_by"]) == ("sdk", "owner via tui")
        owner.session(session["session_id"], "settled")
        assert owner.path("from-the-dialog").exists()

        desk.keys(">")
        desk.wait_for("Write to a session")
        desk.keys(second, "C-s")
        desk.wait_for("● project says")
        result = owner.event(session, "turn.result", after=owner.event(session, "turn.result")["seq_no"])
        assert result["data"]["text"] == words
        wait_until(lambda: "● project says" not in desk.screen(), PATIENCE_SECONDS, desk.screen)

        desk.keys("E")
        desk.wait_for("and everything it started?")
        desk.keys("y")
        owner.ended(session)
        desk.wait_for("R resume")
        desk.keys("q")
        desk.wait_for_end()


@pytest.mark.parametrize("mode", ["pty", "tmux"])
def test_a_sessions_terminal_takes_the_screen_and_gives_it_back(owner: Owner, mode: str) -> None:
    assert owner.daemon.api("POST", "/projects/trust", {"path": str(owner.claude.project)})[0] == 200
    session = owner.starts(mode)
    with tui(owner) as desk:
        desk.keys("Down")
        desk.wait_for("t terminal")
        desk.keys("t")
        desk.wait_for(READY)
        prompt = owner.script(f"hello from the {mode}", Turn(text(f"greetings to the {mode}")))
        desk.keys(prompt, "Enter")
        desk.wait_for(f"greetings to the {mode}")
        desk.keys("C-]")
        desk.wait_for("Back from project (")
        desk.wait_for("Sessions")
        assert owner.daemon.api("GET", f"/sessions/{session['session_id']}")[1]["owned"]["status"] == "up"
        desk.keys("E")
        desk.wait_for("and everything it started?")
        desk.keys("y")
        owner.ended(session)
        desk.keys("q")
        desk.wait_for_end()
