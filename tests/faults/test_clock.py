"""Clocks that are set while a request waits: its waiting time is measured by a monotonic clock."""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, decision_in, permission, until
from tests.support.failpoints import ForkServer, unwritable

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
from quarterdeck.daemon.loop.deadlines import minute_of_day
print(minute_of_day(0.0, None))
subprocess.run(["mount", "--bind", "/usr/share/zoneinfo/Asia/Kolkata", "/etc/localtime"], check=True)
print(minute_of_day(0.0, None))
"""


@pytest.mark.law("D9")
@pytest.mark.law("D1")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("step", ["-3600", "3600"])
def test_a_clock_that_is_set_by_an_hour_denies_nobody_early(
    tmp_path: Path, fork_server: ForkServer, policy: str, step: str
) -> None:
    def is_denied_after(seconds: float) -> bool:
        """Whether the clock was set while the request waited, and its wait did not end by that."""
        home, jumped = tmp_path / f"home-{seconds}", tmp_path / f"jump-{seconds}"
        env = {"QUARTERDECK_UNATTENDED_AFTER_SECONDS": str(seconds), **POLICIES[policy]}
        launch = fork_server.launch("--clock-jump", step, "--jump-when", str(jumped))
        with Daemon(home, env=env, launch=launch) as daemon:
            began = time.monotonic()
            held = daemon.hold(permission("sudo rm x"))
            until(lambda: daemon.events("permission.request"), what="the request")
            jumped.touch()
            still_waits = daemon.pending() != []
            assert decision_in(held.answer()[1]) == "deny"
            assert time.monotonic() - began > seconds - 0.1
            [event] = daemon.events("permission.decision")
            assert event["data"]["by"].startswith("unattended.")
            return still_waits

    assert any(is_denied_after(seconds) for seconds in (1.5, 10.0, 40.0)), "on a busy machine a short wait is over"


def around(now: datetime, minutes: int) -> str:
    """A part of the day with this moment in the middle."""
    first, last = (now + timedelta(minutes=by) for by in (-minutes, minutes))
    return f"{first:%H:%M}-{last:%H:%M}"


@pytest.mark.law("D9")
def test_a_decision_due_in_quiet_hours_and_not_recorded_is_not_made_after_they_end(
    tmp_path: Path, fork_server: ForkServer
) -> None:
    env = {
        "QUARTERDECK_UNATTENDED_AFTER_SECONDS": "2",
        "QUARTERDECK_UNATTENDED_QUIET_HIGH": "deny",
        "QUARTERDECK_UNATTENDED_QUIET_HOURS": around(datetime.now(UTC), 30),
        "QUARTERDECK_UNATTENDED_TIMEZONE": "UTC",
    }
    launch = fork_server.launch("--clock-jump", "7200", "--jump-when", str(tmp_path / "jump"))
    with Daemon(tmp_path / "home", env=env, launch=launch) as daemon:
        daemon.hold(permission("sudo rm x"))
        daemon.until_pending(1)
        with unwritable(daemon):
            until(lambda: daemon.api("GET", "/stats")[1]["inputs"]["not_recorded"], what="a look that was not recorded")
            (tmp_path / "jump").touch()
            until(lambda: daemon.api("GET", "/stats")[1]["clock_step_seconds"] > 7000, what="another hour")
        until(lambda: daemon.api("GET", "/healthz")[1] == {"status": "ok"}, what="a log that is written again")
        again = time.monotonic()
        until(lambda: time.monotonic() - again > 0.5, 2)
        assert len(daemon.pending()) == 1
        assert daemon.events("permission.decision") == []


def test_a_day_follows_this_machine_into_another_time_zone() -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = ["unshare", "--mount", sys.executable, "-c", MOVED]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    if "unshare" in ended.stderr or "mount:" in ended.stderr:
        pytest.skip("only root can give one process another zone")
    before, after = map(int, ended.stdout.split())
    assert after == 330, f"as if it were still where the day began at {before}"
