"""Who works and who waits: a row or two for each session, and the one whose feed is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import cut, money
from quarterdeck.surfaces.terminal.session_names import Name
from quarterdeck.surfaces.terminal.styled_text import Row, Span
from quarterdeck.surfaces.text.labels import lasting, state_word
from quarterdeck.surfaces.tui.widgets.text_view import Wall, cursor_colour
from quarterdeck.surfaces.tui.widgets.titled_pane import Titled

Json = dict[str, Any]
CURSOR = "▌"
WORD = 10
AGE = 5
NAME = 10
"""Cells that a name keeps when something stands beside it."""
TITLE = 6
"""Cells below which a title says nothing."""


def session_rows(session: Json, name: Name, now: float, width: int, tall: bool) -> Iterator[Row]:
    """A session: its state in glyph and word, its name, how long; then its title, run, cost. Where there is no second
    row, as much of those as fits stands beside the name: how many requests wait, the cost, the title."""
    state = state_word(session["agent_state"])
    style = _style(session["agent_state"])
    mark = "~" if session["state_source"] == "process" else ""
    word = _fit(state.word + mark, WORD)
    age = f"{lasting(max(0.0, now - since(session))):>{AGE}}"
    named = _named(session, name, max(6, width - WORD - AGE - 5), tall)
    yield Span(f" {state.glyph} ", style), *named, Span(f" {word}", style), Span(f"{age} ", "dim")
    if tall:
        yield (Span(set_cell_size(f"   {_detail(session, width - 4)}", width), "dim"),)


def since(session: Json) -> float:
    """When what a session does now began: its run while it runs, else its state."""
    began = session.get("run_started_at") if session["agent_state"] == "running" else None
    return float(began or session["state_at"] or session["last_event_at"])


def _named(session: Json, name: Name, room: int, tall: bool) -> Iterator[Span]:
    """The name in so much room, with what stands beside it where there is no second row."""
    strong = "strong" if session["pending"] else ""
    aside = "" if tall else _aside(session, room - min(cell_len(str(name)), NAME))
    shown = one_line(name.within(room - cell_len(aside)))
    left = room - cell_len(aside) - cell_len(shown)
    title = "" if tall or left < TITLE else _fit(f" {session['title']}", left)
    yield Span(_fit(shown, room - cell_len(aside) - cell_len(title)), strong)
    yield from (Span(part, "dim") for part in (title,) if part)
    yield from (Span(part, strong or "dim") for part in (aside,) if part)


def _aside(session: Json, room: int) -> str:
    """How many requests wait, where it is more than one, and the cost; the first that fit."""
    cost = money((session["usage"] or {}).get("cost_usd"))
    parts = [f" ×{session['pending']}" if session["pending"] > 1 else "", f" {cost}" if cost else ""]
    shown = ""
    for part in parts:
        shown += part if cell_len(shown + part) <= room else ""
    return shown


def _detail(session: Json, width: int) -> str:
    """The title as far as there is room, the run, the cost."""
    waits = session["pending"]
    usage = session["usage"] or {}
    parts = [
        session["mode"] if session.get("owned") else "",
        f"run {session['runs']}" if session["runs"] else "",
        f"{waits} waiting" if waits > 1 else "",
        money(usage.get("cost_usd")),
    ]
    title = one_line(cut(session["title"], 200))
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


class Sessions(Wall, Titled):
    """The list. The first row stands for all of them."""

    class Chosen(Message):
        """Another session's feed is wanted; None is everybody's."""

        def __init__(self, session_id: str | None) -> None:
            super().__init__()
            self.session_id = session_id

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("home", "move(-100000)", "first", show=False),
        Binding("end", "move(100000)", "last", show=False),
        Binding("enter,right", "choose", "show", key_display="⏎", tooltip="show its feed, and its request"),
        Binding("h", "screen.toggle_ended", "ended", tooltip="show or hide sessions that have ended"),
        Binding("y", "screen.copy", "copy", tooltip="copy the command that resumes it"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entitled("Sessions")
        self.cursor = 0
        self.chosen: str | None = None
        self._sessions: list[Json] = []
        self._names: Mapping[str, Name] = {}
        self._now = 0.0
        self._starts: list[int] = [0]

    @property
    def pointed(self) -> Json | None:
        """The session under the cursor; None on the first row."""
        return self._sessions[self.cursor - 1] if 0 < self.cursor <= len(self._sessions) else None

    def point_at(self, session_id: str) -> None:
        """The cursor on this session, if it is in the list."""
        for place, session in enumerate(self._sessions, 1):
            if session["session_id"] == session_id:
                self.cursor = place
                self.action_move(0)

    def tell(self, sessions: list[Json], names: Mapping[str, Name], now: float) -> None:
        """Other sessions, or the same ones a moment later; the cursor stays on its session."""
        held, before = self.pointed["session_id"] if self.pointed else None, self.cursor
        self._sessions, self._names, self._now = sessions, names, now
        places = {session["session_id"]: place for place, session in enumerate(sessions, 1)}
        self.cursor = places.get(held or "", min(self.cursor, len(sessions)) if held else 0)
        width = self.content_size.width
        tall = len(sessions) * 2 + 1 <= max(self.content_size.height, 8)
        glyph = "▸" if self.chosen is None else " "
        rows: list[Row] = [
            (Span(f" {glyph} "), Span(_fit("everything", max(6, width - 3)), "strong" if not self.chosen else "dim"))
        ]
        self._starts = [0]
        for session in sessions:
            self._starts.append(len(rows))
            rows += session_rows(session, names[session["session_id"]], now, width, tall)
        self.show_rows(rows)
        if self.cursor != before:
            self.refresh()
        self.border_subtitle = f"{len(sessions)}" if sessions else ""

    def on_resize(self, event: events.Resize) -> None:
        """Rows are as wide as the list: one that was told while it was hidden is made anew."""
        self.tell(self._sessions, self._names, self._now)

    def render_line(self, y: int) -> Strip:
        """The row under the cursor has a sign before it, beside its colour."""
        strip, number = super().render_line(y), y + self.scroll_offset.y
        if not self.has_focus or number >= len(self.rows) or self._place(number) != self.cursor:
            return strip
        sign, rest = strip.divide([1, strip.cell_length])
        return Strip.join([Strip([Segment(CURSOR, segment.style) for segment in sign]), rest])

    def row_style(self, number: int) -> Style | None:
        place = self._place(number)
        if place == self.cursor and self.has_focus:
            return Style(bgcolor=cursor_colour(self))
        chosen = self._sessions[place - 1]["session_id"] if place else None
        return Style(bgcolor=self._quiet_colour()) if chosen == self.chosen and place else None

    def _quiet_colour(self) -> str:
        return "#1f2a33" if self.app.current_theme.dark else "#e3e8e6"

    def _place(self, number: int) -> int:
        return max((place for place, start in enumerate(self._starts) if start <= number), default=0)

    def action_move(self, step: int) -> None:
        self.cursor = min(max(0, self.cursor + step), len(self._sessions))
        start = self._starts[self.cursor]
        self.scroll_to(y=max(0, min(start, max(self.scroll_offset.y, start + 2 - self.size.height))), animate=False)
        self.refresh()

    def action_choose(self) -> None:
        pointed = self.pointed
        self.chosen = pointed["session_id"] if pointed else None
        self.post_message(self.Chosen(self.chosen))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            self.cursor = self._place(min(offset.y + self.scroll_offset.y, max(0, len(self.rows) - 1)))
            self.action_choose()
