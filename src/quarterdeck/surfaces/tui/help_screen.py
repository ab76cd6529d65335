"""Every key and every command, made from the tables that they are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.terminal.commands import COMMANDS
from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.tui.key_tables import PLACES
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.widgets.text_view import Wall

WIDTH = 16
INTRO = (
    "Quarterdeck shows every Claude Code session of this machine, puts what they ask on one desk, keeps the record.",
    "A decision key acts only when the card has the focus, has been on screen for 0.3 s and hides nothing.",
    "Nothing leaves this machine but what you configured to, which :about names. docs/tui.md is about this face.",
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
    """The keys of a binding as a person reads them."""
    return [NAMES.get(key, key.replace("ctrl+", "^")) for key in binding.key.split(",")]


def key_lines(title: str, bindings: Iterable[BindingType]) -> Iterator[Line]:
    """The keys of one place."""
    yield Line()
    yield line((title, "strong"))
    for binding in bindings:
        made = binding if isinstance(binding, Binding) else Binding(*binding)
        keys = " ".join(key_names(made))
        yield line((f"  {keys:<{WIDTH}}", "key"), made.tooltip or made.description or made.action, hang=WIDTH + 2)


def command_lines() -> Iterator[Line]:
    """Every command of the `:` line."""
    yield Line()
    yield line(("Commands, after : (or ctrl+p)", "strong"))
    for command in COMMANDS:
        words = command.words, (f"  {command.takes}", "dim")
        yield line((f"  {command.name:<{WIDTH}}", "key"), *words, hang=WIDTH + 2)


class HelpPage(PageScreen):
    """All of it."""

    heading = "Help"

    def inside(self) -> ComposeResult:
        yield Wall(classes="page", id="help")

    def on_mount(self) -> None:
        lines = [line(words) for words in INTRO]
        for title, bindings in PLACES:
            lines += key_lines(title, bindings)
        lines += command_lines()
        wall = self.query_one("#help", Wall)
        wall.focus()
        self.call_after_refresh(wall.show, lines)
