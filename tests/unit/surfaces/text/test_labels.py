"""Labels of times and of request outcomes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.surfaces.text.labels import FAILED, STATES, ago, failure_texts, outcome, state_label
from tests.support.recorded_daemon import NOW, request, resolved, session_view


@pytest.fixture(autouse=True)
def _in_utc() -> Iterator[None]:
    """Fix the time zone, so that times look the same on every machine."""
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
        (59.9, "59 s ago"),
        (725, "12 m ago"),
        (3599.9, "59 m ago"),
        (3600, "at 03:01"),
        (86400, "02 Oct 04:01"),
        (-5, "0 s ago"),
    ],
)
def test_a_time_is_relative_within_the_hour_and_a_clock_after_it(seconds: float, words: str) -> None:
    assert ago(NOW - seconds, NOW) == words


def test_a_missing_time_is_a_dash() -> None:
    assert ago(None) == "–"


A_DAY = request(opened_at=NOW - 86400, expires_at=NOW)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (resolved(request(), by="owner via phone"), "Allowed by owner from phone · 04:01"),
        (resolved(request(), word="deny", by="owner via tui"), "Denied by owner from tui · 04:01"),
        (resolved(request(), by="ann", at=None), "Allowed by ann"),
        (
            resolved(request(opened_at=NOW - 0.002), source="rule", pattern="Bash(git log:*)"),
            "Allowed by rule Bash(git log:*) · 2 ms",
        ),
        (
            resolved(request(opened_at=NOW - 90), word="deny", source="rule", pattern="Bash(rm:*)"),
            "Denied by rule Bash(rm:*) · 1 m",
        ),
        (
            resolved(request(), "withdrawn", source="elsewhere", reason="answered at the terminal"),
            "Answered at the terminal",
        ),
        (
            resolved(request(), "withdrawn", word="deny", source="elsewhere", message="Blocked: it ended."),
            "Blocked: it ended",
        ),
        (resolved(A_DAY, "expired", source="timeout"), "Nobody answered within 24 h"),
        (resolved(A_DAY, "expired", source="timeout", at=NOW + 500), "Nobody answered within 24 h"),
        (resolved(request(opened_at=NOW - 300), word="deny", source="timeout"), "Nobody answered within 5 m"),
        (resolved(request(expires_at=None), "expired", source="timeout", at=None), "Nobody answered in time"),
        (resolved(request(), updated_input={"command": "ls"}), "Allowed, edited, by owner from cli · 04:01"),
        (
            resolved(
                request(), word="answer", answers={"Which?": "Red", "Why?": ["a", "b"]}, notes={"Which?": "or pink"}
            ),
            "Answered “Red (or pink) · a, b” by owner from cli · 04:01",
        ),
        (request(), "Waiting"),
        (request(status="withdrawn"), "Ended"),
    ],
)
def test_the_outcome_of_a_request_is_a_sentence(view: dict[str, Any], words: str) -> None:
    assert outcome(view) == words


@pytest.mark.parametrize("state", ["idle", "settled", "complete", "sent", "unknown"])
def test_a_session_that_rests_after_a_failed_run_is_labelled_as_failed(state: str) -> None:
    failed = session_view("s1", state, pending=0, last_error="Not logged in")
    assert state_label(failed) == FAILED
    assert failure_texts([failed], NOW) == ["s1 failed: Not logged in"]


@pytest.mark.parametrize("state", ["running", "waiting_permission", "waiting_input", "blocked"])
def test_a_state_that_needs_more_attention_is_labelled_as_itself(state: str) -> None:
    busy = session_view("s1", state, pending=0, last_error="Not logged in")
    assert state_label(busy) == STATES[state]
    assert failure_texts([busy], NOW) == []


def test_a_session_that_nobody_ended_is_named_for_an_hour() -> None:
    lost = session_view("s1", "ended", pending=0, last_error="cut off while it worked", ended_at=NOW - 60, owned={})
    assert failure_texts([lost], NOW) == ["s1 ended: cut off while it worked"]
    assert failure_texts([lost], NOW + 3600) == []
    assert failure_texts([replace(lost, owned=None), replace(lost, last_error=None)], NOW) == []
