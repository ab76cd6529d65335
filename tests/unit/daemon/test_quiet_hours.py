"""Quiet hours by the clock on the wall, over days that are longer or shorter, and clocks that somebody sets."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarterdeck.core.engine.messages import LookAfter, StillWaiting
from quarterdeck.core.model.decisions import Deny, Source
from quarterdeck.core.model.unattended_policy import LOOK_AGAIN_SECONDS, Policy, is_quiet, read_hours
from quarterdeck.daemon.loop.deadlines import minute_of_day
from tests.support.scene import Scene, bash

HOUR = 3600.0
LATE = 0.5
"""How late a look may be that was asked for."""


def utc(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


CHANGES = {
    "Europe/Berlin": (utc(2026, 3, 29), utc(2026, 10, 25)),
    "America/New_York": (utc(2026, 3, 8), utc(2026, 11, 1)),
    "Australia/Lord_Howe": (utc(2026, 4, 5), utc(2026, 10, 4)),
    "Asia/Kolkata": (utc(2026, 3, 29), utc(2026, 10, 25)),
}
"""Where clocks change by an hour, by half an hour and not at all, and on which days."""


@st.composite
def moments(draw: st.DrawFn) -> tuple[ZoneInfo, float]:
    """A moment near a change of the clock, and where."""
    name = draw(st.sampled_from(sorted(CHANGES)))
    day = draw(st.sampled_from(CHANGES[name]))
    return ZoneInfo(name), day + draw(st.integers(-24 * 60, 48 * 60)) * 60.0


def clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


minutes = st.integers(0, 1439)


@given(moments(), minutes, minutes)
def test_it_is_quiet_when_the_clock_on_the_wall_says_so(where: tuple[ZoneInfo, float], start: int, end: int) -> None:
    zone, at = where
    shown = f"{datetime.fromtimestamp(at, zone):%H:%M}"
    begins, ends = clock(start), clock(end)
    expected = begins <= shown < ends if begins < ends else shown >= begins or shown < ends
    policy = Policy(quiet_hours=read_hours(f"{begins}-{ends}"))
    assert is_quiet(policy, minute_of_day(at, zone)) is expected


@pytest.mark.parametrize("zone", sorted(CHANGES))
def test_the_night_is_as_long_as_the_clock_makes_it(zone: str) -> None:
    """A part of it that is skipped is missing from the night, one that comes twice is twice in it."""
    policy = Policy(quiet_hours=read_hours("22:00-07:00"))

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
    """What the clock shows after so many seconds, where each step sets it forward or back."""
    return opened + waited + sum(by for after, by in steps if waited >= after)


steps_of_the_clock = st.lists(
    st.tuples(st.floats(0, 2 * HOUR), st.sampled_from([-HOUR, HOUR, -86400.0, 86400.0, 1800.0])), max_size=2
)


@pytest.mark.law("D9")
@pytest.mark.law("D1")
@settings(max_examples=60, deadline=None)
@given(moments(), minutes, st.integers(2, 1440), st.floats(60, HOUR), steps_of_the_clock)
def test_nobody_is_denied_early_or_out_of_hours_however_the_clock_is_set(
    where: tuple[ZoneInfo, float], start: int, length: int, after: float, steps: list[tuple[float, float]]
) -> None:
    zone, opened = where
    hours = ((start, (start + length) % 1440),)
    policy = Policy(after_seconds=after, quiet_by_risk={"high": "deny"}, quiet_hours=hours)
    scene = Scene(unattended=policy).hears("PermissionRequest", id="r1", **bash("sudo rm x"))
    waited = 0.0
    while waited < 2 * HOUR and scene.request("r1").status == "pending":
        [look] = [effect for effect in scene.last.effects if isinstance(effect, LookAfter)]
        assert look.seconds <= max(LOOK_AGAIN_SECONDS, after - waited)
        waited += look.seconds + LATE
        minute = minute_of_day(wall(opened, waited, steps), zone)
        scene.tells(StillWaiting(request_id="r1", waited=waited, minute=minute, at=wall(opened, waited, steps)))
        due = waited >= after and is_quiet(policy, minute)
        assert (scene.request("r1").status == "decided") is due
    decision = scene.request("r1").decision
    assert decision is None or (decision.source, decision.decision_type) == (Source.TIMEOUT, "deny")


def test_a_part_that_ends_where_it_begins_is_the_whole_day() -> None:
    scene = Scene(unattended=Policy(quiet_by_risk={"high": "deny"}, quiet_hours=read_hours("12:00-12:00")))
    scene.hears("PermissionRequest", id="r1", **bash("sudo rm x")).still_waits("r1", 300.0, "12:00")
    [answer] = [effect.decision for effect in scene.last.effects if hasattr(effect, "decision")]
    assert isinstance(answer, Deny)
