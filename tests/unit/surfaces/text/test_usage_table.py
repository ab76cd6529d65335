"""The usage table: rows by day and by group, with sums and prices."""

from __future__ import annotations

from typing import Any

from quarterdeck.surfaces.text.usage_table import (
    METRICS,
    OF_MODELS,
    amount_text,
    price_note,
    usage_queries,
    usage_table,
)

NOON = 1_791_028_800.0
DAY = 86400.0


def answer(**series: list[float]) -> dict[str, Any]:
    made = [{"name": name, "label": f"/w/{name}", "total": sum(v), "values": v} for name, v in series.items()]
    return {"times": [NOON, NOON + DAY], "until": NOON + 2 * DAY, "series": made}


def test_the_queries_have_the_group_and_no_prompts_by_model() -> None:
    assert set(usage_queries("day", 0, 1)) == set(METRICS)
    assert set(usage_queries("model", 0, 1)) == set(OF_MODELS)
    assert usage_queries("project", 3.0, 4.0, "p_1")["tokens"] == {
        "metric": "tokens",
        "group": "project",
        "by": "day",
        "since": 3.0,
        "until": 4.0,
        "project_id": "p_1",
    }
    assert usage_queries("day", 0, 1)["tools"]["group"] is None


def test_days_are_rows_in_their_order_with_those_without_use() -> None:
    table = usage_table("day", {"tokens": answer(all=[0, 1500]), "cost_usd": answer()})
    assert [row.amounts for row in table.rows] == [{"tokens": 0}, {"tokens": 1500}]
    assert [len(row.name) for row in table.rows] == [10, 10]
    assert table.total.amounts == {"tokens": 1500, "cost_usd": 0}


def test_the_costliest_value_is_first_and_a_project_has_the_name_of_its_folder() -> None:
    answers = {"tokens": answer(shop=[9, 9], docs=[1, 0]), "cost_usd": answer(docs=[2.5, 0])}
    table = usage_table("project", answers)
    assert [(row.name, row.label) for row in table.rows] == [("docs", "docs"), ("shop", "shop")]
    assert table.rows[0].amounts == {"tokens": 1, "cost_usd": 2.5}


def test_amounts_are_short_and_an_unknown_price_is_marked() -> None:
    answers = {"cost_usd": answer(a=[1.0, 0.5]), "unpriced_messages": answer(a=[3]), "tokens": answer(a=[12_000])}
    table = usage_table("project", answers)
    assert amount_text("cost_usd", table.total) == "$1.50+"
    assert amount_text("tokens", table.total) == "12k"
    assert amount_text("tools", table.total) == "–"
    assert price_note(table) == "+ and 3 messages of models whose price is not known"
    assert price_note(usage_table("project", {"tokens": answer(a=[1])})) == ""
