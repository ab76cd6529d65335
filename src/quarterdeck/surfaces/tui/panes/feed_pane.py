"""The feed on the main screen: its title names the session and the filter; keys that would do nothing stay free."""

from __future__ import annotations

from typing import Any

from textual.content import Content

from quarterdeck.core.model.events import OWN
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.client.connection import DaemonConnection
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.session_names import SessionName
from quarterdeck.surfaces.tui.feed.rows.filter import LEVELS, FeedFilter
from quarterdeck.surfaces.tui.feed.rows.row_lines import LABEL
from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.view import FeedView
from quarterdeck.surfaces.tui.widgets.titled_pane import TitledPane


def parse_filter(filters: dict[str, str]) -> FeedFilter | str:
    """The filter that these words describe (several values are separated by commas), or the error as a text."""
    level = filters.get("level", "")
    if level and level not in LEVELS:
        return f"levels are {', '.join(LEVELS)}"
    values = {name: frozenset(value.split(",")) for name, value in filters.items()}
    parts: dict[str, Any] = {f"{name}s": values[name] for name in ("kind", "tool", "actor") if name in values}
    return FeedFilter(level=level, **parts)


class FeedPane(FeedView, TitledPane):
    """The events of one session, or of all."""

    def __init__(self, connection: DaemonConnection, model: Model, *, id: str | None = None) -> None:
        source = FeedSource(lambda path, **query: connection.client().get(path, **query))
        super().__init__(source, label=self.label_of, cwd=self.cwd_of, id=id)
        self._model = model
        self._filter = ""
        self._drawn_names: dict[str, tuple[SessionName, str]] = {}

    def label_of(self, session_id: str) -> str:
        """The name of a session in the feed."""
        return OWN if session_id == OWN else self._model.name_of(session_id).within(LABEL)

    def cwd_of(self, session_id: str) -> str:
        """The folder a session works in."""
        session = self._model.sessions.get(session_id)
        return str(session.cwd or "") if session else ""

    def update_names(self) -> None:
        """Draw the rows again when a session's name or folder has changed."""
        names = {session_id: (name, self.cwd_of(session_id)) for session_id, name in self._model.names.items()}
        if self._drawn_names != names:
            self._drawn_names = names
            self._strips.clear()
            self.refresh()

    def on_mount(self) -> None:
        self.follow(None)
        self.update_title()

    def update_title(self) -> None:
        """Name the followed session, the filter and the search in the frame."""
        session = self._model.sessions.get(self.session_id or "")
        parts = [str(self._model.name_of(session.session_id)), session.title] if session else ["everything"]
        parts += [f"only {self._filter}" if self._filter else "", "as stored" if self.stored else ""]
        self.set_title(" · ".join(["Feed", *(part for part in parts if part)]))
        self.border_subtitle = Content(one_line(self._foot_text())) if self._foot_text() else None

    def _foot_text(self) -> str:
        """The search and its place, or how to come back from what narrows the feed."""
        found = f"“{self.term}” {self.match_place}".rstrip() if self.term else ""
        keys = "n above · N below · esc ends it" if self.term else "esc shows all" if self._filter else ""
        back = "v folds the events again" if self.stored else ""
        return " · ".join(part for part in (found, self.progress or keys, back) if part)

    @property
    def narrowed(self) -> bool:
        """True while a search, a filter or the stored form is on."""
        return bool(self.term or self._filter or self.stored)

    def widen(self) -> None:
        """Undo one narrowing: the search, else the filter, else the view of stored events."""
        if self.term:
            self.find("")
        elif self._filter:
            self.apply_filter({})
        else:
            self.action_stored()

    def apply_filter(self, filters: dict[str, str]) -> str:
        """Show only the events that fit the filters; the error as a text, or an empty one."""
        feed_filter = parse_filter(filters)
        if isinstance(feed_filter, str):
            return feed_filter
        self._filter = " ".join(f"{name}={value}" for name, value in filters.items())
        self.set_filter(feed_filter)
        self.update_title()
        return ""

    def find(self, text: str) -> None:
        """Search, or end the search."""
        self.search(text)
        self.update_title()

    def clear(self) -> None:
        """Empty the view; it goes on with new events, and the log keeps the old ones."""
        self._reset()
        self._oldest_reached = self._cleared = True

    def watch_progress(self) -> None:
        if self.is_mounted:
            self.update_title()

    watch_match_place = watch_stored = watch_progress

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the next match only during a search; otherwise the key is free for other actions."""
        return bool(self.term) if action == "match" else True
