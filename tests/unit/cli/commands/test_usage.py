"""The lines of `qd usage`."""

from __future__ import annotations

from rich.console import Console

from quarterdeck.cli.commands.usage import usage_lines
from quarterdeck.surfaces.text.usage_table import UsageRow, UsageTable


def shown(*rows: UsageRow, total: dict[str, float]) -> list[str]:
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        for line in usage_lines(UsageTable("model", list(rows), UsageRow("total", "total", total))):
            console.print(line)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_bars_show_the_cost_and_the_total_has_none() -> None:
    opus, haiku = UsageRow("o", "opus", {"cost_usd": 4.0, "tokens": 1200}), UsageRow("h", "haiku", {"cost_usd": 1.0})
    lines = shown(opus, haiku, total={"cost_usd": 5.0, "tokens": 1200})
    assert [line.split() for line in lines] == [
        ["model", "cost", "tokens", "by", "cost"],
        ["opus", "$4.00", "1k", "█" * 24],
        ["haiku", "$1.00", "–", "█" * 6],
        ["total", "$5.00", "1k"],
    ]


def test_without_a_cost_bars_show_the_tokens_and_an_unknown_price_is_said() -> None:
    amounts = {"tokens": 10.0, "unpriced_messages": 2.0, "cost_usd": 0.0}
    lines = shown(UsageRow("n", "new", amounts), total=amounts)
    assert lines[1].split() == ["new", "–+", "10", "█" * 24]
    assert lines[-1] == "+ and 2 messages of models whose price is not known"


def test_no_use_is_said() -> None:
    assert shown(total={"tokens": 0.0}) == ["Nothing was used in this time."]
