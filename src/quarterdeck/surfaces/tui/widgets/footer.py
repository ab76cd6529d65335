"""The line at the bottom: what was last said, and the keys that work now. It is text, since keys change with every
card; what is said stands here, so that it covers nothing that is read."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence

from rich.cells import cell_len
from textual.events import Resize
from textual.screen import Screen

from quarterdeck.surfaces.terminal.styled_text import Row, Span, fold, line
from quarterdeck.surfaces.tui.widgets.status_line import MARKS, Said
from quarterdeck.surfaces.tui.widgets.text_view import Wall

NEVER_LEFT_OUT = "help"
MOST_ROWS = 3


def key_groups(screen: Screen[object]) -> Iterator[tuple[str, Row]]:
    """Every key that is shown and acts, by its action; each can be clicked."""
    told: set[str] = set()
    for found in screen.active_bindings.values():
        binding = found.binding
        if binding.show and found.enabled and binding.action not in told:
            told.add(binding.action)
            press = f"app.simulate_key('{binding.key}')"
            key = Span(screen.app.get_key_display(binding), "key", press)
            yield binding.action, (key, Span(f" {binding.description}", "", press))


def keys_row(groups: Sequence[tuple[str, Row]], width: int) -> Row:
    """As many keys as there is room for, in their order; the way to all the others is never left out."""
    needed = [(action, row) for action, row in groups if action == NEVER_LEFT_OUT]
    others = [(action, row) for action, row in groups if action != NEVER_LEFT_OUT]
    room, kept = width - 1 - sum(_cells(row) for _, row in needed), set[str]()
    for action, row in [*needed, *others]:
        room -= 0 if action == NEVER_LEFT_OUT else _cells(row)
        if room < 0:
            break
        kept.add(action)
    shown = [(*row, Span("  ")) for action, row in groups if action in kept]
    return (Span(" "), *itertools.chain.from_iterable(shown))


def _cells(row: Row) -> int:
    return sum(cell_len(span.text) for span in row) + 2


def said_rows(said: Said, width: int) -> list[Row]:
    """What was said, in as few rows as it takes."""
    mark, style = MARKS[said.severity]
    return list(itertools.islice(fold([line((f" {mark}", style), (f"{said.words}  ", style))], width), MOST_ROWS))


class Keys(Wall, can_focus=False):
    """Follows the focus. `said` gives what was last said."""

    DEFAULT_CSS = "Keys { dock: bottom; height: 1; background: $panel; overflow: hidden; }"

    def __init__(self, said: Callable[[float], Said | None] = lambda at: None) -> None:
        super().__init__()
        self._said = said

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.tell())
        self.call_after_refresh(self.tell)

    def on_resize(self, event: Resize) -> None:
        self.tell()

    def tell(self) -> None:
        """Draw the keys anew, or what was said, where it has changed."""
        if not self.is_attached or not self.screen.is_current:
            return
        said, width = self._said(time.monotonic()), self.size.width
        rows: list[Row] = said_rows(said, width) if said else [()]
        room = width - sum(cell_len(span.text) for span in rows[-1])
        rows[-1] = (*rows[-1], *keys_row(list(key_groups(self.screen)), room))
        if self.rows != rows:
            self.styles.height = len(rows)
            self.show_rows(rows)
