"""The words for a row of the audit."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.events import AUDIT_KINDS
from quarterdeck.surfaces.text.audit_labels import DONE, deed, doer


@pytest.mark.parametrize(
    ("kind", "what", "said"),
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
def test_a_deed_has_its_word(kind: str, what: dict[str, Any], said: str) -> None:
    assert deed({"kind": kind, "what": what}) == said


def test_every_kind_has_one() -> None:
    by_data = {"project.trust", "plugin.change", "mcp.change"}
    assert {kind for kind in AUDIT_KINDS if not kind.endswith(".decision")} == set(DONE) | by_data


def test_who_did_it_is_named_with_the_surface() -> None:
    assert doer({"who": "ann", "surface": "cli"}) == "ann via cli"
    assert doer({"who": "rule", "surface": None}) == "rule"
