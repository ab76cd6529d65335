"""The labels of audit rows."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.events import AUDIT_KINDS
from quarterdeck.surfaces.text.audit_labels import DONE, audit_action, audit_actor, audit_session, audit_source


@pytest.mark.parametrize(
    ("kind", "what", "label"),
    [
        ("permission.decision", {"decision_type": "allow", "status": "decided"}, "allowed"),
        ("permission.decision", {"decision_type": "no_opinion", "status": "withdrawn"}, "withdrawn"),
        ("permission.decision", {"decision_type": "no_opinion", "status": "expired"}, "not answered"),
        ("permission.decision", {"decision_type": "deny", "status": "decided", "late": True}, "too late: denied"),
        ("project.trust", {"trust": "full"}, "trusted"),
        ("mcp.change", {"action": "add", "outcome": "failed"}, "add failed"),
        ("of.another.day", {}, "of.another.day"),
    ],
)
def test_an_action_has_its_label(kind: str, what: dict[str, Any], label: str) -> None:
    assert audit_action({"kind": kind, "what": what}) == label


def test_every_kind_has_a_label() -> None:
    by_data = {"project.trust", "plugin.change", "mcp.change"}
    assert {kind for kind in AUDIT_KINDS if not kind.endswith(".decision")} == set(DONE) | by_data


def test_the_actor_is_shown_with_its_surface() -> None:
    assert audit_actor({"who": "ann", "surface": "cli", "source": "user", "what": {}}) == "ann via cli"
    assert audit_actor({"who": "rule", "surface": None, "source": "system", "what": {}}) == "rule"


def test_a_rule_that_decided_is_shown_by_its_pattern() -> None:
    row = {"who": "r_959fb25d3026", "surface": None, "source": "rule", "what": {"pattern": "Bash(mkdir:*)"}}
    assert audit_actor(row) == "rule Bash(mkdir:*)"


def test_an_answer_in_the_agents_terminal_is_called_so() -> None:
    assert [audit_source({"source": source}) for source in ("elsewhere", "user")] == ["terminal", "user"]


@pytest.mark.parametrize(
    ("session_id", "what", "shown"),
    [
        ("3d09e067-1", {}, "3d09e067"),
        ("quarterdeck", {}, ""),
        ("quarterdeck", {"scope": "session", "scope_id": "3d09e067-1"}, "3d09e067"),
        ("quarterdeck", {"scope": "session"}, ""),
        ("quarterdeck", {"scope": "project", "scope_id": "p_1"}, ""),
    ],
)
def test_the_session_of_a_row_may_be_that_of_its_rule(session_id: str, what: dict[str, Any], shown: str) -> None:
    assert audit_session({"session_id": session_id, "what": what}) == shown
