"""The decisions that fit a request."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.decisions import ACTIONS
from quarterdeck.core.model.state import Request
from quarterdeck.views.allowed_decisions import decisions_for


def request(kind: str = "permission", form: str | None = None, status: str = "pending", **more: Any) -> Request:
    place: dict[str, Any] = {"session_id": "s1", "run_id": "s1:R1", "event_id": "s1:R1:E1", "seq_no": 1}
    tool: dict[str, Any] = {"hook_name": "", "tool_name": "Bash", "tool_input": {}, "digest": "d"}
    known: dict[str, Any] = {"opened_at": 100.0, "held": True, "waiter": "w", "kind": kind, "form": form}
    return Request(request_id="q1", status=status, **place, **tool, **known, **more)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (request(), ["allow", "deny", "pass"]),
        (request("question", "plan"), ["allow", "deny", "pass"]),
        (request("question", "questions"), ["answer", "deny", "pass"]),
        (request("question", "elicitation"), ["answer", "deny", "pass"]),
        (request("stop"), ["allow", "block", "pass"]),
        (request(status="decided"), []),
    ],
)
def test_a_request_takes_what_fits_its_form(one: Request, words: list[str]) -> None:
    assert decisions_for(one, has_terminal=True) == words
    assert decisions_for(one, has_terminal=False) == [word for word in words if word != "pass"]


@pytest.mark.parametrize("form", ACTIONS)
def test_every_form_can_be_decided(form: str) -> None:
    assert decisions_for(request(form), has_terminal=False)
