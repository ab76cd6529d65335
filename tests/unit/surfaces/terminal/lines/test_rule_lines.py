"""Rules as rows, and their verdicts as lines."""

from __future__ import annotations

from quarterdeck.surfaces.terminal.lines.rule_lines import explanation_lines, rule_rows, simulation_lines
from quarterdeck.surfaces.terminal.styled_text import fold, plain
from tests.support.recorded_daemon import NOW


def test_rules_are_shown_as_a_table() -> None:
    rule = {
        "rule_id": "r1",
        "effect": "allow",
        "pattern": "Bash(ls:*)",
        "scope": "project",
        "scope_id": "p_1",
        "scope_path": "/w/shop",
        "hits": 12,
        "last_hit_at": NOW - 5,
        "expires_at": None,
        "created_by": "owner via tui",
        "note": None,
    }
    (key, cells), *_ = rule_rows([rule], NOW)
    assert key == "r1"
    assert cells[2:6] == ("in shop", "12", "5 s ago", "forever")
    considered = [{"rule": rule, "matched": True, "why": "covers ls"}]
    found = {"effect": "allow", "rules": [rule], "reasons": [], "considered": considered, "patterns": ["Bash(ls)"]}
    assert "allow: Bash(ls:*)" in plain(fold(explanation_lines(found), 100))
    explanation = plain(fold(explanation_lines(found | {"effect": None, "reasons": ["it writes"]}), 100))
    assert "A person is asked: it writes" in explanation
    past = {"subject": "ls -l", "decision": "deny", "by": "owner", "surprise": "you denied it"}
    assert "you denied it" in plain(fold(simulation_lines(rule, 9, 1, [past], [past]), 100))
