"""Choices that show what is chosen by a sign, not by a colour alone."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Checkbox, RadioButton, RadioSet


class One(RadioButton):
    """One of several."""

    @property
    def _button(self) -> Content:
        return Content("(•)" if self.value else "( )")


class Tick(Checkbox):
    """One that may be chosen beside others."""

    @property
    def _button(self) -> Content:
        return Content("[x]" if self.value else "[ ]")


def one_of(name: str, words: Sequence[Content], chosen: int | None = None) -> RadioSet:
    """A set of which one is chosen."""
    return RadioSet(*(One(word, n == chosen, compact=True) for n, word in enumerate(words)), id=name, compact=True)
