"""Lines fold to the width of a terminal: nothing is lost, no row is wider, and every row is as full as it can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, chop_cells

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.styled_text import (
    BLOCK,
    StyledLine,
    TextSpan,
    fold,
    fold_line,
    fold_spans,
    line,
    plain,
    row_text,
)

anything = st.text(st.characters(codec="utf-8"))
narrow_wide_and_stacked = st.text("a界é\u0301\u0302 ")
mixed_text = (anything | narrow_wide_and_stacked).map(one_line)
styles = st.sampled_from(["", "dim", "error"])
spans = st.lists(st.builds(TextSpan, mixed_text, styles), max_size=6)


def pieces_by_character(line: list[TextSpan], width: int) -> list[list[tuple[str, str]]]:
    """The folding, said in the plainest way: one character after the other, each with its style."""
    rows: list[list[tuple[str, str]]] = [[]]
    used = 0
    for span in line:
        for character in span.text:
            if used + cell_len(character) > width:
                rows.append([])
                used = 0
            rows[-1].append((character, span.style))
            used += cell_len(character)
    return rows


@given(spans, st.integers(8, 60))
def test_an_exact_line_fills_every_row_and_keeps_the_style_of_each_character(line: list[TextSpan], width: int) -> None:
    rows = [[(each, span.style) for span in row for each in span.text] for row in fold_spans(line, width)]
    assert rows == pieces_by_character(line, width)


@given(mixed_text, st.integers(8, 60))
def test_an_exact_text_is_cut_where_rich_cuts_it(text: str, width: int) -> None:
    rows = [row_text(row) for row in fold_line(StyledLine((TextSpan(text),), exact=True), width)]
    assert rows == (chop_cells(text, width) if cell_len(text) > width else [text])


@given(spans, st.integers(8, 60))
def test_a_line_folded_between_words_loses_nothing_and_fits(parts: list[TextSpan], width: int) -> None:
    rows = [row_text(row) for row in fold_line(StyledLine(tuple(parts)), width)]
    assert "".join(rows) == row_text(parts)
    assert all(cell_len(row.rstrip(" ")) <= width for row in rows)


def test_words_stay_whole_and_further_rows_hang() -> None:
    assert plain(fold([line("stop: ", "the agent goes on", hang=6)], 16)) == "stop: the agent\n      goes on"


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_word_of_several_blocks_fills_its_rows(is_exact: bool) -> None:
    word = StyledLine((TextSpan("x" * (2 * BLOCK + 5)),), exact=is_exact)
    rows = [row_text(row) for row in fold_line(word, 60)]
    assert {len(row) for row in rows[:-1]} == {60}
    assert sum(map(len, rows)) == 2 * BLOCK + 5


def test_a_part_of_a_folded_link_can_still_be_clicked() -> None:
    rows = fold_line(line(TextSpan("open " * 5, "key", "app.open")), 12)
    assert {span.click for row in rows for span in row} == {"app.open"}
