"""A risk: its level and reasons. The levels, from the lowest, and how each is marked."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

LEVELS = ("low", "medium", "high", "critical")
MARKS: Mapping[str, str] = {"low": "", "medium": "!", "high": "!!", "critical": "!!!"}
"""The sign beside a level's name."""


def needs_second_key(level: str, confirm_high: bool) -> bool:
    """True if letting a request of this risk run takes a second, different key."""
    return level == "critical" or (confirm_high and level == "high")


class Risk(Struct, frozen=True):
    """A risk level and its reasons, the worst first."""

    level: str
    reasons: list[str]
