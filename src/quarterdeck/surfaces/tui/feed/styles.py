"""The styles of the feed's roles: component classes that a theme may restyle, each resolved once."""

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
    "speech": "color: $text-secondary;",
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
"""Every role with its style, as in a stylesheet."""

CSS = "FeedView { background: $background; scrollbar-size: 0 0; overflow-x: hidden; }\n" + "\n".join(
    f"FeedView > .feed--{role} {{ {css} }}" for role, css in ROLES.items()
)


class Styles:
    """The styles of one widget by role. A role of two words is the second on the background of the first."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._cache: dict[tuple[str, Style], Style] = {}  # asked for every piece of every line that is drawn
        self._ground: Style | None = None
        self.filters: Sequence[LineFilter] = ()
        self.background = Color(0, 0, 0)

    def forget(self) -> None:
        self._cache.clear()
        self._ground = None

    @property
    def ground(self) -> Style:
        """The background of the feed."""
        if self._ground is None:
            self._ground = self._widget.rich_style
            self.filters = self._widget.get_line_filters()
            self.background = self._widget.background_colors[1]
        return self._ground

    @property
    def cursor(self) -> Style:
        """The background of the row under the cursor."""
        return self.of("cursor", self.ground)

    def of(self, role: str, base: Style) -> Style:
        """The style of a role on a background."""
        style = self._cache.get((role, base))
        if style is None:
            style = base
            for name in role.split():
                style = self._on(style, name)
            self._cache[(role, base)] = style
        return style

    def _on(self, base: Style, role: str) -> Style:
        """A role on a background. Translucent colours are mixed here, because a terminal cannot."""
        styles = self._widget.get_component_styles(f"feed--{role}")
        ground = Color.from_rich_color(base.bgcolor) if base.bgcolor else Color(0, 0, 0)
        if styles.has_rule("background"):
            ground += styles.background
        made = base + styles.text_style + Style(bgcolor=ground.rich_color if base.bgcolor else None)
        if not styles.has_rule("color"):
            return made
        return made + Style(color=(ground + styles.color).rich_color)
