"""Hours and days as numbers, by the calendar of the machine."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.store.counts.calendar import bucket_of, start_of
from quarterdeck.views.counts.series import By

ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns", "Europe/Berlin", "Pacific/Apia")
EVERY_QUARTER = """
from quarterdeck.store.counts.calendar import bucket_of, start_of
for at in range(1_300_000_000, 1_340_000_000, 40_500):
    day = bucket_of(at, "day")
    assert start_of(day, "day") <= at < start_of(day + 1, "day"), at
"""


@given(st.floats(0, 3e10), st.sampled_from(["hour", "day"]))
def test_a_time_is_in_its_bucket(at: float, by: By) -> None:
    bucket = bucket_of(at, by)
    assert start_of(bucket, by) <= at < start_of(bucket + 1, by)


@given(st.floats(-1e300, 1e300))
def test_every_number_has_a_bucket(at: float) -> None:
    assert bucket_of(at, "day") > 0
    assert bucket_of(at, "hour") >= 0


@pytest.mark.parametrize("zone", ZONES)
def test_days_begin_at_midnight_in_every_zone(zone: str) -> None:
    """A process of its own, since the zone of a process is read once."""
    subprocess.run([sys.executable, "-c", EVERY_QUARTER], env={"TZ": zone}, check=True)
