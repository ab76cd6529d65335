"""The file of a new deck."""

from __future__ import annotations

from quarterdeck.config.deck.deck_file import read_deck, template_layout
from quarterdeck.config.deck.deck_template import TEMPLATE
from quarterdeck.core.engine.deck_layout import KeyAction


def test_the_file_of_a_new_deck_has_no_mistakes_and_every_prompt_has_a_key() -> None:
    assert read_deck(TEMPLATE, "deck.yaml").problems == []
    layout = template_layout()
    slots = [slot for page in layout.pages for slot in page.slots]
    assert {slot.prompt for slot in slots} - {None} == layout.prompts.keys()
    assert {KeyAction.ALLOW, KeyAction.DENY, KeyAction.NEXT} <= {slot.decision for slot in slots}
