"""Colours: every text has enough contrast with its background, in every theme, also under the cursor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color

from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.styles import ROLES, Styles
from quarterdeck.surfaces.tui.feed.view import FeedView
from quarterdeck.surfaces.tui.widgets.themes import CURSORS, NAMES, PALETTES, THEMES
from tests.support.feed import FeedLog

MIN_CONTRAST = {"dark": 4.5, "light": 4.5, "contrast": 7.0}
"""The contrast a text needs: AA of the WCAG, and AAA in the contrast theme."""
DECORATION = 3.0
DRAWN = frozenset({"rule", "thumb", "mark"})
"""Roles that are never a text."""
CODE = ("", "comment", "keyword", "string", "number", "name", "decorator", "punct", "match")
"""Roles within a line of a diff."""


def luminance(colour: Color) -> float:
    """The relative luminance of a colour, by the WCAG."""
    parts = [part / 255 for part in (colour.r, colour.g, colour.b)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def style_contrast(style: Style, ground: Color) -> float:
    """The contrast of a style's text with its background."""
    assert style.color is not None
    behind = Color.from_rich_color(style.bgcolor) if style.bgcolor else ground
    return contrast(Color.from_rich_color(style.color), behind)


class Coloured(App[None]):
    """A feed in a theme."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        for one in THEMES:
            self.register_theme(one)
        self.theme = theme
        self.view = FeedView(FeedSource(FeedLog([]).get))

    def compose(self) -> ComposeResult:
        yield self.view


def drawn(styles: Styles) -> Iterator[tuple[str, str, float]]:
    """Every role on every background that it is drawn on, with its contrast there."""
    for where, ground in (("background", styles.ground), ("cursor", styles.cursor)):
        for role in (*(set(ROLES) - {"cursor"}), *(f"{sign} {role}".rstrip() for sign in ADDED for role in CODE)):
            yield role, where, style_contrast(styles.of(role, ground), Color(0, 0, 0))


ADDED = ("added", "removed")


@pytest.mark.parametrize("theme", NAMES)
async def test_every_role_of_the_feed_can_be_read(theme: str) -> None:
    app = Coloured(theme)
    async with app.run_test():
        drawn_roles = list(drawn(app.view._styles))
    faint = [
        f"{role} on the {where}: {value:.2f}"
        for role, where, value in drawn_roles
        if value < (DECORATION if role in DRAWN else MIN_CONTRAST[theme])
    ]
    assert faint == []


@pytest.mark.parametrize("theme", NAMES)
def test_every_style_of_a_palette_can_be_read(theme: str) -> None:
    base = next(one for one in THEMES if one.name == theme)
    grounds = {"background": base.background, "panel": base.panel, "cursor": CURSORS[theme]}
    faint = [
        f"{name} on the {where}: {value:.2f}"
        for name, css in PALETTES[theme].items()
        for where, ground in grounds.items()
        if (style := Style.parse(f"{base.foreground} {css}")).color
        and (value := style_contrast(style, Color.parse(str(ground)))) < MIN_CONTRAST[theme]
    ]
    assert faint == []


@pytest.mark.parametrize("theme", THEMES, ids=NAMES)
def test_frames_stand_out_from_the_background(theme: object) -> None:
    palette = next(one for one in THEMES if one is theme)
    frame, ground = Color.parse(palette.variables["border-blurred"]), Color.parse(str(palette.background))
    assert contrast(frame, ground) >= DECORATION


SAME = {"ask": "waiting", "running": "running", "ok": "good", "error": "blocked", "question": "asks", "dim": "dim"}
"""Roles of the feed and the names of the same colours in the palette."""


@pytest.mark.parametrize("theme", NAMES)
async def test_the_feed_and_the_desk_use_the_same_colours(theme: str) -> None:
    app = Coloured(theme)
    async with app.run_test():
        styles = app.view._styles
        colours = {role: styles.of(role, styles.ground).color for role in SAME}
    assert colours == {role: Style.parse(PALETTES[theme][name]).color for role, name in SAME.items()}


def test_black_on_white_has_the_highest_contrast() -> None:
    assert round(contrast(Color(0, 0, 0), Color(255, 255, 255)), 2) == 21
