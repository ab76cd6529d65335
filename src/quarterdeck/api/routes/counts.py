"""The route that reads counts over time."""

from __future__ import annotations

import time
from typing import Annotated

from litestar.params import FromQuery, QueryParameter

from quarterdeck.api.backend import CountBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, invalid
from quarterdeck.api.routes.queries import Time
from quarterdeck.errors import Refused
from quarterdeck.views.counts.metrics import MetricName
from quarterdeck.views.counts.series import DEFAULT_SECONDS, By, SeriesQuery, query_problem
from quarterdeck.views.counts.series_view import SeriesList, series_view

Group = Annotated[str | None, QueryParameter(description="What to split by; each metric has its own groups.")]


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
    return series_view(query, found)
