"""Series of counts: the largest first, the rest as one, and queries that make no sense are named."""

from __future__ import annotations

import pytest

from quarterdeck.views.counts.metrics import METRICS, MetricName
from quarterdeck.views.counts.series import MOST_SERIES, OTHER, SeriesQuery, query_problem, series_of

YEAR = 365 * 86400.0


def query(**fields: object) -> SeriesQuery:
    return SeriesQuery(**{"metric": "tools", "since": 0.0, "until": 7 * 86400.0, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "field", "problem"),
    [
        ({"group": "model"}, "group", "must be one of tool, outcome, project, agent"),
        ({"metric": "hook_calls", "group": "tool"}, "group", "this metric has no groups"),
        ({"metric": "hook_calls", "project_id": "p_1"}, "project_id", "not counted by project"),
        ({"since": 9.0, "until": 9.0}, "since", "must be before until"),
        ({"since": 10.0, "until": 9.0}, "since", "must be before until"),
        ({"by": "hour", "until": YEAR}, "since", "8,760 points by the hour are too many (at most 1,000)"),
        ({"until": 3 * YEAR}, "since", "1,095 points by the day are too many"),
    ],
)
def test_a_query_that_makes_no_sense_is_named(fields: dict[str, object], field: str, problem: str) -> None:
    found = query_problem(query(**fields))
    assert found is not None
    assert found[0] == field
    assert problem in found[1]


@pytest.mark.parametrize("metric", METRICS)
def test_every_group_of_a_metric_fits(metric: MetricName) -> None:
    assert all(query_problem(query(metric=metric, group=group)) is None for group in METRICS[metric].groups)
    assert query_problem(query(metric=metric, until=YEAR)) is None


def test_the_largest_series_come_first_and_empty_buckets_are_zero() -> None:
    made = series_of("tools", [("Read", 0, 1), ("Edit", 2, 5), ("Read", 2, 2)], 3, {"Read": "Read a file"})
    assert [(one.name, one.label, one.total, one.values) for one in made] == [
        ("Edit", "Edit", 5, [0, 0, 5]),
        ("Read", "Read a file", 3, [1, 0, 2]),
    ]


def test_amounts_are_scaled_once_after_they_were_summed() -> None:
    (cost,) = series_of("cost_usd", [("m", 0, 100_000_001), ("m", 1, 200_000_000)], 2, {})
    assert (cost.total, cost.values) == (0.300000001, [0.100000001, 0.2])


def test_many_series_end_with_the_sum_of_the_rest() -> None:
    made = series_of("tools", [(f"t{n:02}", 0, 100 - n) for n in range(30)], 1, {})
    assert len(made) == MOST_SERIES
    assert (made[-1].name, made[-1].is_rest, made[-1].total) == (OTHER, True, sum(100 - n for n in range(19, 30)))
    assert sum(one.total for one in made) == sum(100 - n for n in range(30))


def test_no_amount_makes_no_series() -> None:
    assert series_of("tools", [], 7, {}) == []
