"""What is settled for requests that nobody answers: by risk and time of day, who is told and what becomes of them."""

from __future__ import annotations

import re

from msgspec import Struct

from quarterdeck.core.model.risk_levels import LEVELS

GATHER_SECONDS = 1.0
"""How long a request waits at least before anybody is bothered: those asked at the same time are told of together."""
LOOK_AGAIN_SECONDS = 60.0
"""How often it is asked what the time of day is, while that matters."""
SOON_SECONDS = 0.05

_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-3]|24):([0-5]\d)")

Hours = tuple[int, int]
"""From one minute of the day to another, over midnight when the second is not later."""


class Policy(Struct, frozen=True, kw_only=True):
    """`by_risk` and `quiet_by_risk` map a level to hold, deny or pass; a level that is not there is held, and in quiet
    hours as otherwise. `channels` are who is told after the grace; `quiet_notify` is none, critical or all."""

    after_seconds: float = 300.0
    by_risk: dict[str, str] = {}
    quiet_by_risk: dict[str, str] = {}
    quiet_hours: tuple[Hours, ...] = ()
    channels: tuple[str, ...] = ()
    grace_seconds: float = 10.0
    min_risk: str = "low"
    quiet_notify: str = "none"
    include_input: bool = False


class Ruling(Struct, frozen=True):
    """What becomes of a request, and which setting says so."""

    action: str
    setting: str


def read_hours(text: str) -> tuple[Hours, ...]:
    """Parts of the day like `22:00-07:00`, several with commas between. Raises ValueError."""
    return tuple(_read_part(part.strip()) for part in text.split(",") if part.strip())


def _read_part(part: str) -> Hours:
    found = _HOURS.fullmatch(part)
    if found is None:
        raise ValueError("parts of the day like 22:00-07:00, with commas between them")
    hour, minute, last_hour, last_minute = (int(group) for group in found.groups())
    start, end = hour * 60 + minute, (last_hour * 60 + last_minute) % 1440
    if last_hour == 24 and last_minute:
        raise ValueError("parts of the day that end at 24:00 at the latest")
    return start, end


def is_quiet(policy: Policy, minute: int) -> bool:
    """Whether this minute of the local day is in quiet hours; a part that ends where it begins is the whole day."""
    return any(
        start <= minute < end if start < end else minute >= start or minute < end for start, end in policy.quiet_hours
    )


def ruling(policy: Policy, level: str, *, quiet: bool) -> Ruling:
    """What becomes of a request of this risk that nobody answered in time."""
    if quiet and level in policy.quiet_by_risk:
        return Ruling(policy.quiet_by_risk[level], f"unattended.quiet_{level}")
    return Ruling(policy.by_risk.get(level, "hold"), f"unattended.{level}")


def bothers(policy: Policy, level: str, *, quiet: bool) -> bool:
    """Whether somebody is told of a request of this risk."""
    if not policy.channels or rank(level) < rank(policy.min_risk):
        return False
    return not quiet or policy.quiet_notify == "all" or (policy.quiet_notify == "critical" and rank(level) >= 3)


def rank(level: str) -> int:
    """How high a risk is; one we do not know is as high as any."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)


def grace(policy: Policy) -> float:
    """How long a request waits before anybody is told of it."""
    return max(policy.grace_seconds, GATHER_SECONDS)


def next_look(policy: Policy, level: str, waited: float = 0.0, *, told: bool = False) -> float | None:
    """In how many seconds a request that still waits has to be looked at again; None when nothing can come of it.
    `told` is whether somebody was told of it already."""
    times = (False, True) if policy.quiet_hours else (False,)
    due = []
    if any(ruling(policy, level, quiet=quiet).action != "hold" for quiet in times):
        due.append(policy.after_seconds - waited)
    if not told and any(bothers(policy, level, quiet=quiet) for quiet in times):
        due.append(grace(policy) - waited)
    ahead = [max(seconds, SOON_SECONDS) for seconds in due if seconds > 0]
    if len(ahead) < len(due):
        ahead.append(LOOK_AGAIN_SECONDS)
    return min(ahead, default=None)
