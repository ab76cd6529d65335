"""`GET /stats/series`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.routes.counts import get_series
from quarterdeck.errors import Refused
from quarterdeck.views.counts.series import SeriesAnswer, SeriesQuery, series_of

DAY = 86400.0


class OneMachine:
    runner_id = "otter-1"


class Counts:
    """Counts with one call of a tool on the second of two days."""

    def __init__(self) -> None:
        self.queries: list[SeriesQuery] = []

    async def series(self, query: SeriesQuery) -> SeriesAnswer:
        self.queries.append(query)
        made = series_of(query.metric, [("Bash", 1, 1)], 2, {})
        return SeriesAnswer(times=[0.0, DAY], until=2 * DAY, series=made, counted_upto=9, first=3)


class NoCounts:
    async def series(self, query: SeriesQuery) -> SeriesAnswer:
        raise Refused("counts.db: the counts cannot be read")


def call(counts: object, **fields: Any) -> Any:
    given = {"by": "day", "group": None, "since": None, "until": None, "project_id": None, **fields}
    return asyncio.run(get_series.call(OneMachine(), {"counts": counts}, {"metric": "tools", **given}))


def test_a_series_names_its_metric_and_its_times() -> None:
    found = call(Counts(), group="tool")
    assert (found.runner_id, found.metric, found.title, found.unit) == ("otter-1", "tools", "Tool calls", "count")
    assert (found.times, found.until, found.seq_no, found.first_seq_no) == ([0.0, DAY], 2 * DAY, 9, 3)
    assert [(one.name, one.values) for one in found.series] == [("Bash", [0.0, 1.0])]


@pytest.mark.parametrize(("by", "days"), [("day", 30), ("hour", 1)])
def test_without_a_beginning_it_goes_back_from_the_end(by: str, days: int) -> None:
    counts = Counts()
    call(counts, by=by, until=100 * DAY)
    assert (counts.queries[0].since, counts.queries[0].until) == ((100 - days) * DAY, 100 * DAY)


def test_a_query_that_does_not_fit_is_not_read() -> None:
    counts = Counts()
    with pytest.raises(ApiError) as error:
        call(counts, since=9.0, until=8.0)
    assert error.value.body["error"] == {
        "kind": "invalid",
        "message": "since: must be before until",
        "field": "since",
    }
    assert counts.queries == []


def test_counts_that_cannot_be_read_are_named() -> None:
    with pytest.raises(ApiError) as error:
        call(NoCounts())
    assert (error.value.code, error.value.body["error"]["kind"]) == (503, "no_counts")
