"""What was used over time: the series that it is made of, and its rows by day, project, model or agent."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.text.amounts import count, counted, money
from quarterdeck.surfaces.text.labels import project_name

Json = dict[str, Any]
BY = ("day", "project", "model", "agent")
OF_MODELS = ("cost_usd", "tokens", "unpriced_messages")
METRICS = (*OF_MODELS, "prompts", "tools", "sessions")
"""The metrics of a row. A prompt or a tool call belongs to no model."""


class UsageRow(Struct, frozen=True):
    """One day or one value of a group, with its amount of each metric."""

    name: str
    label: str
    amounts: Mapping[str, float]


class UsageTable(Struct, frozen=True):
    """Rows with their sum. Days are in their order, else the row with the highest cost is first."""

    by: str
    rows: list[UsageRow]
    total: UsageRow


def usage_queries(by: str, since: float, until: float, project_id: str | None = None) -> dict[str, Json]:
    """The queries of `GET /stats/series` that a table is made of, by their metric."""
    period = {"by": "day", "since": since, "until": until, "project_id": project_id}
    group = None if by == "day" else by
    metrics = OF_MODELS if by == "model" else METRICS
    return {metric: {"metric": metric, "group": group, **period} for metric in metrics}


def usage_table(by: str, answers: Mapping[str, Json]) -> UsageTable:
    """The table made from the answers to these queries."""
    totals = {metric: sum(one["total"] for one in answer["series"]) for metric, answer in answers.items()}
    rows = _days(answers) if by == "day" else _values(by, answers)
    return UsageTable(by, rows, UsageRow("total", "total", totals))


def _days(answers: Mapping[str, Json]) -> list[UsageRow]:
    times = next(iter(answers.values()))["times"]
    values = {metric: answer["series"][0]["values"] for metric, answer in answers.items() if answer["series"]}
    return [
        UsageRow(
            time.strftime("%Y-%m-%d", time.localtime(at)),
            time.strftime("%a %d %b", time.localtime(at)),
            {metric: amounts[n] for metric, amounts in values.items() if n < len(amounts)},
        )
        for n, at in enumerate(times)
    ]


def _values(by: str, answers: Mapping[str, Json]) -> list[UsageRow]:
    labels: dict[str, str] = {}
    amounts: dict[str, dict[str, float]] = {}
    for metric, answer in answers.items():
        for one in answer["series"]:
            is_folder = by == "project" and one["label"].startswith("/")
            labels[one["name"]] = project_name(one["label"]) if is_folder else one["label"]
            amounts.setdefault(one["name"], {})[metric] = one["total"]
    rows = [UsageRow(name, labels[name], amounts[name]) for name in labels]
    return sorted(rows, key=lambda row: (-row.amounts.get("cost_usd", 0), -row.amounts.get("tokens", 0), row.label))


def amount_text(metric: str, row: UsageRow) -> str:
    """An amount in a few characters. A `+` says that the cost of some messages is not known."""
    amount = row.amounts.get(metric, 0)
    if metric == "cost_usd":
        return (money(amount) or "–") + ("+" if row.amounts.get("unpriced_messages") else "")
    whole = round(amount)
    return (count(whole) if metric == "tokens" else f"{whole:,}") if whole else "–"


def price_note(table: UsageTable) -> str:
    """What the `+` beside a cost means; empty when every price is known."""
    messages = round(table.total.amounts.get("unpriced_messages", 0))
    return f"+ and {counted(messages, 'message')} of models whose price is not known" if messages else ""


def usage_words(tables: Mapping[str, UsageTable], days: int) -> Iterator[str]:
    """The totals of a time as sentences, then a line for each value of the other tables."""
    total = tables["day"].total
    if not any(total.amounts.values()):
        yield f"Nothing was used in the last {counted(days, 'day')}."
        return
    yield f"In the last {counted(days, 'day')}: {_amounts(total)}"
    for by, table in tables.items():
        if by != "day":
            yield from (f"{by} {row.label}: {_amounts(row)}" for row in table.rows)
    if note := price_note(tables["day"]):
        yield note


def _amounts(row: UsageRow) -> str:
    cost = amount_text("cost_usd", row)
    units = {"tokens": "token", "prompts": "prompt", "tools": "tool call", "sessions": "new session"}
    parts = [counted(round(row.amounts[name]), unit) for name, unit in units.items() if row.amounts.get(name)]
    return ", ".join([*([] if cost == "–" else [cost]), *parts])
