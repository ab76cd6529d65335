"""Colours: everything that is read stands out from what it stands on, in every theme, also under the cursor."""

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
from tests.support.feed import Log

LEAST = {"dark": 4.5, "light": 4.5, "contrast": 7.0}
"""What a text needs: AA of the WCAG, and AAA where contrast is what was asked for."""
DECORATION = 3.0
DRAWN = frozenset({"rule", "thumb", "mark"})
"""Roles that are never a text."""
CODE = ("", "comment", "keyword", "string", "number", "name", "decorator", "punct", "match")
"""Roles within a line of a diff."""


def light(colour: Color) -> float:
    """The relative luminance of a colour, by the WCAG."""
    parts = [part / 255 for part in (colour.r, colour.g, colour.b)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: Color, other: Color) -> float:
    """How much two colours differ, from 1 to 21."""
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def of_style(style: Style, ground: Color) -> float:
    """How a text of a style stands out."""
    assert style.color is not None
    behind = Color.from_rich_color(style.bgcolor) if style.bgcolor else ground
    return ratio(Color.from_rich_color(style.color), behind)


class Coloured(App[None]):
    """A feed in a theme."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        for one in THEMES:
            self.register_theme(one)
        self.theme = theme
        self.view = FeedView(FeedSource(Log([]).get))

    def compose(self) -> ComposeResult:
        yield self.view


def drawn(styles: Styles) -> Iterator[tuple[str, str, float]]:
    """Every role on every ground that it is drawn on, and how it stands out there."""
    for where, ground in (("background", styles.ground), ("cursor", styles.cursor)):
        for role in (*(set(ROLES) - {"cursor"}), *(f"{sign} {role}".rstrip() for sign in ADDED for role in CODE)):
            yield role, where, of_style(styles.of(role, ground), Color(0, 0, 0))


ADDED = ("added", "removed")


@pytest.mark.parametrize("theme", NAMES)
async def test_every_role_of_the_feed_can_be_read(theme: str) -> None:
    app = Coloured(theme)
    async with app.run_test():
        found = list(drawn(app.view._styles))
    faint = [
        f"{role} on the {where}: {value:.2f}"
        for role, where, value in found
        if value < (DECORATION if role in DRAWN else LEAST[theme])
    ]
    assert faint == []


@pytest.mark.parametrize("theme", NAMES)
def test_every_style_of_a_palette_can_be_read(theme: str) -> None:
    base = next(one for one in THEMES if one.name == theme)
    grounds = {"background": base.background, "panel": base.panel, "cursor": CURSORS[theme]}
    faint = [
        f"{name} on the {where}: {value:.2f}"
        for name, look in PALETTES[theme].items()
        for where, ground in grounds.items()
        if (style := Style.parse(f"{base.foreground} {look}")).color
        and (value := of_style(style, Color.parse(str(ground)))) < LEAST[theme]
    ]
    assert faint == []


@pytest.mark.parametrize("theme", THEMES, ids=NAMES)
def test_frames_can_be_told_from_the_ground(theme: object) -> None:
    made = next(one for one in THEMES if one is theme)
    frame, ground = Color.parse(made.variables["border-blurred"]), Color.parse(str(made.background))
    assert ratio(frame, ground) >= DECORATION


SAME = {"ask": "waiting", "running": "running", "ok": "good", "error": "blocked", "question": "asks", "dim": "dim"}
"""What the feed and the palette both have a colour for."""


@pytest.mark.parametrize("theme", NAMES)
async def test_the_feed_and_the_desk_have_one_colour_for_one_thing(theme: str) -> None:
    app = Coloured(theme)
    async with app.run_test():
        styles = app.view._styles
        ours = {role: styles.of(role, styles.ground).color for role in SAME}
    assert ours == {role: Style.parse(PALETTES[theme][name]).color for role, name in SAME.items()}


def test_black_on_white_is_as_far_as_it_goes() -> None:
    assert round(ratio(Color(0, 0, 0), Color(255, 255, 255)), 2) == 21
