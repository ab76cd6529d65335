"""Fetch what the live connection does not push: details and outcomes of requests, terminals of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.connection import run_in_thread
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.lines.request_input import body
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.session_names import SessionName
from quarterdeck.surfaces.terminal.styled_text import Row, fold
from quarterdeck.views.resources.session_view import SessionView

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp


async def fetch_terminal(app: QuarterdeckApp, session_id: str) -> None:
    """Find the command that shows the terminal of an observed session; what is unknown stays unknown."""
    try:
        session = read_view(SessionView, await app.daemon.get(f"/sessions/{quote(session_id, safe='')}"))
    except QuarterdeckError:
        return
    if session.where and session_id in app.model.terminal_commands:
        app.model.terminal_commands[session_id] = session.where
        app.redraw_soon()


async def fetch_details(app: QuarterdeckApp, item: RequestItem) -> None:
    """Fetch what a good decision needs beside the input, once for each card."""
    if item.is_fetched:
        return
    item.is_fetched = True
    try:
        if item.view["truncated"] is None:
            item.accept_details(await app.daemon.request(item.request_id))
    except QuarterdeckError:
        item.is_fetched = False
    app.redraw_soon()


async def fetch_whole_input(app: QuarterdeckApp, item: RequestItem) -> bool:
    """Fetch what a large request left out; False if not all of it is there."""
    if item.view["truncated"] is not None and item.details is None:
        try:
            item.accept_details(await app.daemon.request(item.request_id))
        except QuarterdeckError as error:
            app.say(f"Not all of it could be fetched: {error}", "error")
            return False
    return item.shown["truncated"] is None


async def full_card_rows(app: QuarterdeckApp, item: RequestItem, width: int) -> list[Row]:
    """The rows of the whole card, folded in a thread since it may be large."""
    session, name = app.model.session_of(item.view), app.model.name_of(item.view["session_id"])
    return await run_in_thread(lambda: _folded(item, session, name, width, app.clock()))


def _folded(item: RequestItem, session: SessionView | None, name: SessionName, width: int, now: float) -> list[Row]:
    shown = item.shown
    parts = [*card.head(shown, session, now, name), *body(shown), *card.tail(shown)]
    return list(fold(parts, width))
