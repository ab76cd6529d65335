"""Quiet hours by the local clock, over longer and shorter days, and clocks that are set."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.engine.messages import CheckAfter, StillWaiting
from quarterdeck.core.model.decisions import Deny, Source
from quarterdeck.core.model.unattended_policy import RECHECK_SECONDS, UnattendedPolicy, is_quiet, read_hours
from quarterdeck.daemon.loop.deadlines import minute_of_day
from tests.support.scene import Scene, bash

HOUR = 3600.0
LATE = 0.5
"""The most that a check may be late."""


def utc(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


CHANGES = {
    "Europe/Berlin": (utc(2026, 3, 29), utc(2026, 10, 25)),
    "America/New_York": (utc(2026, 3, 8), utc(2026, 11, 1)),
    "Australia/Lord_Howe": (utc(2026, 4, 5), utc(2026, 10, 4)),
    "Asia/Kolkata": (utc(2026, 3, 29), utc(2026, 10, 25)),
}
"""Zones whose clocks change by an hour, by half an hour and not at all, and the days of the change."""


@st.composite
def moments(draw: st.DrawFn) -> tuple[ZoneInfo, float]:
    """A zone, and a moment near a change of its clock."""
    name = draw(st.sampled_from(sorted(CHANGES)))
    day = draw(st.sampled_from(CHANGES[name]))
    return ZoneInfo(name), day + draw(st.integers(-24 * 60, 48 * 60)) * 60.0


def clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


minutes = st.integers(0, 1439)


@given(moments(), minutes, minutes)
def test_quiet_hours_follow_the_local_clock(where: tuple[ZoneInfo, float], start: int, end: int) -> None:
    zone, at = where
    shown = f"{datetime.fromtimestamp(at, zone):%H:%M}"
    begins, ends = clock(start), clock(end)
    expected = begins <= shown < ends if begins < ends else shown >= begins or shown < ends
    policy = UnattendedPolicy(quiet_hours=read_hours(f"{begins}-{ends}"))
    assert is_quiet(policy, minute_of_day(at, zone)) is expected


@pytest.mark.parametrize("zone", sorted(CHANGES))
def test_quiet_hours_follow_a_change_to_summer_time(zone: str) -> None:
    """A skipped hour is missing from the quiet hours; a repeated one counts twice."""
    policy = UnattendedPolicy(quiet_hours=read_hours("22:00-07:00"))

    def quiet_hours(around: float) -> float:
        noon = next(
            at for at in range(int(around) - 86400, int(around) + 1, 60) if minute_of_day(at, ZoneInfo(zone)) == 720
        )
        day = range(noon, noon + 86400, 60)
        return sum(is_quiet(policy, minute_of_day(at, ZoneInfo(zone))) for at in day) / 60

    found = [quiet_hours(around) for around in CHANGES[zone]]
    expected = {"Asia/Kolkata": [9, 9], "Australia/Lord_Howe": [9.5, 8.5]}
    assert found == expected.get(zone, [8, 10])


def wall(opened: float, waited: float, steps: list[tuple[float, float]]) -> float:
    """The time on the clock after this many seconds, when each step sets it forward or back."""
    return opened + waited + sum(by for after, by in steps if waited >= after)


steps_of_the_clock = st.lists(
    st.tuples(st.floats(0, 2 * HOUR), st.sampled_from([-HOUR, HOUR, -86400.0, 86400.0, 1800.0])), max_size=2
)


@pytest.mark.law("D9")
@pytest.mark.law("D1")
@given(moments(), minutes, st.integers(2, 1440), st.floats(60, HOUR), steps_of_the_clock)
def test_no_request_is_denied_early_or_out_of_hours_when_the_clock_is_set(
    where: tuple[ZoneInfo, float], start: int, length: int, after: float, steps: list[tuple[float, float]]
) -> None:
    zone, opened = where
    hours = ((start, (start + length) % 1440),)
    policy = UnattendedPolicy(after_seconds=after, quiet_by_risk={"high": "deny"}, quiet_hours=hours)
    scene = Scene(unattended=policy).receives("PermissionRequest", id="r1", **bash("sudo rm x"))
    waited = 0.0
    while waited < 2 * HOUR and scene.request("r1").status == "pending":
        [look] = [effect for effect in scene.last.effects if isinstance(effect, CheckAfter)]
        assert look.seconds <= max(RECHECK_SECONDS, after - waited)
        waited += look.seconds + LATE
        minute = minute_of_day(wall(opened, waited, steps), zone)
        scene.submits(StillWaiting(request_id="r1", waited=waited, minute=minute, at=wall(opened, waited, steps)))
        due = waited >= after and is_quiet(policy, minute)
        assert (scene.request("r1").status == "decided") is due
    decision = scene.request("r1").decision
    assert decision is None or (decision.source, decision.decision_type) == (Source.TIMEOUT, "deny")


def test_a_part_that_ends_where_it_begins_is_the_whole_day() -> None:
    scene = Scene(unattended=UnattendedPolicy(quiet_by_risk={"high": "deny"}, quiet_hours=read_hours("12:00-12:00")))
    scene.receives("PermissionRequest", id="r1", **bash("sudo rm x")).still_waits("r1", 300.0, "12:00")
    [answer] = [effect.decision for effect in scene.last.effects if hasattr(effect, "decision")]
    assert isinstance(answer, Deny)
