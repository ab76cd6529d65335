"""Whether a rule covers a line, in one call, for tests of the grammars."""

from __future__ import annotations

from tests.support.rulebook import effect_of, runs


def covered(rule: str, *lines: str) -> list[str]:
    """The lines that `Bash(rule)` allows."""
    return [line for line in lines if effect_of(runs(line), f"allow Bash({rule})") == "allow"]


def covers_all(rule: str, *lines: str) -> bool:
    return covered(rule, *lines) == list(lines)


def covers_none(rule: str, *lines: str) -> bool:
    return covered(rule, *lines) == []
