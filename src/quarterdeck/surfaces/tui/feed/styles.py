"""How the roles of the feed look: component classes a theme may restyle, and their styles, looked up once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

if TYPE_CHECKING:
    from textual.widget import Widget

ROLES: dict[str, str] = {
    "text": "color: $foreground;",
    "preview": "color: $foreground 85%;",
    "prompt": "color: $text-primary; text-style: bold;",
    "said": "color: $text-secondary;",
    "tool": "color: $foreground; text-style: bold;",
    "path": "color: $text-secondary;",
    "result": "color: $foreground 85%;",
    "time": "color: $foreground-muted;",
    "session": "color: $text-secondary;",
    "dim": "color: $foreground-muted;",
    "label": "color: $foreground-muted; text-style: italic;",
    "rule": "color: $foreground-disabled;",
    "ok": "color: $text-success;",
    "running": "color: $text-success; text-style: bold;",
    "error": "color: $text-error;",
    "warn": "color: $text-warning;",
    "ask": "color: $text-warning; text-style: bold;",
    "question": "color: $text-primary; text-style: bold;",
    "stopped": "color: $text-secondary;",
    "agent": "color: $text-accent;",
    "badge": "color: $text-warning; text-style: bold;",
    "strong": "text-style: bold;",
    "link": "color: $text-secondary; text-style: underline;",
    "more": "color: $text-primary; text-style: italic;",
    "lineno": "color: $foreground-muted;",
    "added": "background: $success-muted;",
    "removed": "background: $error-muted;",
    "comment": "color: $foreground-muted; text-style: italic;",
    "keyword": "color: $text-primary;",
    "string": "color: $text-success;",
    "number": "color: $text-accent;",
    "name": "color: $text-secondary;",
    "decorator": "color: $text-warning;",
    "key": "color: $text-primary;",
    "punct": "color: $foreground-muted;",
    "match": "background: $warning; color: $background; text-style: bold;",
    "mark": "color: $text-primary; text-style: bold;",
    "cursor": "background: $block-cursor-blurred-background;",
    "thumb": "color: $primary 80%;",
    "new": "background: $primary; color: $background; text-style: bold;",
}
"""Every role with its look, in the words of a stylesheet."""

CSS = "FeedView { background: $background; scrollbar-size: 0 0; overflow-x: hidden; }\n" + "\n".join(
    f"FeedView > .feed--{role} {{ {look} }}" for role, look in ROLES.items()
)


class Styles:
    """The styles of one widget, by role; a role of two words is one on the ground of the other."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._known: dict[tuple[str, Style], Style] = {}
        self._ground: Style | None = None
        self.filters: Sequence[LineFilter] = ()
        self.background = Color(0, 0, 0)

    def forget(self) -> None:
        self._known.clear()
        self._ground = None

    @property
    def ground(self) -> Style:
        """What everything stands on."""
        if self._ground is None:
            self._ground = self._widget.rich_style
            self.filters = self._widget.get_line_filters()
            self.background = self._widget.background_colors[1]
        return self._ground

    @property
    def cursor(self) -> Style:
        """What the row under the cursor stands on."""
        return self.of("cursor", self.ground)

    def of(self, role: str, base: Style) -> Style:
        """How a role looks on a ground."""
        found = self._known.get((role, base))
        if found is None:
            found = base
            for name in role.split():
                found = self._on(found, name)
            self._known[(role, base)] = found
        return found

    def _on(self, base: Style, role: str) -> Style:
        """A role on a ground, with colours that let it shine through mixed here: a terminal knows no such thing."""
        styles = self._widget.get_component_styles(f"feed--{role}")
        ground = Color.from_rich_color(base.bgcolor) if base.bgcolor else Color(0, 0, 0)
        if styles.has_rule("background"):
            ground += styles.background
        made = base + styles.text_style + Style(bgcolor=ground.rich_color if base.bgcolor else None)
        if not styles.has_rule("color"):
            return made
        return made + Style(color=(ground + styles.color).rich_color)
