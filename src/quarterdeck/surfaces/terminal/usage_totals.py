"""Tool calls, tokens and cost: sums over sessions, and small charts over time; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.text.amounts import cut
from quarterdeck.surfaces.terminal.styled_text import StyledLine, line
from quarterdeck.surfaces.text.charts import bar, sparkline
from quarterdeck.surfaces.text.usage_table import UsageRow, UsageTable, amount_text, price_note
from quarterdeck.views.resources.session_view import SessionView, UsageView

Json = dict[str, Any]


class UsageTotal(Struct, frozen=True, kw_only=True):
    """Tool calls, failures, tokens and cost of some sessions. `cost` is None where no price is known at all."""

    tools: int = 0
    failures: int = 0
    tokens: int = 0
    cost: float | None = None

    def plus(self, other: UsageTotal) -> UsageTotal:
        """The totals of both together. An unknown cost does not hide the other's."""
        return UsageTotal(
            tools=self.tools + other.tools,
            failures=self.failures + other.failures,
            tokens=self.tokens + other.tokens,
            cost=_known_sum([self.cost, other.cost]),
        )


def total_usage(sessions: Iterable[SessionView]) -> UsageTotal:
    """The sum over these sessions."""
    summed = list(sessions)
    usages = [session.usage for session in summed if session.usage]
    return UsageTotal(
        tools=sum(session.counters.tool_uses for session in summed),
        failures=sum(session.counters.tool_failures for session in summed),
        tokens=sum(_tokens(usage) for usage in usages),
        cost=_known_sum(usage.cost_usd for usage in usages),
    )


def _tokens(usage: UsageView) -> int:
    return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def _known_sum(costs: Iterable[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


CHARTS = {"cost_usd": "cost", "tokens": "tokens", "prompts": "prompts", "tools": "tool calls", "sessions": "sessions"}
"""The charts over time: each metric with its name."""
LABEL_WIDTH, AMOUNT_WIDTH = 12, 10
NAME_WIDTH = 26
MOST_ROWS = 8
MOST_CELLS_OF_DAY = 6


def usage_lines(tables: Mapping[str, UsageTable], width: int) -> Iterator[StyledLine]:
    """Charts of each day, then bars by project and by model, for a screen of this width."""
    days = tables["day"]
    if not any(days.total.amounts.values()):
        yield line(("Nothing was used in this time.", "dim"))
        return
    for metric, name in CHARTS.items():
        yield _chart(metric, name, days, width)
    first, last = days.rows[0].label, days.rows[-1].label
    drawn = _chart_width(days, width)
    yield line((f"{first}{' ' * max(3, drawn - len(first) - len(last))}{last}", "dim"), indent=LABEL_WIDTH)
    for table in (one for by, one in tables.items() if by != "day" and one.rows):
        yield StyledLine()
        yield from _bars(table, width)
    if note := price_note(days):
        yield StyledLine()
        yield line((note, "dim"))


def _chart_width(days: UsageTable, width: int) -> int:
    """The cells of a chart: as many for each day as there is room for."""
    room = max(10, width - LABEL_WIDTH - AMOUNT_WIDTH - 2)
    count = max(1, len(days.rows))
    return min(room, count * max(1, min(MOST_CELLS_OF_DAY, room // count)))


def _chart(metric: str, name: str, days: UsageTable, width: int) -> StyledLine:
    values = [row.amounts.get(metric, 0.0) for row in days.rows]
    cells = max(1, _chart_width(days, width) // max(1, len(values)))
    drawn = "".join(column * cells for column in sparkline(values, _chart_width(days, width) // cells))
    amount = amount_text(metric, days.total)
    return line((f"{name:<{LABEL_WIDTH}}", "dim"), (drawn, "added"), (f"  {amount:>{AMOUNT_WIDTH}}", "strong"))


def _bars(table: UsageTable, width: int) -> Iterator[StyledLine]:
    """One bar for each of the first rows, by cost, or by tokens where no cost is known."""
    measure = "cost_usd" if table.total.amounts.get("cost_usd") else "tokens"
    most = max(row.amounts.get(measure, 0.0) for row in table.rows)
    name_width = min(NAME_WIDTH, max(LABEL_WIDTH, width // 4))
    room = max(6, width - name_width - 2 * AMOUNT_WIDTH - 4)
    units = f"{'cost':>{AMOUNT_WIDTH}}{'tokens':>{AMOUNT_WIDTH}}"
    yield line((f"{f'by {table.by}':<{name_width + room}}", "strong"), (units, "dim"))
    for row in table.rows[:MOST_ROWS]:
        yield _bar(row, bar(row.amounts.get(measure, 0.0), most, room), name_width, room)
    if len(table.rows) > MOST_ROWS:
        yield line((f"and {len(table.rows) - MOST_ROWS} more; all of them: qd usage --by {table.by}", "dim"))


def _bar(row: UsageRow, drawn: str, name_width: int, room: int) -> StyledLine:
    amounts = "".join(f"{amount_text(metric, row):>{AMOUNT_WIDTH}}" for metric in ("cost_usd", "tokens"))
    name = cut(row.label, name_width - 1)
    return line(f"{name:<{name_width}}", (f"{drawn:<{room}}", "added"), (amounts, "strong"))
