"""A row in one line."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.text.feed.event_rows import fold
from quarterdeck.core.text.feed.row_words import row_words, verdict_words
from tests.support.feed import EventStory


def only_line(book: EventStory) -> str:
    (row,) = fold(book.events)
    return row_words(row).line


def test_a_call_says_what_ran_who_decided_and_how_long_it_took() -> None:
    assert only_line(EventStory().gated_call("Bash", "made", command="mkdir out2")) == (
        "● Bash mkdir out2  ✓ rule Bash(*)  40 ms"
    )
    assert only_line(EventStory().call("Read", file_path="/a/b.py")) == "● Read b.py  31 ms"
    assert only_line(EventStory().fails("Bash", "Exit code 1\n2 failed", command="make")) == (
        "● Bash make  failed: 2 failed  86 ms"
    )


def test_a_call_that_waits_says_for_what() -> None:
    assert only_line(EventStory().asks("Bash", decided=None, command="make")) == "◆ Bash make  needs you"
    book = EventStory().asks("Bash", decided=None, command="make")
    data = {"request_id": "q1", "decision_type": "no_opinion", "still_asks": True}
    book.add("permission.decision", data)
    assert only_line(book) == "◆ Bash make  waits at its terminal"


@pytest.mark.parametrize("end", ["run.end", "session.end", "run.start"])
def test_a_call_whose_run_is_over_runs_and_waits_no_more(end: str) -> None:
    book = EventStory()
    book.add("tool.pre", {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t"})
    assert row_words(fold(book.events)[0]).line == "● Bash make  running"
    book.add(end, {"status": "aborted"})
    assert row_words(fold(book.events)[0]).line == "● Bash make  no result"
    book = EventStory().asks("Bash", decided=None, command="make")
    book.add("permission.decision", {"request_id": "q1", "decision_type": "no_opinion", "still_asks": True})
    book.add(end, {"status": "aborted"})
    assert row_words(fold(book.events)[0]).line == "● Bash make  no result"


def test_a_request_that_outlives_the_run_still_needs_you_and_a_later_call_runs() -> None:
    book = EventStory().asks("Bash", decided=None, command="make")
    book.add("run.end", {"status": "completed"})
    assert row_words(fold(book.events)[0]).line == "◆ Bash make  needs you"
    book = EventStory()
    book.add("run.end", {"status": "completed"})
    book.add("tool.pre", {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t"})
    assert row_words(fold(book.events)[-1]).line == "● Bash make  running"


def test_a_plan_shows_its_first_line() -> None:
    book = EventStory()
    given = {"plan": "# Drain node 3\n\n1. Cordon it"}
    book.add("question.request", {"tool_name": "ExitPlanMode", "tool_input": given, "request_id": "q", "form": "plan"})
    assert only_line(book) == "? Plan Drain node 3  asks you"


def withdrawn(reason: str | None) -> dict[str, Any]:
    return {"decision_type": "no_opinion", "status": "withdrawn", "source": "elsewhere", "reason": reason}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"decision_type": "allow", "by": "owner via tui"}, "✓ owner from tui"),
        ({"decision_type": "allow", "by": "owner", "updated_input": {}}, "✓ owner, edited"),
        ({"decision_type": "deny", "by": "owner", "message": "not on\nmain"}, "✗ owner: not on main"),
        ({"decision_type": "deny", "by": "r1", "pattern": "Bash(rm:*)"}, "✗ rule Bash(rm:*)"),
        ({"decision_type": "answer", "by": "owner", "answers": {"Which?": "Redis"}}, "✓ Redis"),
        ({"decision_type": "allow", "source": "elsewhere", "by": "terminal"}, "✓ at the terminal"),
        ({"decision_type": "no_opinion", "status": "withdrawn"}, "· at the terminal"),
        (withdrawn("Quarterdeck stopped: answer at the terminal"), "· at the terminal"),
        (withdrawn("its turn was stopped"), "· its turn was stopped"),
        ({**withdrawn(None), "decision_type": "deny", "message": "Blocked: it ended."}, "✗ it ended"),
        ({"decision_type": "no_opinion", "status": "expired"}, "· nobody answered"),
        ({"decision_type": "no_opinion"}, ""),
        ({"decision_type": "deny", "by": "owner", "late": True}, ""),
        ({"decision_type": "deny", "overrides": True}, "! overridden at the terminal"),
    ],
)
def test_a_decision_takes_a_few_words(data: dict[str, Any], words: str) -> None:
    assert verdict_words(data) == words
