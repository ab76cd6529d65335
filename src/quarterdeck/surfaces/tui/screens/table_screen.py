"""A page with a table, and details of a row below it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from textual.app import ComposeResult

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TableRows, fold
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.widgets.table import Table
from quarterdeck.surfaces.tui.widgets.text_view import TextView

Json = dict[str, Any]
FRAME_CELLS = 4
"""Cells of a row that the frame around the details takes."""
TICK_SECONDS = 0.2


class TablePage(PageScreen):
    """`columns`: the headings. `empty`: shown in the title when there are no rows. `row_actions`: the actions that need
    a row."""

    columns: tuple[str, ...] = ()
    empty = "Nothing here yet."
    row_actions: ClassVar[Collection[str]] = ()

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[str, Any] = {}
        """What each row is about, by the key of the row."""
        self.shows_details = False
        """Whether the person has opened details, which are more than the notes below a table."""
        self._activity = ""
        self._started_at = 0.0

    def compose_page(self) -> ComposeResult:
        yield Table(self.columns, id="table")
        yield TextView(classes="detail", id="detail")

    @property
    def table(self) -> Table:
        return self.query_one(Table)

    @property
    def detail(self) -> TextView:
        return self.query_one("#detail", TextView)

    @property
    def highlighted(self) -> Any:
        """What the row under the cursor is about; None without a row."""
        return self.items.get(self.table.highlighted_key or "")

    def on_mount(self) -> None:
        self.detail.display = False
        self.table.focus()
        self.set_interval(TICK_SECONDS, self._show_progress)
        self.action_reload()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self.items) if action in self.row_actions else True

    def lines(self, item: Any) -> Iterable[StyledLine]:
        """All of what a row is about."""
        return ()

    def choose(self, item: Any) -> None:
        """Open what a row is about."""
        self.show_details(self.lines(item))

    def on_table_chosen(self, message: Table.Chosen) -> None:
        if message.key in self.items:
            self.choose(self.items[message.key])

    def show_details(self, lines: Iterable[StyledLine]) -> None:
        """Show details below the table, in up to half of the page; hide them when there are no lines."""
        if not self.query(TextView):  # the page may be closed when an answer comes late
            return
        shown = list(lines)
        self.detail.display = self.shows_details = bool(shown)
        rows = len(list(fold(shown, max(self.size.width - FRAME_CELLS, 1))))
        self.detail.styles.height = min(rows + 2, max(5, self.size.height // 2))
        self.call_after_refresh(self.detail.show, shown)
        self.refresh_bindings()

    def fill(self, items: Iterable[Any], rows: TableRows, notes: Iterable[StyledLine] | None = None) -> None:
        """Show these items as rows, and notes about them in the place of details; None leaves the details as they
        are."""
        if not self.query(Table):  # the page may be closed when an answer comes late
            return
        made = list(rows)
        self.items = {key: item for (key, _), item in zip(made, items, strict=True)}
        self.table.fill(made)
        self._show_count()
        if notes is not None:
            self.show_details(notes)
            self.shows_details = False

    def _show_count(self) -> None:
        self.set_subtitle(f"{self.table.count}" if self.table.count else self.empty)

    def _show_progress(self) -> None:
        if self._activity:
            self.set_subtitle(f"{self._activity} … {time.monotonic() - self._started_at:.0f} s")

    async def call_daemon(self, activity: str, method: str, path: str, body: Json | None = None) -> Json | None:
        """Make a call that takes a while, one at a time, with its seconds in the title. Returns the reply; None when it
        was refused, and then the banner shows the error."""
        if self._activity:
            self.tui.say(f"Wait until this ends: {self._activity}", "warning")
            return None
        self._activity, self._started_at = activity, time.monotonic()
        self._show_progress()
        reply, error_text = None, ""
        try:
            reply = await self.tui.daemon.long_call(method, path, body)
        except QuarterdeckError as error:
            error_text = one_line(str(error))
        finally:
            self._activity = ""
        self.show_error(error_text)
        if self.query(Table):  # the page may be closed by now
            self._show_count()
        return reply

    async def change(self, activity: str, method: str, path: str, body: Json | None = None, done: str = "") -> None:
        """Have the daemon change something, say what came of it, and read the page again."""
        reply = await self.call_daemon(activity, method, path, body)
        if reply is not None:
            self.tui.say(reply.get("said") or done or f"{activity}: done")
            self.action_reload()

    async def add_with(self, dialog: Dialog[Json]) -> None:
        """Let the person add something in a dialog, say what came of it, and read the page again."""
        reply = await self.app.push_screen_wait(dialog)
        if reply is not None:
            self.tui.say(reply["said"] or "Added")
            self.action_reload()


class OffersPage(TablePage):
    """A table that can show offers in the place of its rows. `row_actions` need a row, `offer_actions` an offer."""

    offer_actions: ClassVar[Collection[str]] = ()

    def __init__(self) -> None:
        super().__init__()
        self.shows_offers = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "offers":
            return not self.shows_offers
        if action in (*self.row_actions, *self.offer_actions):
            return bool(self.items) and action in (self.offer_actions if self.shows_offers else self.row_actions)
        return True

    def action_leave(self) -> None:
        """Go back from the offers to the rows; from the rows to the main screen."""
        if self.shows_offers:
            self.action_reload()
        else:
            self.dismiss(None)
