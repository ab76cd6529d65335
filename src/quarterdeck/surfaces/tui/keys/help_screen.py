"""The help screen: every key and every command, from the tables that define them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.terminal.styled_text import Row, StyledLine, TextSpan, fold, line
from quarterdeck.surfaces.terminal.text_commands import COMMANDS
from quarterdeck.surfaces.tui.keys.key_reference import PLACES
from quarterdeck.surfaces.tui.screens.base import TextPage
from quarterdeck.surfaces.tui.widgets.text_view import TextView

WIDTH = 16
COLUMN = 52
"""Cells of a column at least."""
GAP = 2
INTRO = (
    "Quarterdeck shows every Claude Code session on this machine, gathers their requests on one desk and records all.",
    "A decision key acts only when the card has the focus, has been on screen for 0.3 s and hides nothing.",
    "Nothing leaves this machine except what you configured; :about lists it. docs/tui.md describes this screen.",
)
NAMES = {
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "asterisk": "*",
    "plus": "+",
    "greater_than_sign": ">",
    "minus": "-",
    "escape": "esc",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
}


def key_names(binding: Binding) -> list[str]:
    """The names of a binding's keys, as shown to the person."""
    return [NAMES.get(key, key.replace("ctrl+", "^")) for key in binding.key.split(",")]


def key_lines(title: str, bindings: Iterable[BindingType]) -> Iterator[StyledLine]:
    """The keys of one place."""
    yield StyledLine()
    yield line((title, "strong"))
    for binding in bindings:
        made = binding if isinstance(binding, Binding) else Binding(*binding)
        keys = " ".join(key_names(made))
        yield line((f"  {keys:<{WIDTH}}", "key"), made.tooltip or made.description or made.action, hang=WIDTH + 2)


def command_lines() -> Iterator[StyledLine]:
    """Every command of the `:` line."""
    yield StyledLine()
    yield line(("Commands, after : (or ctrl+p)", "strong"))
    for command in COMMANDS:
        words = command.words, (f"  {command.takes}", "dim")
        yield line((f"  {command.name:<{WIDTH}}", "key"), *words, hang=WIDTH + 2)


def help_rows(width: int) -> list[Row]:
    """The whole help: two columns where there is room, and never a place broken over both."""
    intro = list(fold(map(line, INTRO), width))
    columns = 2 if width >= 2 * COLUMN + GAP else 1
    room = (width - GAP * (columns - 1)) // columns
    blocks = [list(fold(key_lines(title, bindings), room)) for title, bindings in PLACES]
    blocks.append(list(fold(command_lines(), room)))
    if columns == 1:
        return [*intro, *chain.from_iterable(blocks)]
    left: list[Row] = []
    half = sum(map(len, blocks)) / 2
    while blocks and len(left) + len(blocks[0]) / 2 <= half:
        left += blocks.pop(0)
    right = list(chain.from_iterable(blocks))
    pairs = zip_longest(left, right, fillvalue=())
    return [*intro, *((*_filled(one, room + GAP), *other) for one, other in pairs)]


def _filled(row: Row, width: int) -> Row:
    return (*row, TextSpan(" " * (width - sum(cell_len(span.text) for span in row))))


class HelpPage(TextPage):
    """The help, on one scrolling page."""

    heading = "Help"

    async def read(self) -> None:
        for view in self.query(".page").results(TextView):  # the page may be closed by now
            view.show_rows(help_rows(max(view.content_size.width - 1, 20)))  # without the scroll bar

    def on_resize(self) -> None:
        self.call_after_refresh(self.action_reload)
