"""The rows of the audit."""

from __future__ import annotations

from quarterdeck.core.model.events import OWN
from quarterdeck.surfaces.terminal.lines.audit_lines import audit_rows
from tests.support.recorded_daemon import (
    NOW,
)


def test_an_audit_entry_names_its_folder() -> None:
    row = {"seq_no": 1, "at": NOW, "who": "owner", "surface": None, "source": "user", "kind": "project.trust"}
    [(_, cells)] = audit_rows([row | {"what": {"path": "/home/ann/shop", "trust": "full"}, "session_id": OWN}])
    assert "/home/ann/shop" in cells


def test_an_audit_entry_shows_its_subject_in_its_row() -> None:
    row = {"seq_no": 1, "at": NOW, "who": "owner", "surface": "tui", "source": "user", "kind": "permission.decision"}
    row |= {"what": {"decision_type": "allow", "tool_name": "Bash"}, "session_id": "s1", "about": "make deploy"}
    [(_, cells)] = audit_rows([row])
    assert "make deploy" in cells
