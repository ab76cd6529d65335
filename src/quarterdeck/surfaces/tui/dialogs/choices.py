"""Choices in a dialog: numbered answers (one or several) or one word of a line. A mark shows what is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.message import Message

from quarterdeck.surfaces.terminal.styled_text import Row, StyledLine, TextSpan, fold_line, line
from quarterdeck.surfaces.tui.widgets.item_view import MOVE_KEYS, ItemView

DIGITS = "123456789"
LABEL = 12


class Chosen(Message):
    """The choice has changed."""


class Choice(ItemView):
    """A choice that draws itself again when its size or the focus changes."""

    def on_mount(self) -> None:
        self.draw_all()

    def on_resize(self, event: events.Resize) -> None:
        self.draw_all()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.draw_all()

    def draw_all(self) -> None:
        """Draw every choice at the current width."""

    def row_style(self, number: int) -> Style | None:
        return super().row_style(number) if self.has_focus else None


class NumberedChoice(Choice):
    """A column of answers, each with the number that picks it. With `several`, the number also takes the answer
    back."""

    BINDINGS = [
        *MOVE_KEYS,
        Binding("space", "pick", "pick", key_display="1–9", tooltip="pick, like its number does"),
    ]

    def __init__(
        self, words: Sequence[tuple[str, str]], *, several: bool = False, chosen: Sequence[int] = (), id: str
    ) -> None:
        super().__init__(id=id)
        self._words = words
        self._several = several
        self.chosen = set(chosen)
        self.cursor = min(self.chosen, default=0)

    @property
    def picked(self) -> list[int]:
        """The positions of the chosen answers, in order."""
        return sorted(self.chosen)

    def draw_all(self) -> None:
        width = max(20, self.content_size.width)
        self.show_items(fold_line(self._line(place), width) for place in range(len(self._words)))
        self.styles.height = min(max(1, len(self.rows)), max(4, self.app.size.height - 12))
        self.refresh()

    def _line(self, place: int) -> StyledLine:
        label, about = self._words[place]
        marks = ("[x]", "[ ]") if self._several else ("(•)", "( )")
        pointer = "▸" if self.has_focus and place == self.cursor else " "
        number = DIGITS[place] if place < len(DIGITS) else " "
        is_chosen = place in self.chosen
        return line(
            (f"{pointer} {number} ", "key"),
            (f"{marks[not is_chosen]} ", "waiting" if is_chosen else "dim"),
            (label, "waiting" if is_chosen else "strong"),
            (f"  {about}" if about else "", "dim"),
            hang=8,
        )

    def action_move(self, step: int) -> None:
        if self._words:
            self.cursor = min(max(0, self.cursor + step), len(self._words) - 1)
            self.draw_all()
            self.scroll_to(y=max(0, self.rows_of(self.cursor).start - self.size.height + 2), animate=False)

    def action_pick(self) -> None:
        self.pick(self.cursor)

    def pick(self, place: int) -> bool:
        """Choose this answer, or take it back where several may be chosen. False if there is no such answer."""
        if not 0 <= place < len(self._words):
            return False
        self.cursor = place
        self.chosen = self.chosen ^ {place} if self._several else {place}
        self.draw_all()
        self.post_message(Chosen())
        return True

    def clear(self) -> None:
        """Choose nothing."""
        self.chosen = set()
        self.draw_all()

    def on_key(self, event: events.Key) -> None:
        if event.key in DIGITS and self.pick(DIGITS.index(event.key)):
            event.stop()

    def on_click(self, event: events.Click) -> None:
        if (place := self.clicked_item(event)) is not None:
            self.pick(place)


class WordChoice(Choice):
    """A line with a label and some words: the arrows, a number or a click choose one. A choice is a word, or a value
    with its word; `start` is the value that is chosen at first."""

    BINDINGS = [
        Binding("left,h", "step(-1)", "before", show=False),
        Binding("right,l,space", "step(1)", "choose", key_display="← → 1–9", tooltip="another; its number picks it"),
    ]

    def __init__(self, label: str, choices: Sequence[str | tuple[Any, str]], start: Any = None, *, id: str) -> None:
        super().__init__(id=id)
        self._label = label
        self._values = [choice if isinstance(choice, str) else choice[0] for choice in choices]
        self._words = [choice if isinstance(choice, str) else choice[1] for choice in choices]
        self.chosen = self._values.index(start) if start in self._values else 0

    @property
    def value(self) -> Any:
        """The chosen value."""
        return self._values[self.chosen]

    def draw_all(self) -> None:
        rows = list(self._folded(max(20, self.content_size.width)))
        self.styles.height = len(rows)
        self.show_rows(rows)

    def _folded(self, width: int) -> Iterator[Row]:
        """The label, then every word beside its mark; a row never breaks between a mark and its word."""
        pointer = "▸ " if self.has_focus else "  "
        width_of_label = cell_len(self._label)
        indent = (LABEL if width_of_label < LABEL else width_of_label + 2) + 2 if self._label else 4
        label = f"{pointer}{self._label:<{indent - 2}}"
        row: list[TextSpan] = [TextSpan(label, "strong" if self.has_focus else "dim")]
        used = indent
        for place, word in enumerate(self._words):
            text = f"{'(•)' if place == self.chosen else '( )'} {word}"
            if used + cell_len(text) > width and len(row) > 1:
                yield tuple(row)
                row, used = [TextSpan(" " * indent)], indent
            row += [TextSpan(text, "waiting" if place == self.chosen else "", f"choose({place})"), TextSpan("  ")]
            used += cell_len(text) + 2
        yield tuple(row)

    def action_step(self, step: int) -> None:
        self.choose((self.chosen + step) % len(self._words))

    def action_choose(self, place: int) -> None:
        self.focus()
        self.choose(place)

    def choose(self, place: int) -> None:
        """Choose this word."""
        self.chosen = place
        self.draw_all()
        self.post_message(Chosen())

    def on_key(self, event: events.Key) -> None:
        place = DIGITS.find(event.key) if len(event.key) == 1 else -1
        if 0 <= place < len(self._words):
            event.stop()
            self.choose(place)
