"""The minute of the day of a check, and the process files by which requests are watched."""

from __future__ import annotations

import os
import subprocess
import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from quarterdeck.daemon.loop.deadlines import minute_of_day
from quarterdeck.system.process_table import alive


@pytest.mark.parametrize(
    ("zone", "at", "clock"),
    [
        ("UTC", datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC), "23:59"),
        ("Europe/Berlin", datetime(2026, 1, 31, 23, 59, tzinfo=UTC), "00:59"),
        ("Europe/Berlin", datetime(2026, 7, 31, 23, 59, tzinfo=UTC), "01:59"),
    ],
)
def test_the_minute_is_that_of_the_local_day(zone: str, at: datetime, clock: str) -> None:
    hour, _, minute = clock.partition(":")
    assert minute_of_day(at.timestamp(), ZoneInfo(zone)) == int(hour) * 60 + int(minute)


def test_a_zombie_is_not_alive() -> None:
    assert alive(os.getpid())
    child = subprocess.Popen(["true"])
    deadline = time.monotonic() + 60
    while alive(child.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(child.pid)
    child.wait()
