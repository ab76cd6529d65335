"""Clocks that are set while a request waits: how long it waited is counted by one that nobody sets."""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, decision_in, permission, until
from tests.support.faulty import Nursery, unwritable

pytestmark = pytest.mark.faults

POLICIES = {
    "by day": {"QUARTERDECK_UNATTENDED_HIGH": "deny"},
    "quiet all day": {
        "QUARTERDECK_UNATTENDED_QUIET_HIGH": "deny",
        "QUARTERDECK_UNATTENDED_QUIET_HOURS": "00:00-00:00",
        "QUARTERDECK_UNATTENDED_TIMEZONE": "Europe/Berlin",
    },
}
MOVED = """
import subprocess
from quarterdeck.daemon.waiting import minute_of_day
print(minute_of_day(0.0, None))
subprocess.run(["mount", "--bind", "/usr/share/zoneinfo/Asia/Kolkata", "/etc/localtime"], check=True)
print(minute_of_day(0.0, None))
"""


@pytest.mark.law("D9")
@pytest.mark.law("D1")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("step", ["-3600", "3600"])
def test_a_clock_that_is_set_by_an_hour_denies_nobody_early(
    tmp_path: Path, nursery: Nursery, policy: str, step: str
) -> None:
    launch = nursery.launch("--clock-jump", step, "--jump-after", "2")
    env = {"QUARTERDECK_UNATTENDED_AFTER_SECONDS": "4", **POLICIES[policy]}
    with Daemon(tmp_path / "home", env=env, launch=launch) as daemon:
        began = time.monotonic()
        held = daemon.hold(permission("sudo rm x"))
        assert decision_in(held.answer(15)[1]) == "deny"
        assert time.monotonic() - began >= 3.9
        [event] = daemon.events("permission.decision")
        assert event["data"]["by"].startswith("unattended.")


def around(now: datetime, minutes: int) -> str:
    """A part of the day with this moment in the middle."""
    first, last = (now + timedelta(minutes=by) for by in (-minutes, minutes))
    return f"{first:%H:%M}-{last:%H:%M}"


@pytest.mark.law("D9")
def test_what_was_due_in_quiet_hours_and_not_recorded_is_not_done_after_they_ended(
    tmp_path: Path, nursery: Nursery
) -> None:
    env = {
        "QUARTERDECK_UNATTENDED_AFTER_SECONDS": "2",
        "QUARTERDECK_UNATTENDED_QUIET_HIGH": "deny",
        "QUARTERDECK_UNATTENDED_QUIET_HOURS": around(datetime.now(UTC), 30),
        "QUARTERDECK_UNATTENDED_TIMEZONE": "UTC",
    }
    launch = nursery.launch("--clock-jump", "7200", "--jump-after", "5")
    with Daemon(tmp_path / "home", env=env, launch=launch) as daemon:
        daemon.hold(permission("sudo rm x"))
        daemon.until_pending(1)
        with unwritable(daemon):
            until(lambda: daemon.api("GET", "/stats")[1]["inputs"]["not_recorded"], what="a look that was not recorded")
            until(lambda: daemon.api("GET", "/stats")[1]["clock_step_seconds"] > 7000, what="another hour")
        until(lambda: daemon.api("GET", "/healthz")[1] == {"status": "ok"}, what="a log that is written again")
        again = time.monotonic()
        until(lambda: time.monotonic() - again > 0.5, 2)
        assert len(daemon.pending()) == 1
        assert daemon.events("permission.decision") == []


def test_the_day_is_this_machines_even_after_it_moved_to_another_zone() -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = ["unshare", "--mount", sys.executable, "-c", MOVED]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    if "unshare" in ended.stderr or "mount:" in ended.stderr:
        pytest.skip("only root can give one process another zone")
    before, after = map(int, ended.stdout.split())
    assert after == 330, f"as if it were still where the day began at {before}"
