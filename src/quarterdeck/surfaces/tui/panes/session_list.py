"""The list of sessions: one or two rows for each, and a mark for the one whose feed is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip

from quarterdeck.core.text.amounts import cut, money
from quarterdeck.core.text.durations import age_words
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.session_names import SessionName
from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan
from quarterdeck.surfaces.text.labels import has_failed, problem_text, state_label
from quarterdeck.surfaces.text.session_order import state_since
from quarterdeck.surfaces.tui.widgets.item_view import MOVE_KEYS, ItemView
from quarterdeck.surfaces.tui.widgets.titled_pane import TitledPane
from quarterdeck.views.resources.session_view import SessionView

Json = dict[str, Any]
CURSOR = "▌"
WORD = 10
AGE = 5
NAME = 10
"""Cells that a name keeps when something is shown beside it."""
TITLE = 6
"""Cells that a title needs; with fewer it is left out."""


def session_rows(session: SessionView, name: SessionName, now: float, width: int, tall: bool) -> Iterator[Row]:
    """A session: its state as glyph and word, name and age; then title, run and cost. Without a second row, as much as
    fits is shown beside the name: the number of waiting requests, the cost, the title."""
    state = state_label(session)
    style = "blocked" if has_failed(session) else _style(session.agent_state)
    mark = "~" if session.state_source == "process" else ""
    word = _fit(state.word + mark, WORD)
    age = f"{age_words(now - state_since(session)):>{AGE}}"
    named = _name_spans(session, name, max(6, width - WORD - AGE - 5), tall)
    yield TextSpan(f" {state.glyph} ", style), *named, TextSpan(f" {word}", style), TextSpan(f"{age} ", "dim")
    if tall:
        yield (TextSpan(set_cell_size(f"   {_detail(session, width - 4)}", width), "dim"),)


def _name_spans(session: SessionView, name: SessionName, room: int, tall: bool) -> Iterator[TextSpan]:
    """The name in this many cells; without a second row, with title, count and cost beside it."""
    strong = "strong" if session.pending else ""
    beside = "" if tall else _beside_name(session, room - min(cell_len(str(name)), NAME))
    shown = one_line(name.within(room - cell_len(beside)))
    left = room - cell_len(beside) - cell_len(shown)
    title = "" if tall or left < TITLE else _fit(f" {session.title}", left)
    yield TextSpan(_fit(shown, room - cell_len(beside) - cell_len(title)), strong)
    yield from (TextSpan(part, "dim") for part in (title,) if part)
    yield from (TextSpan(part, strong or "dim") for part in (beside,) if part)


def _beside_name(session: SessionView, room: int) -> str:
    """The number of waiting requests if there are several, and the cost: the first that fit."""
    cost = money(session.usage.cost_usd if session.usage else None)
    parts = [f" ×{session.pending}" if session.pending > 1 else "", f" {cost}" if cost else ""]
    shown = ""
    for part in parts:
        shown += part if cell_len(shown + part) <= room else ""
    return shown


def _detail(session: SessionView, width: int) -> str:
    """The title, or the session's problem, as far as there is room, then mode, run, waiting requests and cost."""
    waits = session.pending
    parts = [
        session.mode if session.owned else "",
        f"run {session.runs}" if session.runs else "",
        f"{waits} waiting" if waits > 1 else "",
        money(session.usage.cost_usd if session.usage else None),
    ]
    title = one_line(cut(problem_text(session) or session.title, 200))
    end = "".join(f" · {part}" for part in parts if part)
    if not title:
        return end.removeprefix(" · ")
    room = max(0, width - cell_len(end))
    return (title if cell_len(title) <= room else set_cell_size(title, max(0, room - 1)) + "…") + end


def _fit(text: str, width: int) -> str:
    shown = one_line(text)
    return set_cell_size(shown if cell_len(shown) <= width else cut(shown, max(3, width)), width)


def _style(state: str) -> str:
    words = {"waiting_permission": "waiting", "waiting_input": "asks", "complete": "done", "settled": "stopped"}
    return words.get(state, state)


class SessionPane(ItemView, TitledPane):
    """The list of sessions. The first row means all of them."""

    @dataclass
    class Chosen(Message):
        """A person chose the session whose feed to show; None is all of them."""

        session_id: str | None

    BINDINGS = [
        *MOVE_KEYS,
        Binding("home", "move(-100000)", "first", show=False),
        Binding("end", "move(100000)", "last", show=False),
        Binding("enter,right", "choose", "show", key_display="⏎", tooltip="show its feed, and its request"),
        Binding("h", "screen.toggle_ended", "ended", tooltip="show or hide ended sessions"),
        Binding("y", "screen.copy", "copy", tooltip="copy the command that resumes it"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_title("Sessions")
        self.chosen: str | None = None
        self._sessions: list[SessionView] = []
        self._names: Mapping[str, SessionName] = {}
        self._now = 0.0

    @property
    def highlighted(self) -> SessionView | None:
        """The session under the cursor; None on the first row."""
        return self._sessions[self.cursor - 1] if 0 < self.cursor <= len(self._sessions) else None

    def highlight(self, session_id: str) -> None:
        """Put the cursor on this session, if it is in the list."""
        for place, session in enumerate(self._sessions, 1):
            if session.session_id == session_id:
                self.cursor = place
                self.action_move(0)

    def update(self, sessions: list[SessionView], names: Mapping[str, SessionName], now: float) -> None:
        """Show these sessions as of now; the cursor stays on its session."""
        selected_id, before = self.highlighted.session_id if self.highlighted else None, self.cursor
        self._sessions, self._names, self._now = sessions, names, now
        places = {session.session_id: place for place, session in enumerate(sessions, 1)}
        self.cursor = places.get(selected_id or "", min(self.cursor, len(sessions)) if selected_id else 0)
        width = self.content_size.width
        tall = len(sessions) * 2 + 1 <= max(self.content_size.height, 8)
        glyph = "▸" if self.chosen is None else " "
        name = TextSpan(_fit("everything", max(6, width - 3)), "strong" if not self.chosen else "dim")
        rows = (session_rows(session, names[session.session_id], now, width, tall) for session in sessions)
        self.show_items([[(TextSpan(f" {glyph} "), name)], *rows])
        if self.cursor != before:
            self.refresh()
        self.border_subtitle = f"{len(sessions)}" if sessions else ""

    def on_resize(self, event: events.Resize) -> None:
        """Draw the rows again: they are as wide as the list, also when it was updated while hidden."""
        self.update(self._sessions, self._names, self._now)

    def render_line(self, y: int) -> Strip:
        """The row under the cursor has a mark before it, so that it does not show by colour alone."""
        strip, number = super().render_line(y), y + self.scroll_offset.y
        if not self.has_focus or number >= len(self.rows) or self.item_at(number) != self.cursor:
            return strip
        sign, rest = strip.divide([1, strip.cell_length])
        return Strip.join([Strip([Segment(CURSOR, segment.style) for segment in sign]), rest])

    def row_style(self, number: int) -> Style | None:
        place = self.item_at(number)
        if place == self.cursor and self.has_focus:
            return self.cursor_style
        chosen = self._sessions[place - 1].session_id if place else None
        return Style(bgcolor=self._quiet_colour()) if chosen == self.chosen and place else None

    def _quiet_colour(self) -> str:
        return "#1f2a33" if self.app.current_theme.dark else "#e3e8e6"

    def action_move(self, step: int) -> None:
        self.cursor = min(max(0, self.cursor + step), len(self._sessions))
        start = self.rows_of(self.cursor).start
        self.scroll_to(y=max(0, min(start, max(self.scroll_offset.y, start + 2 - self.size.height))), animate=False)
        self.refresh()

    def action_choose(self) -> None:
        session = self.highlighted
        self.chosen = session.session_id if session else None
        self.post_message(self.Chosen(self.chosen))

    def on_click(self, event: events.Click) -> None:
        if (place := self.clicked_item(event)) is not None:
            self.cursor = place
            self.action_choose()
