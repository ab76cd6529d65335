"""The keys that decide a request, with their labels, and the card that a decision is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.lines.request_input import choice_count
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TextSpan, line

VERBS = {
    "allow": ("a", "allow"),
    "edit": ("e", "edit & allow"),
    "approve": ("w", "approve in a mode…"),
    "answer": ("a", "answer…"),
    "deny": ("d", "deny…"),
    "interrupt": ("i", "deny & interrupt…"),
    "go_on": ("c", "make it continue…"),
    "remember": ("r", "remember…"),
    "pass": ("p", "leave to the terminal"),
}
"""Each decision with its key and its label."""
DIGITS = "123456789"
SECOND_KEY = "Y"
"""The key that confirms a decision about a critical request: not next to any key that decides."""
CONFIRM_SECONDS = 10.0
"""How long a decision waits for its second key."""
NO_BREAK = "\u00a0"


class DecisionTarget(NamedTuple):
    """The card that a command is about. `shown_at`: since when it was on screen as the command was begun."""

    item: RequestItem
    shown_at: float | None


class SecondKey:
    """The decision that waits for its second key: about an item, by a verb with words, and since when."""

    def __init__(self) -> None:
        self._item: RequestItem | None = None
        self._verb = self._words = ""
        self._since = 0.0

    def ask(self, item: RequestItem, verb: str, words: str, at: float) -> None:
        """Wait for the second key of this decision."""
        self._item, self._verb, self._words, self._since = item, verb, words, at

    def forget(self) -> None:
        """Take the decision back."""
        self._item = None

    def verb_for(self, item: RequestItem | None, at: float) -> str:
        """The decision about this item that waits; empty if none does."""
        is_here = item is not None and item is self._item and item.is_pending
        return self._verb if is_here and at - self._since < CONFIRM_SECONDS else ""

    def is_settled(self, at: float) -> bool:
        """True once the question has been on screen for as long as it takes to see it."""
        return at - self._since >= SETTLE_SECONDS

    @property
    def words(self) -> str:
        return self._words

    def question(self, item: RequestItem) -> StyledLine:
        """The question in place of the keys; it can be clicked."""
        yes = f"[{SECOND_KEY}]", "key", "confirm"
        words = f"{NO_BREAK}allows it all the same; any other key keeps it waiting"
        return line((f"{card.risk_mark(item.shown)}: ", "warn"), TextSpan(*yes), TextSpan(words, "", "confirm"))


def key_spans(item: RequestItem, blocked_reason: Callable[[str], str]) -> Iterator[TextSpan]:
    """The keys that decide this request, greyed while they do not act; each can be clicked."""
    choices = choice_count(item.shown)
    if choices:
        off = bool(blocked_reason("answer"))
        yield TextSpan(f"[1–{choices}]" if choices > 1 else "[1]", "dim" if off else "key")
        yield TextSpan(f"{NO_BREAK}choose…", "dim" if off else "")
        yield TextSpan("  ")
    for verb in card.decisions_for(item.view):
        key, label = VERBS[verb]
        label = "approve" if verb == "allow" and item.view["form"] == "plan" else label
        off = bool(blocked_reason(verb))
        yield TextSpan(f"[{key}]", "dim" if off else "key", f"decide('{verb}')")
        yield TextSpan(f"{NO_BREAK}{label.replace(' ', NO_BREAK)}", "dim" if off else "", f"decide('{verb}')")
        yield TextSpan("  ")
