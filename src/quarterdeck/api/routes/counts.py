"""The route that reads counts over time."""

from __future__ import annotations

import time
from typing import Annotated

from litestar.params import FromQuery, QueryParameter
from msgspec import Struct

from quarterdeck.api.backend import CountBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, invalid
from quarterdeck.api.http.resource import Resource
from quarterdeck.api.routes.queries import Time
from quarterdeck.api.views.projection import struct_of
from quarterdeck.errors import Refused
from quarterdeck.views.counts.metrics import METRICS, MetricName, Unit
from quarterdeck.views.counts.series import DEFAULT_SECONDS, By, SeriesQuery, query_problem

Group = Annotated[str | None, QueryParameter(description="What to split by; each metric has its own groups.")]


class SeriesView(Struct, kw_only=True):
    """The counts of one value of the group: `values` has one for each of `times`. `label` is the value for people, of a
    project its folder. `is_rest` marks the sum of all that are not shown by name."""

    name: str
    label: str
    total: float
    values: list[float]
    is_rest: bool


class SeriesList(Resource, kw_only=True):
    """Counts over time, the largest series first. `times` are the beginnings of the hours or of the local days; the
    last one ends at `until`. They have the events up to `seq_no`, from `first_seq_no` on."""

    metric: MetricName
    title: str
    unit: Unit
    by: By
    group: str | None
    times: list[float]
    until: float
    series: list[SeriesView]
    first_seq_no: int
    seq_no: int


@endpoint("get_series")
async def get_series(
    counts: CountBackend,
    *,
    metric: FromQuery[MetricName],
    by: FromQuery[By] = "day",
    group: Group = None,
    since: Time = None,
    until: Time = None,
    project_id: FromQuery[str | None] = None,
) -> SeriesList:
    """Count sessions, prompts, tools, requests, rule hits, tokens, cost or hook calls by the hour or by the day: of the
    last day or month, or between `since` and `until`. Events stay counted when they are trimmed."""
    end = time.time() if until is None else until
    start = max(0.0, end - DEFAULT_SECONDS[by]) if since is None else since
    query = SeriesQuery(metric=metric, by=by, group=group, since=start, until=end, project_id=project_id)
    problem = query_problem(query)
    if problem is not None:
        raise invalid(*problem)
    try:
        found = await counts.series(query)
    except Refused as error:
        raise ApiError(503, "no_counts", str(error)) from None
    return SeriesList(
        metric=metric,
        title=METRICS[metric].title,
        unit=METRICS[metric].unit,
        by=by,
        group=group,
        times=found.times,
        until=found.until,
        series=[struct_of(SeriesView, one) for one in found.series],
        first_seq_no=found.first,
        seq_no=found.counted_upto,
    )
