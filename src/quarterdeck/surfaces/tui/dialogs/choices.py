"""Choosing in a dialog: one or several of numbered answers, or one word of a line. What is chosen shows by a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from quarterdeck.surfaces.terminal.styled_text import Line, Row, Span, fold_line, line
from quarterdeck.surfaces.tui.widgets.text_view import Wall, cursor_colour

DIGITS = "123456789"
LABEL = 12


class Chosen(Message):
    """Another choice was made."""


class Choice(Wall):
    """Draws itself anew when its room or the focus changes."""

    def on_mount(self) -> None:
        self.draw_all()

    def on_resize(self, event: events.Resize) -> None:
        self.draw_all()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.draw_all()

    def draw_all(self) -> None:
        """Every choice, at the width there is."""


class Numbered(Choice):
    """Answers one below the other, each with the number that picks it. Where `several` may be chosen, a number takes
    its choice back as well."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("space", "pick", "pick", key_display="1–9", tooltip="pick, like its number does"),
    ]

    def __init__(
        self, words: Sequence[tuple[str, str]], *, several: bool = False, chosen: Sequence[int] = (), id: str
    ) -> None:
        super().__init__(id=id)
        self._words = words
        self._several = several
        self._starts: list[int] = []
        self.chosen = set(chosen)
        self.cursor = min(self.chosen, default=0)

    @property
    def picked(self) -> list[int]:
        """The places of what is chosen, in their order."""
        return sorted(self.chosen)

    def draw_all(self) -> None:
        rows: list[Row] = []
        self._starts = []
        for place in range(len(self._words)):
            self._starts.append(len(rows))
            rows += fold_line(self._line(place), max(20, self.content_size.width))
        self.styles.height = min(max(1, len(rows)), max(4, self.app.size.height - 12))
        self.show_rows(rows)
        self.refresh()

    def _line(self, place: int) -> Line:
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

    def row_style(self, number: int) -> Style | None:
        if not self.has_focus or not self._starts:
            return None
        start = self._starts[self.cursor]
        end = self._starts[self.cursor + 1] if self.cursor + 1 < len(self._starts) else len(self.rows)
        return Style(bgcolor=cursor_colour(self)) if start <= number < end else None

    def action_move(self, step: int) -> None:
        if self._words:
            self.cursor = min(max(0, self.cursor + step), len(self._words) - 1)
            self.draw_all()
            self.scroll_to(y=max(0, self._starts[self.cursor] - self.size.height + 2), animate=False)

    def action_pick(self) -> None:
        self.pick(self.cursor)

    def pick(self, place: int) -> bool:
        """Choose this one, or take it back where several may be chosen; whether there is such a one."""
        if not 0 <= place < len(self._words):
            return False
        self.cursor = place
        self.chosen = self.chosen ^ {place} if self._several else {place}
        self.draw_all()
        self.post_message(Chosen())
        return True

    def clear(self) -> None:
        """Nothing is chosen."""
        self.chosen = set()
        self.draw_all()

    def on_key(self, event: events.Key) -> None:
        if event.key in DIGITS and self.pick(DIGITS.index(event.key)):
            event.stop()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            row = offset.y + self.scroll_offset.y
            self.pick(max((place for place, start in enumerate(self._starts) if start <= row), default=0))


class OneWord(Choice):
    """A line with a label and some words, of which one is chosen by the arrows, its number or a click."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "before", show=False),
        Binding("right,l,space", "step(1)", "another", key_display="← →"),
    ]

    def __init__(self, label: str, words: Sequence[str], chosen: int = 0, *, id: str) -> None:
        super().__init__(id=id)
        self._label = label
        self._words = words
        self.chosen = chosen

    def draw_all(self) -> None:
        rows = list(self._folded(max(20, self.content_size.width)))
        self.styles.height = len(rows)
        self.show_rows(rows)

    def _folded(self, width: int) -> Iterator[Row]:
        """The label, then every word beside its mark; a word is never parted from it."""
        pointer = "▸ " if self.has_focus else "  "
        begins = LABEL + 2 if self._label else 4
        label = f"{pointer}{self._label:<{begins - 2}}"
        row: list[Span] = [Span(label, "strong" if self.has_focus else "dim")]
        taken = begins
        for place, word in enumerate(self._words):
            text = f"{'(•)' if place == self.chosen else '( )'} {word}"
            if taken + cell_len(text) > width and len(row) > 1:
                yield tuple(row)
                row, taken = [Span(" " * begins)], begins
            row += [Span(text, "waiting" if place == self.chosen else "", f"choose({place})"), Span("  ")]
            taken += cell_len(text) + 2
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
