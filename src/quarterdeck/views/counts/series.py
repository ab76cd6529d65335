"""The counts of a period as series: one for each value of a group, the largest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from quarterdeck.views.counts.metrics import METRICS, MetricName

By = Literal["hour", "day"]
STEP_SECONDS: Mapping[By, float] = {"hour": 3600.0, "day": 86400.0}
DEFAULT_SECONDS: Mapping[By, float] = {"hour": 86400.0, "day": 30 * 86400.0}
"""How far back a series goes when no beginning is named."""
MOST_POINTS = 1_000
"""Points of one series: a month by the hour, or years by the day."""
MOST_SERIES = 20
"""The series that are shown by name; the rest are summed up as OTHER."""
OTHER = "other"

Cell = tuple[str, int, int]
"""The value of a group, the position of a bucket in the period, and an amount."""


class Series(Struct, frozen=True, kw_only=True):
    """The amounts of one value of a group, one for each bucket. `label` is the value for people; `is_rest` marks the
    sum of all that are not shown by name."""

    name: str
    label: str
    total: float
    values: list[float]
    is_rest: bool = False


class SeriesQuery(Struct, frozen=True, kw_only=True):
    """What is asked for. Without a group it is one series of everything."""

    metric: MetricName
    by: By = "day"
    group: str | None = None
    since: float
    until: float
    project_id: str | None = None


class SeriesAnswer(Struct, frozen=True, kw_only=True):
    """Series over the same buckets, each of which begins at one of `times`; the last ends at `until`. `counted_upto` is
    the last event that is in them; `first` the first event that was counted."""

    times: list[float]
    until: float
    series: list[Series]
    counted_upto: int
    first: int


def query_problem(query: SeriesQuery) -> tuple[str, str] | None:
    """The field of a query that is wrong, with the reason; None when all fit."""
    metric = METRICS[query.metric]
    if query.group is not None and query.group not in metric.groups:
        known = f"must be one of {', '.join(metric.groups)}" if metric.groups else "this metric has no groups"
        return "group", known
    if query.project_id is not None and not metric.groups:
        return "project_id", f"{query.metric} are not counted by project"
    if query.since >= query.until:
        return "since", "must be before until"
    points = (query.until - query.since) / STEP_SECONDS[query.by]
    if points > MOST_POINTS:
        less = "ask for less, or by=day" if query.by == "hour" else "ask for less"
        return "since", f"{points:,.0f} points by the {query.by} are too many (at most {MOST_POINTS:,}); {less}"
    return None


def series_of(metric: MetricName, cells: Iterable[Cell], points: int, labels: Mapping[str, str]) -> list[Series]:
    """Series made from the amounts of a period with so many buckets. Without any amount there is none."""
    found: dict[str, list[int]] = {}
    for name, position, amount in cells:
        found.setdefault(name, [0] * points)[position] += amount
    ordered = sorted(found, key=lambda name: (-sum(found[name]), name))
    shown = ordered if len(ordered) <= MOST_SERIES else ordered[: MOST_SERIES - 1]
    scale = METRICS[metric].scale
    made = [_series(name, labels.get(name, name), found[name], scale) for name in shown]
    if len(shown) < len(ordered):
        rest = [sum(amounts) for amounts in zip(*(found[name] for name in ordered[len(shown) :]), strict=True)]
        made.append(_series(OTHER, OTHER, rest, scale, is_rest=True))
    return made


def _series(name: str, label: str, amounts: list[int], scale: int, *, is_rest: bool = False) -> Series:
    values = [float(amount) if scale == 1 else amount / scale for amount in amounts]
    total = sum(amounts) / scale
    return Series(name=name, label=label, total=total, values=values, is_rest=is_rest)
