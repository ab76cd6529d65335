"""Every key and every command, made from the tables that they are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.tui.commands import COMMANDS
from quarterdeck.surfaces.tui.lines import Line, line
from quarterdeck.surfaces.tui.places import PLACES
from quarterdeck.surfaces.tui.screens.page import PageScreen
from quarterdeck.surfaces.tui.wall import Wall

WIDTH = 16
INTRO = (
    "Quarterdeck shows every Claude Code session of this machine, puts what they ask on one desk, keeps the record.",
    "A decision key acts only when the card has the focus, has been on screen for 0.3 s and hides nothing.",
    "Nothing leaves this machine. The documents are in docs/ of the checkout; docs/tui.md is about this face.",
)
NAMES = {"question_mark": "?", "colon": ":", "slash": "/", "escape": "esc", "space": "space"}


def key_lines(title: str, bindings: Iterable[BindingType]) -> Iterator[Line]:
    """The keys of one place."""
    yield Line()
    yield line((title, "strong"))
    for binding in bindings:
        made = binding if isinstance(binding, Binding) else Binding(*binding)
        keys = " ".join(NAMES.get(key, key.replace("ctrl+", "^")) for key in made.key.split(","))
        yield line((f"  {keys:<{WIDTH}}", "key"), made.tooltip or made.description or made.action)


def command_lines() -> Iterator[Line]:
    """Every command of the `:` line."""
    yield Line()
    yield line(("Commands, after : (or ctrl+p)", "strong"))
    for command in COMMANDS:
        yield line((f"  {command.name:<{WIDTH}}", "key"), command.words, (f"  {command.takes}", "dim"))


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
