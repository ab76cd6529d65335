"""Counts over time as every surface sees them."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.views.counts.metrics import METRICS, MetricName, Unit
from quarterdeck.views.counts.series import By, SeriesAnswer, SeriesQuery
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.runner_resource import Resource


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


def series_view(query: SeriesQuery, answer: SeriesAnswer) -> SeriesList:
    """The answer to a query, with its metric in words."""
    return SeriesList(
        metric=query.metric,
        title=METRICS[query.metric].title,
        unit=METRICS[query.metric].unit,
        by=query.by,
        group=query.group,
        times=answer.times,
        until=answer.until,
        series=[struct_of(SeriesView, one) for one in answer.series],
        first_seq_no=answer.first,
        seq_no=answer.counted_upto,
    )
