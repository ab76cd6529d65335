"""The feed on the bridge: named by what it follows, and silent keys where they would do nothing."""

from __future__ import annotations

from textual.content import Content

from quarterdeck.core.model.events import OWN
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.client.connection import Talk
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.session_names import Name
from quarterdeck.surfaces.tui.feed.rows.filter import LEVELS, Wanted
from quarterdeck.surfaces.tui.feed.rows.row_lines import LABEL
from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.view import FeedView
from quarterdeck.surfaces.tui.widgets.titled_pane import Titled

EVERYTHING = Wanted()


def wanted(filters: dict[str, str]) -> Wanted | str:
    """A filter as the feed takes it; several values are parted by commas. Or why it is none, in words."""
    level = filters.get("level", LEVELS[0])
    if level not in LEVELS:
        return f"levels are {', '.join(LEVELS)}"
    parts = {name: frozenset(filters[name].split(",")) for name in ("kind", "tool", "actor") if name in filters}
    none: frozenset[str] = frozenset()
    return Wanted(
        kinds=parts.get("kind", none), tools=parts.get("tool", none), actors=parts.get("actor", none), level=level
    )


class FeedPane(FeedView, Titled):
    """What happened, of one session or of all."""

    def __init__(self, talk: Talk, model: Model, *, id: str | None = None) -> None:
        source = FeedSource(lambda path, **query: talk.client().get(path, **query))
        super().__init__(source, label=self.project_of, cwd=self.cwd_of, id=id)
        self._model = model
        self._filter = ""
        self._known: dict[str, tuple[Name, str]] = {}

    def project_of(self, session_id: str) -> str:
        """What a session is called in the feed."""
        return OWN if session_id == OWN else self._model.name_of(session_id).within(LABEL)

    def cwd_of(self, session_id: str) -> str:
        """Where a session works."""
        session = self._model.sessions.get(session_id)
        return str(session["cwd"] or "") if session else ""

    def rename(self) -> None:
        """Draw anew where sessions are called otherwise, or work elsewhere."""
        known = {session_id: (name, self.cwd_of(session_id)) for session_id, name in self._model.names.items()}
        if self._known != known:
            self._known = known
            self._strips.clear()
            self.refresh()

    def on_mount(self) -> None:
        self.follow(None)
        self.entitle()

    def entitle(self) -> None:
        """Say in the frame what is followed, and what narrows it."""
        session = self._model.sessions.get(self.session_id or "")
        parts = [str(self._model.name_of(session["session_id"])), session["title"]] if session else ["everything"]
        self.entitled(" · ".join(["Feed", *(part for part in parts if part)]))
        parts = [self._filter, f"“{self.term}”" if self.term else "", self.telling]
        narrowed = " · ".join(part for part in parts if part)
        self.border_subtitle = Content(one_line(narrowed)) if narrowed else None

    def narrow(self, filters: dict[str, str]) -> str:
        """Show only what the filters name; why not, in words."""
        found = wanted(filters)
        if isinstance(found, str):
            return found
        self._filter = " ".join(f"{name}={value}" for name, value in filters.items())
        self.set_filter(found)
        self.entitle()
        return ""

    def find(self, text: str) -> None:
        """Search, or end the search."""
        self.search(text)
        self.entitle()

    def clear(self) -> None:
        """An empty view that goes on with what comes; nothing leaves the record."""
        self._reset()
        self._oldest_reached = self._cleared = True

    def watch_telling(self) -> None:
        if self.is_mounted:
            self.entitle()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Going to the next match needs a search; otherwise the key is free for others."""
        return bool(self.term) if action == "match" else True
