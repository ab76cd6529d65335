"""Amounts stay short and never lie about a small one."""

from __future__ import annotations

import pytest

from quarterdeck.core.model.event_data.session_data import Usage
from quarterdeck.core.text.amounts import count, counted, cut, money, short_usage


@pytest.mark.parametrize(
    ("dollars", "text"), [(None, ""), (0.0, ""), (0.004, "<$0.01"), (0.005, "$0.01"), (12.345, "$12.35")]
)
def test_money_is_never_shown_as_zero(dollars: float | None, text: str) -> None:
    assert money(dollars) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (12_345, "12k"), (999_499, "999k"), (999_500, "1.0M"), (3_400_000, "3.4M")],
)
def test_a_count_takes_about_four_characters(number: int, text: str) -> None:
    assert count(number) == text


def test_a_text_is_cut_in_the_middle_and_keeps_both_ends() -> None:
    assert cut("abcdefghij", 10) == "abcdefghij"
    assert cut("abcdefghijk", 7) == "abc…ijk"
    assert len(cut("x" * 1000)) <= 100


def test_a_number_has_its_word_in_the_plural_unless_it_is_one() -> None:
    assert [counted(n, "tool") for n in (0, 1, 2)] == ["0 tools", "1 tool", "2 tools"]


def test_usage_is_tokens_and_the_cost_if_it_is_known() -> None:
    usage = Usage(input_tokens=1_000, output_tokens=500, cache_read_tokens=400, cache_write_tokens=100)
    assert short_usage(usage) == "2k tokens"
