"""Presses of keys and buttons, as stories."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.core.engine.messages import SendAnswer
from quarterdeck.core.engine.session_messages import InterruptAgent
from quarterdeck.core.model.decisions import Allow, Answer, Deny
from tests.support.deck_scene import LAYOUT, DeckScene
from tests.unit.core.deck.test_shown_request import QUESTION, asks, question


def test_a_key_allows_what_it_showed() -> None:
    scene = asks(DeckScene(), "r1").page(1).presses("allow")
    scene.records("permission.decision").answers_with("r1", Allow())
    assert (scene.reply.request_id, scene.reply.outcome) == ("r1", "applied")
    assert scene.events[-1].data.by == "ann via deck"


def test_a_key_denies() -> None:
    asks(DeckScene(), "r1").page(1).presses("deny").answers_with("r1", Deny("Denied by ann via deck in Quarterdeck."))


def test_a_key_answers_a_question() -> None:
    question(QUESTION).page(1).presses("answer_1").answers_with("q", Answer({"Which?": "Red"}))


@pytest.mark.law("D4")
def test_a_key_that_changed_since_it_was_seen_does_nothing() -> None:
    scene = asks(DeckScene(), "r1").page(1)
    shown = scene.key("allow").revision
    asks(scene.decides("r1", Deny("no")), "r2", "rm -rf build")
    scene.presses("allow", revision=shown)
    assert (scene.reply.outcome, scene.events[-1].kind) == ("stale_key", "permission.request")
    assert scene.state.requests["r2"].status == "pending"


def test_a_decision_key_must_say_what_it_showed() -> None:
    scene = asks(DeckScene(), "r1").page(1).presses_slot(0)
    assert (scene.reply.outcome, scene.reply.message) == (
        "stale_key",
        "Allow: send the revision that the key showed",
    )


def test_a_high_risk_takes_a_held_key() -> None:
    scene = asks(DeckScene(), "r1").assessed("r1", "high").page(1).presses("allow")
    assert scene.reply.outcome == "hold_to_confirm"
    scene.presses("allow", held=True).answers_with("r1", Allow())


def test_always_is_a_toggle_before_allow() -> None:
    scene = asks(DeckScene(), "r1", "git status").page(1).presses("always")
    shown = scene.model.request
    assert shown is not None
    assert (shown.always, shown.pattern, scene.key("always").armed) == (True, "Bash(git status)", True)
    assert scene.presses("always").key("always").armed is False
    scene.presses("always").presses("allow")
    assert [rule.pattern for rule in scene.state.rules.values()] == ["Bash(git status)"]


def test_always_is_for_one_request() -> None:
    scene = asks(asks(DeckScene(), "r1"), "r2", "git push").page(1).presses("always").presses("next")
    assert scene.key("always").armed is False
    scene.presses("allow")
    assert scene.state.rules == {}


def test_an_agent_that_reconnects_is_decided_later() -> None:
    scene = asks(DeckScene(), "r1").page(1).presses("allow", away=("r1",))
    assert scene.reply.outcome == "holder_away"


def test_pressing_twice_decides_once() -> None:
    scene = asks(DeckScene(), "r1").page(1)
    shown = scene.key("allow").revision
    scene.presses("allow", revision=shown).presses("allow", revision=shown)
    assert scene.reply.outcome == "stale_key"
    assert len(scene.answers["r1"]) == 1


def test_a_prompt_is_armed_and_disarmed_and_another_replaces_it() -> None:
    scene = DeckScene().presses("tests").records("operator.arm")
    assert scene.model.armed is not None
    assert scene.presses("tests").model.armed is None
    scene.presses("tests").presses("review")
    assert scene.model.armed is not None
    assert scene.model.armed.prompt_id == "review"


def test_a_prompt_can_be_pressed_by_its_name() -> None:
    scene = DeckScene().page(1).presses_slot(None, prompt_id="tests")
    assert scene.model.armed is not None
    assert scene.presses_slot(None, prompt_id="lost").reply.outcome == "not_found"


@pytest.mark.parametrize(
    ("press", "outcome"),
    [
        ({"slot": 9}, "invalid"),
        ({"slot": None}, "invalid"),
        ({"slot": 8}, "not_possible"),
        ({"slot": 1, "prompt_id": "tests"}, "stale_key"),
        ({"slot": 0, "revision": "x"}, "stale_key"),
    ],
)
def test_a_wrong_press_is_refused(press: dict[str, Any], outcome: str) -> None:
    scene = DeckScene().presses_slot(**press)
    assert (scene.reply.outcome, scene.last.events) == (outcome, [])


def test_escape_disarms_first() -> None:
    scene = DeckScene().submits_owned("sdk").presses("tests").presses_button("esc")
    assert (scene.model.armed, scene.effects(InterruptAgent)) == (None, [])
    assert len(scene.presses_button("esc").effects(InterruptAgent)) == 1


def test_escape_can_also_pass_through() -> None:
    layout = replace(LAYOUT, esc_when_pending="cancel_and_passthrough")
    scene = DeckScene(layout).submits_owned("sdk").presses("tests").presses_button("esc")
    assert (scene.model.armed, len(scene.effects(InterruptAgent))) == (None, 1)


def test_a_token_without_prompts_decides_and_sends_nothing() -> None:
    scene = asks(DeckScene().submits_owned("pty"), "r1", session="own")
    forbidden: dict[str, Any] = {"may_prompt": False, "may_interrupt": False}
    assert scene.presses("tests", **forbidden).reply.outcome == "forbidden"
    scene.presses("tests")
    for button in ("enter", "export", "esc", "ctrl_c"):
        assert scene.presses_button(button, **forbidden).reply.outcome == "forbidden"
    assert scene.page(1).presses("interrupt", **forbidden).reply.outcome == "forbidden"
    scene.presses("allow", **forbidden).answers_with("r1", Allow())


presses = st.lists(
    st.tuples(
        st.sampled_from(["ask", "press", "press", "page", "next", "decide"]),
        st.integers(0, 8),
        st.sampled_from(["now", "then", "none"]),
        st.booleans(),
    ),
    max_size=15,
)


@pytest.mark.law("D4")
@given(presses)
def test_a_key_decides_exactly_the_digest_that_it_showed(story: list[tuple[str, int, str, bool]]) -> None:
    scene = DeckScene()
    shown = scene.model
    for n, (move, slot, seen, held) in enumerate(story):
        match move:
            case "ask":
                asks(scene, f"r{n}", f"ls {slot}", f"s{slot % 2}")
            case "page":
                scene.turns_page(1)
            case "decide":
                for request in list(scene.state.requests.values())[:1]:
                    scene.decides(request.request_id, Deny("no"))
            case _:
                model = {"now": scene.model, "then": shown, "none": None}[seen]
                revision = model.keypad.slots[slot].revision if model is not None else None
                scene.presses_slot(slot, revision=revision, held=held)
                answered = [effect for effect in scene.effects(SendAnswer) if effect.request is not None]
                for answer in answered:
                    assert model is not None
                    assert answer.request is not None
                    key = model.keypad.slots[slot]
                    assert (answer.event_id, answer.request.digest) == (key.request_id, key.digest)
                    assert held or not key.hold
                shown = scene.model
