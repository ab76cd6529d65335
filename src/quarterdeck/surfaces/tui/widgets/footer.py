"""The bottom line: the last message and the keys that work now. Messages are shown here so that they cover nothing."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.cells import cell_len
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen

from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan, fold, line
from quarterdeck.surfaces.tui.widgets.status_line import MARKS, StatusMessage
from quarterdeck.surfaces.tui.widgets.text_view import TextView

ALWAYS_SHOWN = "help"
MOST_ROWS = 3


def key_groups(screen: Screen[Any]) -> Iterator[tuple[str, Row]]:
    """Every key that is shown and enabled, by its action; each can be clicked."""
    seen: set[str] = set()
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.show and active.enabled and binding.action not in seen:
            seen.add(binding.action)
            press = f"app.simulate_key('{binding.key}')"
            key = TextSpan(screen.app.get_key_display(binding), "key", press)
            yield binding.action, (key, TextSpan(f" {binding.description}", "", press))


def keys_row(groups: Sequence[tuple[str, Row]], width: int) -> Row:
    """As many keys as there is room for, in their order. The help key, which lists the others, is always there."""
    always = [(action, row) for action, row in groups if action == ALWAYS_SHOWN]
    others = [(action, row) for action, row in groups if action != ALWAYS_SHOWN]
    room, kept = width - 1 - sum(_cells(row) for _, row in always), set[str]()
    for action, row in [*always, *others]:
        room -= 0 if action == ALWAYS_SHOWN else _cells(row)
        if room < 0:
            break
        kept.add(action)
    shown = [(*row, TextSpan("  ")) for action, row in groups if action in kept]
    return (TextSpan(" "), *itertools.chain.from_iterable(shown))


def keys_in_border(rows: Sequence[Row], width: int) -> Content:
    """Keys as the text of a frame: as many as there is room for, without markup."""
    parts: list[Content] = []
    left = width - 4
    for row in rows:
        words = [(span.text, style_name(span.style)) for span in row]
        size = sum(cell_len(text) for text, _ in words) + 3
        if size > left:
            break
        left -= size
        parts.append(Content.assemble(*words))
    return Content(" · ").join(parts)


def style_name(style: str) -> str:
    """The style of a key in a frame."""
    return "bold" if style == "key" else ""


def _cells(row: Row) -> int:
    return sum(cell_len(span.text) for span in row) + 2


def message_rows(message: StatusMessage, width: int) -> list[Row]:
    """The rows of a message, at most three."""
    mark, style = MARKS[message.severity]
    return list(itertools.islice(fold([line((f" {mark}", style), (f"{message.words}  ", style))], width), MOST_ROWS))


class KeyFooter(TextView, can_focus=False):
    """The bottom line as a widget. It follows the focus; `message` returns the message to show now; without `keys` it
    shows only messages, because a dialog names its keys in its own frame.

    It is drawn as text, since Textual's own footer rebuilds a widget per key, and keys change with every card."""

    DEFAULT_CSS = "KeyFooter { dock: bottom; height: 1; background: $panel; overflow: hidden; }"

    def __init__(
        self, message: Callable[[float], StatusMessage | None] = lambda at: None, *, keys: bool = True
    ) -> None:
        super().__init__()
        self._message = message
        self._keys = keys

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.update_keys())
        self.call_after_refresh(self.update_keys)

    def on_resize(self, event: Resize) -> None:
        self.update_keys()

    def update_keys(self) -> None:
        """Redraw the message and the keys, if they have changed."""
        if not self.is_attached or not self.screen.is_current:
            return
        message, width = self._message(time.monotonic()), self.size.width
        rows: list[Row] = message_rows(message, width) if message else [()]
        room = width - sum(cell_len(span.text) for span in rows[-1])
        rows[-1] = (*rows[-1], *keys_row(list(key_groups(self.screen)) if self._keys else [], room))
        if self.rows != rows:
            self.styles.height = len(rows)
            self.show_rows(rows)
