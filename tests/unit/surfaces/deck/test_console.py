"""The deck in a terminal of its own."""

from __future__ import annotations

import pytest

from quarterdeck.errors import Refused
from quarterdeck.surfaces.deck.console import DeckConsole, coloured
from quarterdeck.surfaces.terminal.styled_text import TextSpan


def test_a_style_is_a_colour_and_an_unknown_one_is_none() -> None:
    assert coloured((TextSpan("a", "good"), TextSpan("b", "x"), TextSpan("c"))) == "\x1b[32ma\x1b[0mbc"


async def test_without_a_terminal_it_says_what_to_use_instead(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Refused, match="qd deck show --json"):
        await DeckConsole(lambda: ("http://127.0.0.1:1", "t")).run()
