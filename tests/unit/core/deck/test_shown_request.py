"""Who waits, which request is shown, and what each decision key would decide."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.deck.shown_request import DETAIL, key_decision, shown_request
from quarterdeck.core.engine.deck_layout import KeyAction
from quarterdeck.core.model.decisions import Allow, Answer, Deny
from tests.support.deck_scene import DeckScene

OPTIONS = [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]
QUESTION = {"question": "Which?", "header": "Colour", "options": OPTIONS, "multiSelect": False}


def asks(scene: DeckScene, id: str, command: str = "ls", session: str = "s1") -> DeckScene:
    return scene.receives(
        "PermissionRequest", id=id, session=session, tool_name="Bash", tool_input={"command": command}
    )


def question(*questions: dict[str, Any]) -> DeckScene:
    scene = DeckScene()
    tool_input = {"questions": list(questions)}
    return scene.receives("PermissionRequest", id="q", tool_name="AskUserQuestion", tool_input=tool_input)


def test_the_oldest_waits_first_and_next_goes_round() -> None:
    scene = asks(asks(DeckScene(), "r1"), "r2", "git push", "s2").page(1)
    assert [view.request_id for view in scene.model.waiting] == ["r1", "r2"]
    assert scene.model.waiting_count == 2
    for expected in ("r2", "r1", "r2"):
        scene.presses("next")
        assert scene.model.request is not None
        assert (scene.model.request.request_id, scene.key("allow").request_id) == (expected, expected)
    scene.decides("r2", Deny("no"))
    assert scene.key("allow").request_id == "r1"


def test_the_model_says_who_waits_and_how_risky() -> None:
    scene = asks(DeckScene(), "r1", "rm -rf ~")
    [waiting] = scene.model.waiting
    assert (waiting.project, waiting.tool_name, waiting.title) == ("app", "Bash", "rm -rf ~")
    scene.assessed("r1", "critical", "deletes your home")
    assert [(one.risk, one.mark) for one in scene.model.waiting] == [("critical", "!!!")]
    assert scene.model.request is not None
    assert scene.model.request.reasons == ["deletes your home"]


def test_the_shown_request_carries_all_that_it_decides() -> None:
    scene = asks(DeckScene(), "r1", "git push --force")
    shown = scene.model.request
    assert shown is not None
    assert (shown.detail, shown.hides, shown.digest) == ("git push --force", [], scene.request("r1").digest)


@pytest.mark.parametrize(
    ("tool_input", "why"),
    [
        ({"command": "ls \u202e"}, "1 hidden character: decide it on the desk"),
        ({"command": "x" * (DETAIL + 1)}, "6,001 characters in all: decide it on the desk"),
    ],
)
def test_what_a_deck_cannot_show_is_not_allowed_there(tool_input: dict[str, str], why: str) -> None:
    scene = DeckScene().receives("PermissionRequest", id="r1", tool_name="Bash", tool_input=tool_input).page(1)
    key = scene.key("allow")
    assert (key.enabled, key.reason) == (False, why)
    assert scene.key("deny").enabled


def test_an_input_nested_too_deep_is_not_allowed_on_a_deck() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = {"a": deep}
    scene = DeckScene().receives("PermissionRequest", id="r1", tool_name="mcp__a__b", tool_input={"n": deep}).page(1)
    assert not scene.key("allow").enabled


@pytest.mark.parametrize(("level", "hold"), [("low", False), ("medium", False), ("high", True), ("critical", True)])
def test_a_high_risk_takes_a_held_key(level: str, hold: bool) -> None:
    scene = asks(DeckScene(), "r1").assessed("r1", level).page(1)
    assert (scene.key("allow").hold, scene.key("deny").hold) == (hold, False)


def test_the_answer_keys_are_the_options_of_the_only_question() -> None:
    scene = question(QUESTION).page(1)
    assert [scene.key(f"answer_{n}").sublabel for n in (1, 2)] == ["Red", "Blue"]
    assert scene.key("answer_3").reason == "it has 2 options"
    assert scene.key("allow").reason == "it takes an answer, not an allow: use an answer key, or decide it on the desk"
    request = shown_request(scene.state)
    assert key_decision(scene.state, request, KeyAction.ANSWER_2).decision == Answer({"Which?": "Blue"})


@pytest.mark.parametrize("questions", [[QUESTION, QUESTION], [{**QUESTION, "multiSelect": True}]])
def test_more_than_one_answer_is_given_on_the_desk(questions: list[dict[str, Any]]) -> None:
    scene = question(*questions).page(1)
    assert scene.key("answer_1").reason == "it asks more than one thing: decide it on the desk"


def test_keys_do_nothing_when_nothing_waits() -> None:
    scene = DeckScene().page(1)
    assert {scene.key(name).reason for name in ("allow", "deny", "always", "next", "answer_1")} == {"no request waits"}


def test_decision_keys_are_about_the_shown_request_whatever_is_selected() -> None:
    scene = asks(asks(DeckScene(), "r1", session="s1"), "r2", session="s2")
    scene.turns("roller").turns("roller").page(1)
    assert scene.model.state.session_id == "s2"
    assert scene.key("allow").request_id == "r1"


def test_a_key_decides_as_the_person_of_the_deck() -> None:
    scene = asks(DeckScene(), "r1")
    request = shown_request(scene.state)
    assert key_decision(scene.state, request, KeyAction.ALLOW).decision == Allow()
    denied = key_decision(scene.state, request, KeyAction.DENY, "ann").decision
    assert denied == Deny("Denied by ann in Quarterdeck.")
