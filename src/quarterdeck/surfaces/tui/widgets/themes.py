"""Three themes: dark, light and high contrast. Every colour stands beside a glyph or a word, and the set is told apart
by people who do not see red from green."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.style import Style
from textual.theme import Theme

NAMES = ("dark", "light", "contrast")

_DARK = {
    "running": "#2fbf93",
    "waiting": "bold #f0b13c",
    "asks": "bold #6cc4f5",
    "idle": "#97a3b0",
    "done": "#6fa8ff",
    "stopped": "#93a8c9",
    "blocked": "bold #ff7a5c",
    "dim": "#97a3b0",
    "strong": "bold",
    "code": "bold #f4f1e6",
    "key": "bold #f0b13c",
    "added": "#6cc4f5",
    "removed": "#ff9a73",
    "warn": "#f0b13c",
    "good": "#2fbf93",
    "risk-medium": "bold #f0b13c",
    "risk-high": "bold #ff7a5c",
    "risk-critical": "bold #14181d on #ff7a5c",
}
_LIGHT = {
    "running": "#006d50",
    "waiting": "bold #8a5800",
    "asks": "bold #005f94",
    "idle": "#5b6670",
    "done": "#1f4fb8",
    "stopped": "#48618a",
    "blocked": "bold #b23c00",
    "dim": "#5b6670",
    "strong": "bold",
    "code": "bold #14181d",
    "key": "bold #005f94",
    "added": "#005f94",
    "removed": "#a83a00",
    "warn": "#8a5800",
    "good": "#006d50",
    "risk-medium": "bold #8a5800",
    "risk-high": "bold #b23c00",
    "risk-critical": "bold #ffffff on #b23c00",
}
_CONTRAST = {
    "running": "bold #00ffbf",
    "waiting": "bold #ffd000",
    "asks": "bold #7fdcff",
    "idle": "#ffffff",
    "done": "bold #9cc4ff",
    "stopped": "#ffffff",
    "blocked": "bold reverse #ff9e80",
    "dim": "#e0e0e0",
    "strong": "bold",
    "code": "bold #ffffff",
    "key": "bold underline #ffd000",
    "added": "bold #7fdcff",
    "removed": "bold #ff9e80",
    "warn": "bold #ffd000",
    "good": "bold #00ffbf",
    "risk-medium": "bold #ffd000",
    "risk-high": "bold #ff9e80",
    "risk-critical": "bold reverse #ff9e80",
}
_SAME = {"sent": "dim", "unknown": "dim", "ended": "dim", "risk-low": "dim", "needs you": "waiting", "": ""}
PALETTES: Mapping[str, Mapping[str, str]] = {"dark": _DARK, "light": _LIGHT, "contrast": _CONTRAST}

CURSORS: Mapping[str, str] = {"dark": "#243240", "light": "#dbe6ec", "contrast": "#002b3c"}
"""What lies behind the row that has the cursor. Near enough to the background that every colour is read on both."""

_HUES = {
    "text-primary": "asks",
    "text-secondary": "stopped",
    "text-success": "good",
    "text-warning": "warn",
    "text-error": "blocked",
    "foreground-muted": "dim",
}
"""What Textual calls the colours of a palette: what it styles has the same ones."""


def _variables(theme: str, more: Mapping[str, str]) -> dict[str, str]:
    hues = {name: PALETTES[theme][part].split()[-1] for name, part in _HUES.items()}
    return {**hues, "block-cursor-blurred-background": CURSORS[theme], **more}


THEMES = (
    Theme(
        name="dark",
        primary="#5aa9d6",
        secondary="#3f5a70",
        accent="#f0b13c",
        foreground="#dfe3e6",
        background="#14181d",
        surface="#14181d",
        panel="#1d242b",
        success="#2fbf93",
        warning="#f0b13c",
        error="#ff7a5c",
        variables=_variables(
            "dark",
            {
                "text-accent": "#d9a0c6",
                "success-muted": "#12303f",
                "error-muted": "#3c231d",
                "foreground-disabled": "#72808c",
                "border-blurred": "#5a6875",
                "footer-key-foreground": "#f0b13c",
                "block-cursor-text-style": "bold",
            },
        ),
    ),
    Theme(
        name="light",
        primary="#005f94",
        secondary="#b9c4cc",
        accent="#8a5800",
        foreground="#1b2127",
        background="#f7f5ef",
        surface="#f7f5ef",
        panel="#e9e5da",
        success="#006d50",
        warning="#8a5800",
        error="#b23c00",
        dark=False,
        variables=_variables(
            "light",
            {
                "text-accent": "#8a3d70",
                "success-muted": "#d3e6f2",
                "error-muted": "#fbdfd0",
                "foreground-disabled": "#7b7666",
                "border-blurred": "#8f8978",
                "footer-key-foreground": "#005f94",
            },
        ),
    ),
    Theme(
        name="contrast",
        primary="#ffffff",
        secondary="#ffffff",
        accent="#ffd000",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        success="#00ffbf",
        warning="#ffd000",
        error="#ff9e80",
        variables=_variables(
            "contrast",
            {
                "text-secondary": "#9cc4ff",
                "text-accent": "#ffb3e6",
                "success-muted": "#00384d",
                "error-muted": "#4d1a00",
                "foreground-disabled": "#a6a6a6",
                "border-blurred": "#8a8a8a",
                "footer-key-foreground": "#ffd000",
            },
        ),
    ),
)


@lru_cache(maxsize=256)
def style_of(theme: str, name: str) -> Style:
    """The style of a named part in a theme; an unknown name is plain."""
    palette = PALETTES.get(theme, _DARK)
    found = palette.get(name)
    if found is None:
        found = palette.get(_SAME.get(name, ""), "")
    return Style.parse(found) if found else Style.null()
