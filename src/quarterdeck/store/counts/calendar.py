"""The hours and days of this machine, as numbers that are counted by."""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache

from quarterdeck.views.counts.series import By
from quarterdeck.views.counts.tally import HOUR, hour_of, within


def day_of(at: float) -> int:
    """The number of the day of a time, by the local calendar."""
    return _day_of_quarter(int(within(at) // 900))


@lru_cache(maxsize=4096)  # neighbouring events share it, and every zone differs from UTC by whole quarters of an hour
def _day_of_quarter(quarter: int) -> int:
    return datetime.fromtimestamp(quarter * 900.0).date().toordinal()


def bucket_of(at: float, by: By) -> int:
    """The number of the hour or day of a time."""
    return day_of(at) if by == "day" else hour_of(at)


def start_of(bucket: int, by: By) -> float:
    """The time at which an hour or a day begins."""
    if by == "hour":
        return float(bucket * HOUR)
    day = date.fromordinal(bucket)
    return datetime(day.year, day.month, day.day).timestamp()
