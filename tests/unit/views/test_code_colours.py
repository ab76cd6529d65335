"""The colours of code, per line and per diff."""

from __future__ import annotations

import pytest

from quarterdeck.views.code_colours import LINES, MAX_COLOURED, coloured, diff_colours, ending_of

HEAD = "--- a.py\n+++ a.py\n@@ -1 +1 @@\n"


def test_a_line_of_code_is_cut_into_pieces_with_roles() -> None:
    pieces = coloured('return "ok", 200  # fine', ".py")
    assert "".join(text for text, _ in pieces) == 'return "ok", 200  # fine'
    assert {("return", "keyword"), ("200", "number"), ("# fine", "comment")} <= set(pieces)


@pytest.mark.parametrize("line", ["x" * (MAX_COLOURED + 1), ""])
def test_a_line_that_is_not_coloured_is_one_piece(line: str) -> None:
    assert coloured(line, "" if not line else ".py") == [(line, "")]


def test_a_diff_has_colours_for_each_of_its_lines() -> None:
    colours = diff_colours("/src/a.py", HEAD + "-return 1\n+return 22\n\\ No newline at end of file\n")
    assert colours == [[], [(6, "keyword"), (1, ""), (1, "number")], [(6, "keyword"), (1, ""), (2, "number")], []]


def test_lengths_are_those_of_a_browser() -> None:
    (_, line) = diff_colours("a.py", HEAD + "+# 🚢\n")
    assert line == [(4, "comment")]


def test_an_unknown_language_has_no_colours() -> None:
    assert diff_colours("notes", HEAD + "+return 1\n") == []
    assert ending_of("/src/Makefile") == "/Makefile"


def test_only_the_first_lines_of_a_long_diff_have_colours() -> None:
    assert len(diff_colours("a.py", HEAD + "+return 1\n" * 5 * LINES)) == LINES
