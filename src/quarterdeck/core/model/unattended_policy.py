"""The policy for unanswered requests: by risk and time of day, whom to notify and whether to deny or pass."""

from __future__ import annotations

import re

from msgspec import Struct

from quarterdeck.core.model.risk_levels import LEVELS

GATHER_SECONDS = 1.0
"""The least time before a notification, so that requests of the same moment share one."""
RECHECK_SECONDS = 60.0
"""The time between two checks of the time of day, while quiet hours matter."""
SOON_SECONDS = 0.05
"""Minimum delay before a check, so that an overdue one cannot make the loop spin."""

_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-3]|24):([0-5]\d)")

Hours = tuple[int, int]
"""A start and an end as minutes of the day; over midnight when the end is not later."""


class UnattendedPolicy(Struct, frozen=True, kw_only=True):
    """`by_risk` and `quiet_by_risk` map a level to hold, deny or pass. A level missing in `by_risk` is held; one
    missing in `quiet_by_risk` is treated as outside quiet hours. `channels` are notified after `grace_seconds`;
    `quiet_notify` is none, critical or all."""

    after_seconds: float = 300.0
    by_risk: dict[str, str] = {}
    quiet_by_risk: dict[str, str] = {}
    quiet_hours: tuple[Hours, ...] = ()
    channels: tuple[str, ...] = ()
    grace_seconds: float = 10.0
    min_risk: str = "low"
    quiet_notify: str = "none"
    include_input: bool = False


class UnattendedAction(Struct, frozen=True):
    """The action for a request, and the setting it comes from."""

    action: str
    setting: str


def read_hours(text: str) -> tuple[Hours, ...]:
    """Read parts of the day like `22:00-07:00`, several with commas between. Raises ValueError."""
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


def is_quiet(policy: UnattendedPolicy, minute: int) -> bool:
    """True when this minute of the local day is in quiet hours; a part that ends where it begins is the whole day."""
    return any(
        start <= minute < end if start < end else minute >= start or minute < end for start, end in policy.quiet_hours
    )


def policy_action(policy: UnattendedPolicy, level: str, *, quiet: bool) -> UnattendedAction:
    """The action for a request of this risk that was not answered in time."""
    if quiet and level in policy.quiet_by_risk:
        return UnattendedAction(policy.quiet_by_risk[level], f"unattended.quiet_{level}")
    return UnattendedAction(policy.by_risk.get(level, "hold"), f"unattended.{level}")


def should_notify(policy: UnattendedPolicy, level: str, *, quiet: bool) -> bool:
    """True when a request of this risk is worth a notification."""
    if not policy.channels or rank(level) < rank(policy.min_risk):
        return False
    return not quiet or policy.quiet_notify == "all" or (policy.quiet_notify == "critical" and rank(level) >= 3)


def rank(level: str) -> int:
    """The height of a risk; an unknown one is the highest, to be safe."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)


def grace_seconds(policy: UnattendedPolicy) -> float:
    """The seconds a request waits before its notification."""
    return max(policy.grace_seconds, GATHER_SECONDS)


def next_check(policy: UnattendedPolicy, level: str, waited: float = 0.0, *, notified: bool = False) -> float | None:
    """The seconds until a waiting request must be checked again; None when nothing can come of it. `notified` says that
    its notification was sent already."""
    times = (False, True) if policy.quiet_hours else (False,)
    due = []
    if any(policy_action(policy, level, quiet=quiet).action != "hold" for quiet in times):
        due.append(policy.after_seconds - waited)
    if not notified and any(should_notify(policy, level, quiet=quiet) for quiet in times):
        due.append(grace_seconds(policy) - waited)
    ahead = [max(seconds, SOON_SECONDS) for seconds in due if seconds > 0]
    if len(ahead) < len(due):
        ahead.append(RECHECK_SECONDS)
    return min(ahead, default=None)
