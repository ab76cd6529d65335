"""The inputs of the key deck."""

from __future__ import annotations

from typing import get_args

from quarterdeck.core.engine.deck_messages import DeckCommand, DeckEffect
from quarterdeck.core.engine.input_bases import SignedInput
from quarterdeck.core.engine.messages import Command, Effect


def test_every_movement_is_a_command_that_names_its_person() -> None:
    assert all(issubclass(kind, SignedInput) for kind in get_args(DeckCommand))
    assert set(get_args(DeckCommand)) <= set(get_args(Command))


def test_the_effects_of_a_deck_are_effects() -> None:
    assert set(get_args(DeckEffect)) <= set(get_args(Effect))
