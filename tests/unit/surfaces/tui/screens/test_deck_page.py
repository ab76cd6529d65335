"""The key deck as a page of the terminal UI."""

from __future__ import annotations

from textual.binding import Binding

from quarterdeck.surfaces.terminal.forms.deck_panel import BUTTON_KEYS, PAGE_KEYS, ROLLER_KEYS
from quarterdeck.surfaces.tui.screen_registry import PAGES
from quarterdeck.surfaces.tui.screens.deck_page import DeckScreenPage


def test_every_key_of_the_deck_is_bound() -> None:
    bound = {one.action for one in DeckScreenPage.BINDINGS if isinstance(one, Binding)}
    keys = [*BUTTON_KEYS, *PAGE_KEYS, *ROLLER_KEYS, *"123456789"]
    assert {f"type('{key}')" for key in keys} <= bound


def test_escape_leaves_as_everywhere_so_the_esc_of_the_deck_has_a_key_of_its_own() -> None:
    actions = {one.key: one.action for one in DeckScreenPage.BINDINGS if isinstance(one, Binding)}
    assert actions["e"] == "type('escape')"
    assert not {"escape", "q"} & actions.keys()


def test_the_deck_is_opened_by_its_command() -> None:
    assert PAGES["deck"] is DeckScreenPage
