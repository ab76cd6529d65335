"""Many decisions at once. Each request is named in the preview with all it asks for; there is no "allow the rest"."""

from __future__ import annotations

import itertools
import time
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from quarterdeck.surfaces.tui import card
from quarterdeck.surfaces.tui.dialogs.dialog import Dialog
from quarterdeck.surfaces.tui.lines import Row, Span, fold, line
from quarterdeck.surfaces.tui.model import Asked, Model
from quarterdeck.surfaces.tui.wall import Wall, cursor_colour
from quarterdeck.surfaces.words import outcome

ROWS = 6
"""Rows a request may take in the preview; one that needs more is opened and decided by itself."""
FITTING = {"allow": ("permission", "plan"), "deny": ("permission", "plan", "questions", "elicitation")}


def preview(asked: Asked, who: str, width: int) -> tuple[list[Row], bool]:
    """A request as the preview shows it, and whether that is all of it."""
    rows = list(itertools.islice(fold(card.body(asked.shown), width), ROWS + 1))
    whole = asked.seen or (len(rows) <= ROWS and not card.concealed(asked.shown))
    mark = card.risk_mark(asked.shown)
    risk = Span(f" · {mark}" if mark else "", f"risk-{asked.view['risk']['level']}")
    first = line((who, "strong"), f" · {asked.view['tool_name']}", risk)
    note = [line(("not all of it shows: open it and press x first", "warn"))] if not whole else []
    return [*fold([first], width), *rows[:ROWS], *fold(note, width)], whole


class Marks(Wall):
    """The requests, each whole, with a mark before those that are meant."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("space,enter", "mark", "mark", key_display="space"),
        Binding("asterisk", "mark_all", "mark all", key_display="*"),
    ]

    def __init__(self, items: list[tuple[str, list[Row], bool]]) -> None:
        super().__init__(id="several")
        self._items = items
        self._starts: list[int] = []
        self.cursor = 0
        self.marked: set[str] = set()

    def on_mount(self) -> None:
        self._draw_all()

    def _draw_all(self) -> None:
        rows: list[Row] = []
        self._starts = []
        for key, lines, whole in self._items:
            self._starts.append(len(rows))
            mark = ("[x] " if key in self.marked else "[ ] ") if whole else " –  "
            rows += [(Span(mark if not n else "    ", "key"), *row) for n, row in enumerate(lines)]
        self.styles.height = min(len(rows), max(4, self.app.size.height - 10))
        self.show_rows(rows)

    def row_style(self, number: int) -> Style | None:
        start = self._starts[self.cursor] if self._starts else 0
        end = self._starts[self.cursor + 1] if self.cursor + 1 < len(self._starts) else len(self.rows)
        return Style(bgcolor=cursor_colour(self)) if start <= number < end else None

    def action_move(self, step: int) -> None:
        self.cursor = min(max(0, self.cursor + step), len(self._items) - 1)
        start = self._starts[self.cursor]
        self.scroll_to(y=max(0, start - self.size.height // 3), animate=False)
        self.refresh()

    def action_mark(self) -> None:
        key, _, whole = self._items[self.cursor]
        if whole:
            self.marked ^= {key}
            self._draw_all()
        else:
            self.app.bell()

    def action_mark_all(self) -> None:
        self.marked = {key for key, _, whole in self._items if whole}
        self._draw_all()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            row = offset.y + self.scroll_offset.y
            self.cursor = max((n for n, start in enumerate(self._starts) if start <= row), default=0)
            self.action_mark()


class BatchDialog(Dialog[tuple[str, list[Asked]]]):
    """Ends with the decision and those it is for."""

    heading = "Many at once"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "decide('allow')", "allow the marked ones"),
        Binding("d", "decide('deny')", "deny the marked ones"),
        Binding("p", "decide('pass')", "leave them to their terminals"),
    ]

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model
        self._asked = {asked.request_id: asked for asked in model.pending}

    def inside(self) -> ComposeResult:
        yield Static("Mark what you have read. Nothing is decided but what is marked here.", markup=False)
        width = max(30, min(100, int(self.app.size.width * 0.9) - 12))
        items = []
        for asked in self._asked.values():
            who = str(self._model.name_of(asked.view["session_id"]))
            items.append((asked.request_id, *preview(asked, who, width)))
        yield Marks(items)

    def on_mount(self) -> None:
        self.set_interval(0.2, self._watch)

    def _watch(self) -> None:
        """Those that are resolved elsewhere meanwhile are said so, and are not sent."""
        over = [asked for asked in self._asked.values() if not asked.is_pending]
        if over:
            self.trouble(f"{len(over)} of these are over: {outcome(over[-1].view)}")

    def action_decide(self, word: str) -> None:
        marked = self.query_one(Marks).marked
        chosen = [self._asked[key] for key in self._asked if key in marked]
        odd = [one for one in chosen if word in FITTING and (one.view["form"] or one.view["kind"]) not in FITTING[word]]
        if self._model.is_stale(time.monotonic()):
            self.trouble("Not connected to the daemon: nothing can be decided")
        elif odd:
            self.trouble(f"{odd[0].view['tool_name']} cannot be decided by {word}: take its mark away")
        elif not chosen:
            self.trouble("Nothing is marked")
        else:
            self.dismiss((word, chosen))
