"""Sums over sessions, and the charts of a time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quarterdeck.surfaces.client.view_reader import read_views
from quarterdeck.surfaces.terminal.styled_text import fold
from quarterdeck.surfaces.terminal.usage_totals import MOST_ROWS, total_usage, usage_lines
from quarterdeck.surfaces.text.usage_table import UsageRow, UsageTable
from quarterdeck.views.resources.session_view import SessionView

TOKENS = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4}


def table(by: str, *amounts: float) -> UsageTable:
    """Rows with these costs and a hundred times as many tokens."""
    amounts_of = [{"cost_usd": cost, "tokens": cost * 100} for cost in amounts]
    rows = [UsageRow(f"{by} {n}", f"{by} {n}", one) for n, one in enumerate(amounts_of)]
    total = {"cost_usd": sum(amounts), "tokens": sum(amounts) * 100}
    return UsageTable(by, rows, UsageRow("total", "total", total))


def lines(*tables: UsageTable, width: int = 60) -> list[str]:
    shown = usage_lines({one.by: one for one in tables}, width)
    return ["".join(span.text for span in row).rstrip() for row in fold(shown, width)]


def test_sessions_without_a_known_price_do_not_hide_the_others() -> None:
    counters = {"tool_uses": 2, "tool_failures": 1}
    sessions: list[dict[str, Any]] = [
        {"counters": counters, "usage": {**TOKENS, "cost_usd": 0.5}},
        {"counters": counters, "usage": {**TOKENS, "cost_usd": None}},
        {"counters": counters, "usage": None},
    ]
    total = total_usage(read_views(SessionView, sessions))
    assert (total.tools, total.failures, total.tokens, total.cost) == (6, 3, 20, 0.5)
    assert total.plus(total_usage([])).cost == 0.5


def test_each_metric_has_a_chart_of_its_days_and_its_total() -> None:
    found = lines(table("day", 1.0, 4.0, 2.0), table("model", 5.0, 2.0))
    assert found[0].split() == ["cost", "▂" * 6 + "█" * 6 + "▄" * 6, "$7.00"]
    assert found[1].split()[-1] == "700"
    assert found[2].split() == ["prompts", "–"]
    assert found[5].split() == ["day", "0", "day", "2"]
    assert found[7].split() == ["by", "model", "cost", "tokens"]
    assert found[8].split() == ["model", "0", "█" * 21, "$5.00", "500"]


def test_rows_beyond_the_first_are_counted() -> None:
    found = lines(table("day", 1.0), table("project", *(float(n) for n in range(MOST_ROWS + 3))))
    assert found[-1] == "and 3 more; all of them: qd usage --by project"


def test_a_time_without_use_is_said() -> None:
    assert lines(table("day", 0.0, 0.0)) == ["Nothing was used in this time."]


@pytest.mark.parametrize("days", [1, 7, 30, 365])
@given(width=st.integers(40, 200))
def test_no_row_is_wider_than_the_screen(days: int, width: int) -> None:
    shown = usage_lines({"day": table("day", *[3.0] * days), "model": table("model", 1.0, 99.0)}, width)
    assert all(cell_len("".join(span.text for span in one.spans)) <= width for one in shown)
