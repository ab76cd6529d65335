"""The way of a text to the shown session."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.deck.routes import DeckRoute, route_to
from quarterdeck.core.deck.shown_session import shown_session
from quarterdeck.core.engine.deck_messages import SeenTerminal
from tests.support.deck_scene import DeckScene

BASH: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def route(scene: DeckScene) -> str:
    found = route_to(scene.state, shown_session(scene.state, scene.clock))
    return found.name if isinstance(found, DeckRoute) else found


@pytest.mark.parametrize(("mode", "name"), [("sdk", "sdk"), ("pty", "terminal"), ("tmux", "terminal")])
def test_an_owned_session_is_reached_as_it_runs(mode: str, name: str) -> None:
    assert route(DeckScene().submits_owned(mode)) == name


def test_an_observed_session_is_reached_in_its_editor_or_in_tmux() -> None:
    scene = DeckScene().receives("UserPromptSubmit", prompt="go").process_seen("busy", pid=7)
    assert route(scene) == "tmux"
    assert route(scene.sees_terminals(SeenTerminal(pid=7))) == "editor"


def test_without_a_session_there_is_no_way() -> None:
    assert route(DeckScene()) == "the session is not known: select its terminal first"


def test_an_ended_session_takes_nothing() -> None:
    scene = DeckScene().receives("SessionStart", source="startup").receives("SessionEnd", reason="other")
    assert route(scene) == "the session has ended: start or resume one first"


def test_nothing_is_typed_into_an_open_dialog() -> None:
    scene = DeckScene().receives("PermissionRequest", id="r1", **BASH)
    assert route(scene) == "a dialog is open: decide it first"
    over_sdk = DeckScene().submits_owned("sdk")
    permission = over_sdk.hook_received("PermissionRequest", "r1", "own", "", BASH)
    over_sdk.submits(replace(permission, waiter="sdk"))
    assert over_sdk.model.waiting_count == 1
    assert route(over_sdk) == "sdk"


def test_a_dialog_of_which_no_hook_tells_is_not_typed_into() -> None:
    scene = DeckScene().receives("UserPromptSubmit", prompt="go").process_seen("busy", pid=7)
    scene.sees_terminals(SeenTerminal(pid=8)).process_seen("busy", pid=8)
    assert route(scene).startswith("no hook reports")
