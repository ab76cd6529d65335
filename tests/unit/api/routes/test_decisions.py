"""The answer to a decision that comes too late."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quarterdeck.api.routes.decisions import outcome_words
from quarterdeck.views.resources.decision_view import DecisionView


def decided(decision: str = "allow", by: str = "owner via cli", **more: Any) -> DecisionView:
    names = DecisionView.__struct_fields__
    empty = dict.fromkeys(names) | {"request_id": "r1", "status": "decided", "interrupt": False, "rule_ids": []}
    found = empty | {"decision": decision, "source": "user", "by": by, "also_decided": []} | more
    return msgspec.convert(found, DecisionView)


@pytest.mark.parametrize(
    ("outcome", "winner", "words"),
    [
        ("already_decided", decided(), "already allowed by owner from the command line"),
        ("already_decided", decided("deny", "ann via tui"), "already denied by ann from the terminal UI"),
        ("already_decided", decided("pass", "ann via phone"), "already passed on by ann from phone"),
        ("already_decided", decided("answer", "bot"), "already answered by bot"),
        ("already_decided", decided(by="r_1", source="rule", pattern="Bash(ls)"), "already allowed by rule Bash(ls)"),
        ("withdrawn", decided("pass", reason="answered at the terminal"), "withdrawn: answered at the terminal"),
        ("expired", decided("pass"), "expired"),
        ("withdrawn", None, "withdrawn"),
    ],
)
def test_a_late_decision_learns_who_decided_and_how(outcome: str, winner: DecisionView | None, words: str) -> None:
    assert outcome_words(outcome, winner) == words
