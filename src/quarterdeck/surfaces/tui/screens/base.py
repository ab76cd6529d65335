"""The bases of all screens but the main one: a title, the content, the keys, and a key that goes back."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.styled_text import StyledLine
from quarterdeck.surfaces.tui.panes.header import Banner, Header
from quarterdeck.surfaces.tui.widgets.footer import KeyFooter
from quarterdeck.surfaces.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp


class PageScreen(Screen[None]):
    """A screen that Escape or q closes."""

    heading = ""
    BINDINGS = [
        Binding("escape,q", "dismiss", "back", key_display="esc"),
        Binding("ctrl+r,f5", "reload", "read again", show=False),
    ]

    @property
    def tui(self) -> QuarterdeckApp:
        return cast("QuarterdeckApp", self.app)

    def compose(self) -> ComposeResult:
        yield Header()
        yield Static(Content(self.heading), classes="title", markup=False, id="title")
        yield Banner()
        yield from self.compose_page()
        yield KeyFooter(self.tui.status.shown)

    def compose_page(self) -> ComposeResult:
        """The widgets of the page."""
        yield from ()

    def on_screen_resume(self) -> None:
        self.tui.redraw_soon()

    def update_header(self) -> None:
        """Show who waits: a request that comes while this screen is open is seen here."""
        model = self.tui.model
        for header in self.query(Header):  # none before the screen is composed
            header.update(model.metrics, model.runner_id, not model.is_stale(time.monotonic()))

    def set_subtitle(self, words: str) -> None:
        """Show these words after the heading."""
        for title in self.query("#title").results(Static):  # the page may be closed when an answer comes late
            title.update(Content(one_line(f"{self.heading}  {words}")))

    def show_error(self, words: str) -> None:
        """Show an error in the banner; hide it for an empty text."""
        for banner in self.query(Banner):
            banner.update(words)

    async def read(self) -> None:
        """Read the content and show it."""

    @work(exclusive=True, group="read")
    async def action_reload(self) -> None:
        """Read the content again; the banner says why that failed."""
        try:
            self.show_error("")
            await self.read()
        except QuarterdeckError as error:
            self.show_error(str(error))


class TextPage(PageScreen):
    """A page of lines."""

    def compose_page(self) -> ComposeResult:
        yield TextView(classes="page")

    def on_mount(self) -> None:
        self.query_one(".page").focus()
        self.call_after_refresh(self.action_reload)

    def show(self, lines: Iterable[StyledLine]) -> None:
        """Show these lines."""
        for view in self.query(".page").results(TextView):  # the page may be closed by now
            view.show(lines)
