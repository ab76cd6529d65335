"""The composer on Claude Code's screen, as both supported versions draw it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.agents.claude.composer import composer_text, shows_only

RULE = "\x1b[38;5;244m" + "─" * 40
PAST = "\x1b[48;5;237m❯ \x1b[38;5;231man earlier prompt\x1b[39m"


def screen(*rows: str) -> str:
    return "\n".join([PAST, "\x1b[49m● an answer", RULE, *rows, RULE, "\x1b[39m  ? for shortcuts", ""])


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (["\x1b[39m❯\xa0\x1b[7m \x1b[0m\x1b[39m\x1b[49m"], ""),
        (["\x1b[39m❯\xa0\x1b[7m", "\x1b[0m"], ""),
        (["\x1b[38;5;246m❯\xa0\x1b[7m\x1b[39m \x1b[0m"], ""),
        (["\x1b[39m❯\xa0half a line\x1b[7m \x1b[0m"], "half a line"),
        (["\x1b[39m❯\xa0\x1b[7mt\x1b[0m\x1b[39mwo words"], "two words"),
        (["\x1b[39m❯\xa0line one", "  line two\x1b[7m \x1b[0m"], "line one\nline two"),
        (['\x1b[39m❯\xa0\x1b[7mT\x1b[0m\x1b[2mry "fix the tests"\x1b[0m'], ""),
        (["\x1b[39m❯\xa0\x1b[7mT\x1b[0m"], "T"),
        (["\x1b[39m❯\xa0/mod\x1b[2mel\x1b[0m"], "/mod"),
        (["\x1b[38;5;211m!\xa0\x1b[39mtouch x\x1b[7m \x1b[0m"], "!touch x"),
        (["\x1b[38;5;211m!\xa0\x1b[39m\x1b[7m \x1b[0m"], "!"),
        (["\x1b[38;2;1;2;7m❯\xa0red\x1b[0m"], "red"),
    ],
)
def test_the_text_in_the_composer_is_read(rows: list[str], text: str) -> None:
    assert composer_text(screen(*rows)) == text


@pytest.mark.parametrize(
    "shown",
    [
        "",
        f"{PAST}\n● an answer\n",
        f"{RULE}\n Do you want to proceed?\n \x1b[38;5;153m❯\x1b[39m 1. Yes\n   2. No\n Esc to cancel",
        f"{RULE}\n❯ a blank and no composer\n{RULE}",
        f"{RULE}\n❯\xa0its end is not on the screen",
        f"no rule above\n❯\xa0text\n{RULE}",
    ],
)
def test_a_screen_without_a_composer_has_no_text(shown: str) -> None:
    assert composer_text(shown) is None


@given(st.text(max_size=300))
def test_any_screen_can_be_read(shown: str) -> None:
    composer_text(shown)
    composer_text(screen(f"❯\xa0{shown}"))


def test_a_text_is_recognised_letter_by_letter_or_folded_and_only_alone() -> None:
    assert shows_only("[Pasted text #2 +39 lines]", "many\nlines")
    assert shows_only("two\nlines", "two lines")
    assert not shows_only("two lines and more", "two lines")
    assert not shows_only("", "two lines")
