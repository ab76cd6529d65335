"""The dialog for many decisions at once. The preview shows each request in full; there is no "allow the rest"."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import Struct
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.message import Message

from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.lines.request_input import body, concealed_parts
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS, Model
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan, fold, line
from quarterdeck.surfaces.text.labels import about, outcome
from quarterdeck.surfaces.tui.dialogs.base import CHECK_SECONDS, Dialog, label
from quarterdeck.surfaces.tui.widgets.item_view import MOVE_KEYS, ItemView

MAX_ROWS = 6
"""Rows of a request in the preview; a request that needs more must be opened and read first."""
MARK = 4
"""Cells for the mark before a request."""


def preview(item: RequestItem, who: str, width: int) -> tuple[list[Row], bool]:
    """The rows of a request in the preview, and whether they show all of it."""
    rows = list(itertools.islice(fold(body(item.shown), width), MAX_ROWS + 1))
    whole = item.seen or (len(rows) <= MAX_ROWS and not concealed_parts(item.shown))
    mark = card.risk_span(item.shown)
    first = line((who, "strong"), f" · {item.view['tool_name']}", " · " if mark.text else "", mark)
    note = [line(("not all of it shows: open it and press x first", "warn"))] if not whole else []
    if whole and len(rows) > MAX_ROWS:
        note = [line(("… and more, which you have seen", "dim"))]
    return [*fold([first], width), *rows[:MAX_ROWS], *fold(note, width)], whole


class BatchItem(Struct, frozen=True):
    """A request in the list: its rows, whether they show all of it, and whether it is critical and so never marked
    together with others."""

    key: str
    rows: list[Row]
    whole: bool
    critical: bool


class BatchList(ItemView):
    """The requests with their marks. A request can be marked only after all of it was on screen."""

    BINDINGS = [
        *MOVE_KEYS,
        Binding("space,enter", "mark", "mark", key_display="space"),
        Binding("asterisk", "mark_all", "mark all", key_display="*"),
    ]

    @dataclass
    class MarkRefused(Message):
        """Some requests were not marked; `words` says why."""

        words: str

    def __init__(self, items: list[BatchItem], width: int) -> None:
        super().__init__(id="several")
        self._items = items
        self._width = width + MARK
        self._seen_rows: set[int] = set()
        self._shown_since: dict[int, float] = {}
        self.marked: set[str] = set()

    def on_mount(self) -> None:
        self._draw_all()

    def set_items(self, items: list[BatchItem], width: int) -> None:
        """Show the same requests, folded again: they must also be seen again."""
        self._items, self._width = items, width + MARK
        self._seen_rows.clear()
        self._shown_since.clear()
        self.marked &= {item.key for item in items if item.whole}
        self._draw_all()

    def _draw_all(self) -> None:
        self.show_items(map(self._marked_rows, self._items))
        self.styles.height = min(len(self.rows), max(4, self.app.size.height - 10))
        self.call_after_refresh(self._note_seen_rows)

    def _marked_rows(self, item: BatchItem) -> Iterator[Row]:
        mark = ("[x] " if item.key in self.marked else "[ ] ") if item.whole else " –  "
        for number, row in enumerate(item.rows):
            yield TextSpan(" " * MARK if number else mark, "key"), *row

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._note_seen_rows()

    def _note_seen_rows(self) -> None:
        """Note the rows on screen and since when: rows that were only scrolled past do not count as seen."""
        top, now = self.scroll_offset.y, time.monotonic()
        fits = self.size.width >= self._width
        shown = range(top, min(top + self.size.height, len(self.rows))) if fits else range(0)
        self._seen_rows |= {row for row, since in self._shown_since.items() if now - since >= SETTLE_SECONDS}
        self._shown_since = {row: self._shown_since.get(row, now) for row in shown}

    def _is_seen(self, number: int) -> bool:
        self._note_seen_rows()
        return self._seen_rows.issuperset(self.rows_of(number))

    def action_move(self, step: int) -> None:
        self.cursor = min(max(0, self.cursor + step), len(self._items) - 1)
        rows = self.rows_of(self.cursor)
        top = max(rows.start - self.size.height // 3, rows.stop - self.size.height, 0)
        self.scroll_to(y=min(top, rows.start), animate=False)
        self.refresh()

    def action_mark(self) -> None:
        item = self._items[self.cursor]
        if not item.whole:
            self.app.bell()
        elif item.key not in self.marked and not self._is_seen(self.cursor):
            is_there = self._shown_since.keys() >= set(self.rows_of(self.cursor))
            why = (
                "The request has only just appeared" if is_there else "Not all of it has been on screen: go to its end"
            )
            self.post_message(self.MarkRefused(why))
        else:
            self.marked ^= {item.key}
            self._draw_all()

    def action_mark_all(self) -> None:
        """Mark the requests that were on screen and are not critical."""
        unmarked = {
            item.key: number for number, item in enumerate(self._items) if item.whole and item.key not in self.marked
        }
        below = [key for key, number in unmarked.items() if not self._is_seen(number)]
        critical = [key for key, number in unmarked.items() if self._items[number].critical and key not in below]
        self.marked |= unmarked.keys() - {*below, *critical}
        self._draw_all()
        words = [f"{len(below)} not seen yet, go down first"] if below else []
        words += [f"{len(critical)} critical, to be marked one by one"] if critical else []
        self.post_message(self.MarkRefused(f"Not marked: {'; '.join(words)}" if words else ""))

    def on_click(self, event: events.Click) -> None:
        if (place := self.clicked_item(event)) is not None:
            self.cursor = place
            self.action_mark()


class BatchDialog(Dialog[tuple[str, list[RequestItem]]]):
    """Ends with the decision and the marked requests."""

    heading = "Many at once"
    BINDINGS = [
        Binding("a", "decide('allow')", "allow", tooltip="allow the marked ones"),
        Binding("d", "decide('deny')", "deny", tooltip="deny the marked ones"),
        Binding("p", "decide('pass')", "leave", tooltip="leave them to their terminals"),
    ]

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model
        self._requests = {item.request_id: item for item in model.pending}

    def compose_box(self) -> ComposeResult:
        yield label("Mark the requests you have read. Only marked requests are decided.")
        yield BatchList(self._items(), self._row_width)

    @property
    def _row_width(self) -> int:
        """Cells in a row of a request."""
        return max(30, min(100, int(self.app.size.width * 0.9) - 12))

    def _items(self) -> list[BatchItem]:
        items = []
        for item in self._requests.values():
            rows, whole = preview(item, str(self._model.name_of(item.view["session_id"])), self._row_width)
            items.append(BatchItem(item.request_id, rows, whole, item.view["risk"]["level"] == "critical"))
        return items

    def on_mount(self) -> None:
        self.shown_at = time.monotonic()
        self.set_interval(CHECK_SECONDS, self._check_pending)

    def on_resize(self) -> None:
        for requests in self.query(BatchList):  # none yet, or none any more
            requests.set_items(self._items(), self._row_width)

    def on_batch_list_mark_refused(self, message: BatchList.MarkRefused) -> None:
        self.show_error(message.words)

    def _check_pending(self) -> None:
        """Say when some of the requests were resolved elsewhere; those are not sent."""
        for item in self._requests.values():
            self._model.renew(item)
        if over := self._over():
            words = f"{len(over)} of these are over: {outcome(over[-1].view)}"
            self.show_error(words, lambda: self._over() == over)

    def _over(self) -> list[RequestItem]:
        return [item for item in self._requests.values() if not item.is_pending]

    def action_decide(self, word: str) -> None:
        marked = self.query_one(BatchList).marked
        chosen = [self._requests[key] for key in self._requests if key in marked]
        odd = [one for one in chosen if word not in card.decisions_for(one.view)]
        off = self._disabled(chosen)
        if time.monotonic() - self.shown_at < SETTLE_SECONDS:
            self.show_error("The list has only just appeared; press the key again")
        elif off:
            self.show_error(f"Nothing was sent. {off[0]}", lambda: self._disabled(chosen) == off)
        elif odd:
            self.show_error(f"{odd[0].view['tool_name']} cannot be decided by {word}: unmark it")
        elif not chosen:
            self.show_error("Nothing is marked")
        else:
            self.dismiss((word, chosen))

    def _disabled(self, chosen: list[RequestItem]) -> list[str]:
        """The waiting ones that nobody can decide now, each with the reason."""
        now = time.monotonic()
        waiting = [one for one in chosen if one.is_pending]
        return [f"{about(one.view)}: {why}" for one in waiting if (why := self._model.disabled_reason(one, now))]
