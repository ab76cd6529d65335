"""The key deck in a terminal: its lines, and what a typed key sends."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.terminal.forms.deck_panel import DeckKeyReader, deck_lines
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from quarterdeck.wire import read_json, write_json
from tests.support.deck_scene import DeckScene
from tests.support.hostile import HOSTILE
from tests.unit.core.deck.test_shown_request import asks


def model(scene: DeckScene) -> dict[str, Any]:
    found: dict[str, Any] = read_json(write_json(scene.model))
    return found


def text(scene: DeckScene, note: str = "") -> str:
    return plain(fold(deck_lines(model(scene), scene.clock, note), 80))


def test_the_deck_shows_the_session_the_keys_and_what_waits() -> None:
    scene = asks(DeckScene(), "r1", "git push --force").page(1)
    shown = text(scene, "look here")
    for words in ("needs you", "hooks active", "1 ✓ Allow", "2 ✗ Deny", "git push --force", "Page 2 of 3", "look here"):
        assert words in shown


def test_the_deck_fits_into_a_small_terminal() -> None:
    scene = asks(DeckScene(), "r1", "\n".join("x" * 200 for _ in range(5))).page(1)
    assert max(map(len, text(scene).splitlines())) <= 80


@pytest.mark.law("I6")
@pytest.mark.parametrize("hostile", HOSTILE.values())
def test_hostile_text_controls_no_terminal(hostile: str) -> None:
    scene = asks(DeckScene(), "r1", f"ls {hostile}")
    assert not UNSEEN.search(text(scene).replace("\n", ""))


@pytest.mark.parametrize(
    ("typed", "name", "args"),
    [
        ("enter", "dialpad_button_press", {"button": "enter"}),
        ("escape", "dialpad_button_press", {"button": "esc"}),
        ("x", "dialpad_button_press", {"button": "export"}),
        ("[", "page_nav", {"direction": "prev"}),
        ("+", "adjustment", {"kind": "roller", "delta": 1}),
    ],
)
def test_a_typed_key_is_a_command(typed: str, name: str, args: dict[str, Any]) -> None:
    assert DeckKeyReader().read(typed, model(DeckScene())) == (name, args)


def test_a_number_presses_the_key_as_it_shows() -> None:
    shown = model(DeckScene())
    call = DeckKeyReader().read("1", shown)
    assert call is not None
    assert call.args == {"slot": 0, "revision": shown["keypad"]["slots"][0]["revision"]}
    assert DeckKeyReader().read("z", shown) is None


def test_a_high_risk_is_confirmed_by_a_second_press_of_the_same_key() -> None:
    shown = model(asks(DeckScene(), "r1").assessed("r1", "high").page(1))
    reader = DeckKeyReader()
    assert reader.read("1", shown) is None
    assert reader.note == "The risk is high: press 1 again to allow"
    call = reader.read("1", shown)
    assert call is not None
    assert call.args["held"]
    assert reader.read("1", shown) is None
    assert reader.read("2", shown) is not None
    assert reader.read("1", shown) is None


def test_what_is_not_shown_whole_is_not_allowed() -> None:
    shown = model(asks(DeckScene(), "r1", "\n".join("echo 1" for _ in range(30))).assessed("r1", "low").page(1))
    reader = DeckKeyReader()
    assert reader.read("1", shown) is None
    assert "longer than this deck shows" in reader.note
    assert reader.read("2", shown) is not None
