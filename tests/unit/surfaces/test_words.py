"""The words every face uses: times, and how a request ended."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

from quarterdeck.surfaces.text.labels import ago, limit, outcome
from tests.support.tui import NOW, over, request


@pytest.fixture(autouse=True)
def _in_utc() -> Iterator[None]:
    """Clocks show the same everywhere."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s ago"),
        (12, "12 s ago"),
        (59, "59 s ago"),
        (59.9, "1 m ago"),
        (725, "12 m ago"),
        (3599.9, "59 m ago"),
        (3600, "at 03:01"),
        (86400, "02 Oct 04:01"),
        (-5, "0 s ago"),
    ],
)
def test_a_time_is_relative_within_the_hour_and_a_clock_after_it(seconds: float, words: str) -> None:
    assert ago(NOW - seconds, NOW) == words


def test_what_never_was_is_a_dash() -> None:
    assert ago(None) == "–"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(45, "45 s"), (90, "90 s"), (60, "1 m"), (300, "5 m"), (3600, "1 h"), (5400, "90 m"), (86400, "24 h")],
)
def test_a_limit_is_told_as_one_would_set_it(seconds: float, words: str) -> None:
    assert limit(seconds) == words


A_DAY = request(opened_at=NOW - 86400, expires_at=NOW)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (over(request(), by="owner via phone"), "Allowed by owner from phone · 04:01"),
        (over(request(), word="deny", by="owner via tui"), "Denied by owner from tui · 04:01"),
        (over(request(), by="ann", at=None), "Allowed by ann"),
        (
            over(request(opened_at=NOW - 0.002), source="rule", pattern="Bash(git log:*)"),
            "Allowed by rule Bash(git log:*) · 2 ms",
        ),
        (
            over(request(opened_at=NOW - 90), word="deny", source="rule", pattern="Bash(rm:*)"),
            "Denied by rule Bash(rm:*) · 2 m",
        ),
        (
            over(request(), "withdrawn", source="elsewhere", reason="answered at the terminal"),
            "Answered at the terminal",
        ),
        (over(A_DAY, "expired", source="timeout"), "Nobody answered within 24 h"),
        (over(A_DAY, "expired", source="timeout", at=NOW + 500), "Nobody answered within 24 h"),
        (over(request(opened_at=NOW - 300), word="deny", source="timeout"), "Nobody answered within 5 m"),
        (over(request(expires_at=None), "expired", source="timeout", at=None), "Nobody answered in time"),
        (over(request(), updated_input={"command": "ls"}), "Allowed, edited, by owner from cli · 04:01"),
        (
            over(request(), word="answer", answers={"Which?": "Red", "Why?": ["a", "b"]}, notes={"Which?": "or pink"}),
            "Answered “Red (or pink) · a, b” by owner from cli · 04:01",
        ),
        (request(), "It waits"),
        (request(status="withdrawn"), "It is over"),
    ],
)
def test_how_a_request_ended_is_a_sentence(view: dict[str, Any], words: str) -> None:
    assert outcome(view) == words
