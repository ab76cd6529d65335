"""Lines for a terminal: never wider than the limit, never with hidden characters."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan, row_text
from quarterdeck.surfaces.tui.feed.render.cut_text import (
    MATCH,
    brief,
    cut_middle,
    fitted,
    highlighted,
    middle,
    plain,
    size_words,
    spread,
    text_lines,
    visible_line,
    width_of,
    wrapped,
)
from tests.support.hostile import HOSTILE, HUGE

readable = st.text(st.characters(codec="utf-8")).map(plain)
lines = st.lists(st.builds(TextSpan, readable, st.sampled_from(["", "dim", "error"])), max_size=6)


def pairs(row: Row) -> list[tuple[str, str]]:
    return [(span.text, span.style) for span in row]


@given(lines, st.integers(2, 80))
def test_a_line_fits_its_width(line: list[TextSpan], width: int) -> None:
    assert width_of(fitted(line, width)) <= width


@given(readable, st.integers(1, 60))
def test_a_text_cut_in_the_middle_fits_and_keeps_both_ends(text: str, width: int) -> None:
    made = cut_middle(text, width)
    assert cell_len(made) <= width
    begin, _, end = made.partition("…") if made != text else (text, "", text)
    assert text.startswith(begin)
    assert text.endswith(end.rpartition("…")[2] if made != text else end)


def test_a_path_keeps_its_file_and_a_long_text_says_its_size() -> None:
    assert cut_middle("/home/you/api/src/auth/login.py", 17) == "/home/yo…login.py"
    assert middle("a" * 300 + "b" * 12_000, 9) == "aaaa…bbbb · 12 kB"


@given(lines, lines, st.integers(20, 80))
def test_the_right_end_of_a_line_is_never_pushed_out(left: list[TextSpan], right: list[TextSpan], width: int) -> None:
    assert width_of(spread(left, right, width)) <= max(width, width_of(fitted(left, width)))


@given(readable, st.integers(8, 60), st.integers(1, 10))
def test_wrapped_lines_keep_the_limit_and_the_width(text: str, width: int, limit: int) -> None:
    parts = wrapped(text, width, limit)
    assert len(parts) <= limit
    assert all(cell_len(part) <= width for part in parts)


def test_words_are_kept_whole_where_possible() -> None:
    assert wrapped("add rate limiting to the login route", 15, 9) == ["add rate", "limiting to the", "login route"]
    assert wrapped("a" * 20, 8, 9) == ["a" * 8, "a" * 8, "a" * 4]
    assert wrapped("one\n\ntwo", 20, 9) == ["one", "", "two"]


@given(lines, st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=3))
def test_a_highlight_changes_roles_and_no_text(line: list[TextSpan], term: str) -> None:
    marked = highlighted(line, term)
    assert row_text(marked) == row_text(line)
    assert all(span.text.lower() in term.lower() for span in marked if span.style == MATCH)


def test_a_match_across_two_pieces_is_found() -> None:
    marked = highlighted([TextSpan("src/au", "path"), TextSpan("th.py", "dim")], "AUTH")
    assert pairs(marked) == [("src/", "path"), ("au", MATCH), ("th", MATCH), (".py", "dim")]


@pytest.mark.law("I6")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_spelled_out_line_by_line(name: str) -> None:
    for line in text_lines(HOSTILE[name]):
        assert not re.search(f"{UNSEEN.pattern}|[\n\t]", row_text(visible_line(line, 1000)))
    assert not UNSEEN.search(brief(HOSTILE[name], 50))
    assert not UNSEEN.search(middle(HOSTILE[name], 20))


def test_a_line_of_ten_megabytes_is_cut_with_its_size() -> None:
    (line,) = text_lines(HUGE)
    assert pairs(visible_line(line, 5)) == [("xxxxx", ""), ("… 10.0 MB more in this line", "more")]
    assert pairs(visible_line([TextSpan("ab", "x"), TextSpan("cd", "y"), TextSpan("ef", "z")], 3)) == [
        ("ab", "x"),
        ("c", "y"),
        ("… 3 B more in this line", "more"),
    ]


def test_sizes_are_short() -> None:
    assert [size_words(n) for n in (812, 14_300, 9_800_000)] == ["812 B", "14 kB", "9.8 MB"]
