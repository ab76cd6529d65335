"""Three themes: dark, light and high contrast. No meaning rests on colour alone: there is always a glyph or a word, and
the colours stay distinct for people who cannot tell red from green."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rich.style import Style
from textual.theme import Theme

NAMES = ("dark", "light", "contrast")
"""The themes, in the order of the columns of every table below."""

_STYLES = {
    "running": ("#2fbf93", "#006d50", "bold #00ffbf"),
    "waiting": ("bold #f0b13c", "bold #8a5800", "bold #ffd000"),
    "asks": ("bold #6cc4f5", "bold #005f94", "bold #7fdcff"),
    "idle": ("#97a3b0", "#5b6670", "#ffffff"),
    "done": ("#6fa8ff", "#1f4fb8", "bold #9cc4ff"),
    "stopped": ("#93a8c9", "#48618a", "#ffffff"),
    "blocked": ("bold #ff7a5c", "bold #b23c00", "bold reverse #ff9e80"),
    "dim": ("#97a3b0", "#5b6670", "#e0e0e0"),
    "strong": ("bold", "bold", "bold"),
    "code": ("bold #f4f1e6", "bold #14181d", "bold #ffffff"),
    "key": ("bold #f0b13c", "bold #005f94", "bold underline #ffd000"),
    "added": ("#6cc4f5", "#005f94", "bold #7fdcff"),
    "removed": ("#ff9a73", "#a83a00", "bold #ff9e80"),
    "warn": ("#f0b13c", "#8a5800", "bold #ffd000"),
    "good": ("#2fbf93", "#006d50", "bold #00ffbf"),
    "risk-medium": ("bold #f0b13c", "bold #8a5800", "bold #ffd000"),
    "risk-high": ("bold #ff7a5c", "bold #b23c00", "bold #ff9e80"),
    "risk-critical": ("bold #14181d on #ff7a5c", "bold #ffffff on #b23c00", "bold reverse #ff9e80"),
}
_ALIASES = {"sent": "dim", "unknown": "dim", "ended": "dim", "risk-low": "dim", "needs you": "waiting", "": ""}

_COLOURS = {
    "primary": ("#5aa9d6", "#005f94", "#ffffff"),
    "secondary": ("#3f5a70", "#b9c4cc", "#ffffff"),
    "accent": ("#f0b13c", "#8a5800", "#ffd000"),
    "foreground": ("#dfe3e6", "#1b2127", "#ffffff"),
    "background": ("#14181d", "#f7f5ef", "#000000"),
    "panel": ("#1d242b", "#e9e5da", "#000000"),
    "success": ("#2fbf93", "#006d50", "#00ffbf"),
    "warning": ("#f0b13c", "#8a5800", "#ffd000"),
    "error": ("#ff7a5c", "#b23c00", "#ff9e80"),
}
"""The colours that Textual derives others from."""

_VARIABLES = {
    "text-accent": ("#d9a0c6", "#8a3d70", "#ffb3e6"),
    "success-muted": ("#12303f", "#d3e6f2", "#00384d"),
    "error-muted": ("#3c231d", "#fbdfd0", "#4d1a00"),
    "foreground-disabled": ("#72808c", "#7b7666", "#a6a6a6"),
    "border-blurred": ("#5a6875", "#8f8978", "#8a8a8a"),
    "footer-key-foreground": ("#f0b13c", "#005f94", "#ffd000"),
    "block-cursor-blurred-background": ("#243240", "#dbe6ec", "#002b3c"),
}
_MORE = {"dark": {"block-cursor-text-style": "bold"}, "contrast": {"text-secondary": "#9cc4ff"}}

_HUES = {
    "text-primary": "asks",
    "text-secondary": "stopped",
    "text-success": "good",
    "text-warning": "warn",
    "text-error": "blocked",
    "foreground-muted": "dim",
}
"""Textual's names for colours of a palette, so that its own widgets use the same ones."""


def _column(table: Mapping[str, tuple[str, str, str]], theme: str) -> dict[str, str]:
    return {name: values[NAMES.index(theme)] for name, values in table.items()}


PALETTES: Mapping[str, Mapping[str, str]] = {theme: _column(_STYLES, theme) for theme in NAMES}

CURSORS = {theme: _column(_VARIABLES, theme)["block-cursor-blurred-background"] for theme in NAMES}
"""The background of the row with the cursor, near enough to the normal one that every colour is readable on both."""


def _theme(name: str) -> Theme:
    colours: dict[str, Any] = _column(_COLOURS, name)
    hues = {variable: PALETTES[name][role].split()[-1] for variable, role in _HUES.items()}
    variables = {**hues, **_column(_VARIABLES, name), **_MORE.get(name, {})}
    return Theme(name=name, dark=name != "light", surface=colours["background"], variables=variables, **colours)


THEMES = tuple(map(_theme, NAMES))


@lru_cache(maxsize=256)  # parsing a style is slow, and this runs for every span that is drawn
def style_of(theme: str, name: str) -> Style:
    """The style of a named part in a theme; an unknown name is plain."""
    palette = PALETTES.get(theme, PALETTES["dark"])
    definition = palette.get(name)
    if definition is None:
        definition = palette.get(_ALIASES.get(name, ""), "")
    return Style.parse(definition) if definition else Style.null()
