"""The words of a decision: who decided, what the agent reads, and what became of a request that nobody answered."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.decisions import DEFAULT_DENY, Source
from quarterdeck.core.model.event_data.request_data import DecisionData
from quarterdeck.core.text.decision_words import DECIDED, answers_in_words, decision_title


def decision(kind: str, **more: Any) -> Any:
    return DecisionData(request_id="q1", decision_type=kind, source=Source.USER, **{"by": "ann", **more})


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (decision("allow"), "✓ Allowed by ann"),
        (decision("allow", pattern="Bash(ls:*)"), "✓ Allowed by rule Bash(ls:*)"),
        (decision("deny", message="not on main"), "✗ Denied by ann: not on main"),
        (decision("deny", message=DEFAULT_DENY.format(by="ann")), "✗ Denied by ann"),
        (decision("deny", late=True), "· Too late: deny by ann"),
        (decision("allow", overrides=True, note="denied there"), "! Overridden: denied there"),
        (decision("no_opinion", status="withdrawn"), "· Withdrawn: answered elsewhere"),
        (decision("no_opinion", status="expired", by="deadline"), "· Nobody answered in time"),
        (decision("no_opinion"), "· Passed to the terminal"),
    ],
)
def test_a_decision_is_one_line(data: Any, title: str) -> None:
    assert decision_title(data) == title


def test_an_edited_input_is_named() -> None:
    assert decision_title(decision("allow"), ", edited: git push") == "✓ Allowed by ann, edited: git push"


def test_answers_are_one_line_with_their_notes() -> None:
    assert answers_in_words({"Which?": ["a", "b"], "Why?": "so"}, {"Why?": "later"}) == "a, b · so (later)"
    assert answers_in_words(None) == ""


def test_every_type_of_decision_has_a_word() -> None:
    assert set(DECIDED) >= {"allow", "deny", "answer", "block", "ask", "no_opinion"}
