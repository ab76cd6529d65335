"""Many decisions at once. Each request is named in the preview with all it asks for; there is no "allow the rest"."""

from __future__ import annotations

import itertools
import time
from typing import Any, ClassVar

from msgspec import Struct
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS, Asked, Model
from quarterdeck.surfaces.terminal.styled_text import Row, Span, fold, line
from quarterdeck.surfaces.text.labels import about, outcome
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.widgets.text_view import Wall, cursor_colour

ROWS = 6
"""Rows a request may take in the preview; one that needs more is opened and decided by itself."""
MARK = 4
"""Cells of a mark before a request."""
FITTING = {"allow": ("permission", "plan"), "deny": ("permission", "plan", "questions", "elicitation")}


def preview(asked: Asked, who: str, width: int) -> tuple[list[Row], bool]:
    """A request as the preview shows it, and whether that is all of it."""
    rows = list(itertools.islice(fold(card.body(asked.shown), width), ROWS + 1))
    whole = asked.seen or (len(rows) <= ROWS and not card.concealed(asked.shown))
    mark = card.risk_mark(asked.shown)
    risk = Span(mark, f"risk-{asked.view['risk']['level']}")
    first = line((who, "strong"), f" · {asked.view['tool_name']}", " · " if mark else "", risk)
    note = [line(("not all of it shows: open it and press x first", "warn"))] if not whole else []
    if whole and len(rows) > ROWS:
        note = [line(("… and more, which you have seen", "dim"))]
    return [*fold([first], width), *rows[:ROWS], *fold(note, width)], whole


class Item(Struct, frozen=True):
    """A request in the list: its rows, whether they are all of it, and whether it is marked by itself only."""

    key: str
    rows: list[Row]
    whole: bool
    critical: bool


class Marks(Wall):
    """The requests, each whole, with a mark before those that are meant. None is marked that was not on screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("space,enter", "mark", "mark", key_display="space"),
        Binding("asterisk", "mark_all", "mark all", key_display="*"),
    ]

    class Left(Message):
        """Why some were not marked."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    def __init__(self, items: list[Item], width: int) -> None:
        super().__init__(id="several")
        self._items = items
        self._width = width + MARK
        self._starts: list[int] = []
        self._seen_rows: set[int] = set()
        self._shown_since: dict[int, float] = {}
        self.cursor = 0
        self.marked: set[str] = set()

    def on_mount(self) -> None:
        self._draw_all()

    def take(self, items: list[Item], width: int) -> None:
        """The same requests, folded anew: they must be seen again."""
        self._items, self._width = items, width + MARK
        self._seen_rows.clear()
        self._shown_since.clear()
        self.marked &= {item.key for item in items if item.whole}
        self._draw_all()

    def _draw_all(self) -> None:
        rows: list[Row] = []
        self._starts = []
        for item in self._items:
            self._starts.append(len(rows))
            mark = ("[x] " if item.key in self.marked else "[ ] ") if item.whole else " –  "
            rows += [(Span(mark if not n else "    ", "key"), *row) for n, row in enumerate(item.rows)]
        self.styles.height = min(len(rows), max(4, self.app.size.height - 10))
        self.show_rows(rows)
        self.call_after_refresh(self._look)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._look()

    def _look(self) -> None:
        """Note what is on screen, and since when: what only flew past was not seen."""
        top, now = self.scroll_offset.y, time.monotonic()
        fits = self.size.width >= self._width
        shown = range(top, min(top + self.size.height, len(self.rows))) if fits else range(0)
        self._seen_rows |= {row for row, since in self._shown_since.items() if now - since >= SETTLE_SECONDS}
        self._shown_since = {row: self._shown_since.get(row, now) for row in shown}

    def _is_seen(self, number: int) -> bool:
        self._look()
        return self._seen_rows.issuperset(range(*self._place(number)))

    def _place(self, number: int) -> tuple[int, int]:
        ends = [*self._starts[1:], len(self.rows)]
        return self._starts[number], ends[number]

    def row_style(self, number: int) -> Style | None:
        start, end = self._place(self.cursor)
        return Style(bgcolor=cursor_colour(self)) if start <= number < end else None

    def action_move(self, step: int) -> None:
        self.cursor = min(max(0, self.cursor + step), len(self._items) - 1)
        start, end = self._place(self.cursor)
        top = max(start - self.size.height // 3, end - self.size.height, 0)
        self.scroll_to(y=min(top, start), animate=False)
        self.refresh()

    def action_mark(self) -> None:
        item = self._items[self.cursor]
        if not item.whole:
            self.app.bell()
        elif item.key not in self.marked and not self._is_seen(self.cursor):
            is_there = self._shown_since.keys() >= set(range(*self._place(self.cursor)))
            why = "It has only just come on screen" if is_there else "Not all of it has been on screen: go to its end"
            self.post_message(self.Left(why))
        else:
            self.marked ^= {item.key}
            self._draw_all()

    def action_mark_all(self) -> None:
        """Those that were on screen and are not critical."""
        left = {
            item.key: number for number, item in enumerate(self._items) if item.whole and item.key not in self.marked
        }
        below = [key for key, number in left.items() if not self._is_seen(number)]
        critical = [key for key, number in left.items() if self._items[number].critical and key not in below]
        self.marked |= left.keys() - {*below, *critical}
        self._draw_all()
        words = [f"{len(below)} not seen yet, go down first"] if below else []
        words += [f"{len(critical)} critical, to be marked one by one"] if critical else []
        self.post_message(self.Left(f"Not marked: {'; '.join(words)}" if words else ""))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            row = offset.y + self.scroll_offset.y
            self.cursor = max((n for n, start in enumerate(self._starts) if start <= row), default=0)
            self.action_mark()


def _takes(request: dict[str, Any], word: str) -> bool:
    if word not in FITTING:
        return bool(request["has_terminal"])
    return (request["form"] or request["kind"]) in FITTING[word]


class BatchDialog(Dialog[tuple[str, list[Asked]]]):
    """Ends with the decision and those it is for."""

    heading = "Many at once"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "decide('allow')", "allow", tooltip="allow the marked ones"),
        Binding("d", "decide('deny')", "deny", tooltip="deny the marked ones"),
        Binding("p", "decide('pass')", "leave", tooltip="leave them to their terminals"),
    ]

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model
        self._asked = {asked.request_id: asked for asked in model.pending}

    def inside(self) -> ComposeResult:
        yield Static("Mark what you have read. Nothing is decided but what is marked here.", markup=False)
        yield Marks(self._items(), self._room)

    @property
    def _room(self) -> int:
        """Cells for a row of a request."""
        return max(30, min(100, int(self.app.size.width * 0.9) - 12))

    def _items(self) -> list[Item]:
        items = []
        for asked in self._asked.values():
            rows, whole = preview(asked, str(self._model.name_of(asked.view["session_id"])), self._room)
            items.append(Item(asked.request_id, rows, whole, asked.view["risk"]["level"] == "critical"))
        return items

    def on_mount(self) -> None:
        self.shown_at = time.monotonic()
        self.set_interval(0.2, self._watch)

    def on_resize(self) -> None:
        self.query_one(Marks).take(self._items(), self._room)

    def on_marks_left(self, message: Marks.Left) -> None:
        self.trouble(message.words)

    def _watch(self) -> None:
        """Those that are resolved elsewhere meanwhile are said so, and are not sent."""
        over = [asked for asked in self._asked.values() if not asked.is_pending]
        if over:
            self.trouble(f"{len(over)} of these are over: {outcome(over[-1].view)}")

    def action_decide(self, word: str) -> None:
        marked = self.query_one(Marks).marked
        chosen = [self._asked[key] for key in self._asked if key in marked]
        odd = [one for one in chosen if not _takes(one.view, word)]
        now = time.monotonic()
        waiting = [one for one in chosen if one.is_pending]
        off = [f"{about(one.view)}: {why}" for one in waiting if (why := self._model.why_off(one, now))]
        if now - self.shown_at < SETTLE_SECONDS:
            self.trouble("It has only just come on screen")
        elif off:
            self.trouble(f"Nothing was sent. {off[0]}")
        elif odd:
            self.trouble(f"{odd[0].view['tool_name']} cannot be decided by {word}: take its mark away")
        elif not chosen:
            self.trouble("Nothing is marked")
        else:
            self.dismiss((word, chosen))
