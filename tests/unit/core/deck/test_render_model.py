"""The model that every deck draws."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.core.deck.render_model import changes_at, render_model
from quarterdeck.core.engine.deck_messages import SeenTerminal
from quarterdeck.wire import write_json
from tests.support.deck_scene import LAYOUT, DeckScene


def test_the_armed_prompt_shows_the_text_for_the_agent() -> None:
    scene = DeckScene().presses("tests")
    armed = scene.model.armed
    assert armed is not None
    assert (armed.prompt_id, armed.style, armed.command) == ("tests", "queue", "/test")
    shell = DeckScene().submits_owned("pty", shell=True).presses("tests").model.armed
    assert shell is not None
    assert shell.command == "Run the tests."


def test_a_prompt_that_left_the_file_is_not_armed_any_more() -> None:
    scene = DeckScene().presses("tests")
    pages = (replace(LAYOUT.pages[1]),)
    scene.layout = replace(LAYOUT, prompts={}, pages=pages)
    assert scene.model.armed is None
    assert scene.presses_button("enter").reply.outcome == "not_possible"


def test_the_buttons_say_what_they_would_do_or_why_not() -> None:
    scene = DeckScene().submits_owned("sdk")
    assert scene.model.buttons["enter"].reason == "nothing is armed"
    assert scene.presses("tests").model.buttons["enter"].does == "sends tests"
    assert scene.model.buttons["enter"].enabled
    assert scene.model.buttons["esc"].does == "disarms tests"
    assert scene.model.buttons["export"].enabled


def test_the_dial_is_used_as_the_file_says() -> None:
    assert DeckScene().model.dial.mode == "os_scroll"
    scene = DeckScene(replace(LAYOUT, dial_mode="vscode_terminal_scroll"))
    assert scene.model.dial.dial.reason == "select a terminal of an editor first"
    scene.sees_terminals(SeenTerminal(pid=7, active=True))
    assert scene.model.dial.dial.enabled


def test_the_model_changes_by_time_only_after_an_end() -> None:
    scene = DeckScene().receives("SessionStart", source="startup")
    assert changes_at(scene.state, scene.clock) is None
    scene.receives("SessionEnd", reason="other")
    assert changes_at(scene.state, scene.clock) == scene.clock + 600


def test_the_model_of_many_sessions_is_small_and_json() -> None:
    scene = DeckScene()
    for n in range(50):
        scene.receives(
            "PermissionRequest", id=f"r{n}", session=f"s{n}", tool_name="Bash", tool_input={"command": f"ls {n}"}
        )
    body = write_json(render_model(scene.state, LAYOUT, scene.clock))
    assert scene.model.waiting_count == 50
    assert len(body) < 16_384
