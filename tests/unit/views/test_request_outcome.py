"""The outcome of a request as a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.event_data.request_data import DecisionData
from quarterdeck.core.model.state import Request
from quarterdeck.views.request_outcome import outcome
from tests.unit.views.test_allowed_decisions import request


def ended(kind: str, source: Source, by: str = "owner via phone", status: str = "decided", **more: Any) -> Request:
    made = DecisionData(request_id="q1", decision_type=kind, source=source, by=by, status=status, **more)
    return request(status=status, decision=made, decided_at=102.5, expires_at=100.0 + 86400)


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (request(), "Waiting"),
        (request(status="withdrawn"), "Ended"),
        (ended("deny", Source.USER), "Denied by owner from phone"),
        (ended("ask", Source.USER), "Passed on by owner from phone"),
        (ended("no_opinion", Source.USER), "Passed on by owner from phone"),
        (ended("allow", Source.USER, updated_input={}), "Allowed, edited, by owner from phone"),
        (ended("answer", Source.USER, answers={"Which?": ["a", "b"]}), "Answered “a, b” by owner from phone"),
        (ended("allow", Source.RULE, pattern="Bash(ls:*)"), "Allowed by rule Bash(ls:*) · 2.5 s"),
        (ended("no_opinion", Source.ELSEWHERE, status="withdrawn"), "Answered at the terminal"),
        (ended("no_opinion", Source.ELSEWHERE, reason="it ended"), "It ended"),
        (ended("deny", Source.ELSEWHERE, status="withdrawn", message="Blocked: it ended."), "Blocked: it ended"),
    ],
)
def test_the_outcome_is_a_sentence(one: Request, sentence: str) -> None:
    assert outcome(one) == sentence


def test_a_request_that_nobody_answered_names_its_limit() -> None:
    one = ended("deny", Source.TIMEOUT, by="deadline", status="expired")
    assert outcome(one) == "Nobody answered within 2.5 s"
