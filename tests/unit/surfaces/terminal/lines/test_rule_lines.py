"""Rules as rows, and their verdicts as lines."""

from __future__ import annotations

from typing import Any

from quarterdeck.surfaces.terminal.lines.rule_lines import add_simulated, explanation_lines, rule_rows, simulation_lines
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
    found |= {"own_allows": []}
    shown = plain(fold(explanation_lines(found), 100))
    assert shown.splitlines() == [
        "Allowed by rule Bash(ls:*) · in /w/shop",
        "  ✓ allow Bash(ls:*) · in /w/shop · covers ls",
        "Possible patterns for a rule: Bash(ls)",
    ]
    assert plain(fold(explanation_lines(found, is_whole=False), 100)) == shown.splitlines()[0]
    unknown = found | {"effect": None, "rules": [], "own_allows": ["Bash(ls:*) in settings.json"]}
    words = plain(fold(explanation_lines(unknown | {"reasons": ["it writes"]}, is_whole=False), 100))
    assert words.splitlines() == [
        "Asks you: it writes",
        "The agent's own settings allow it: Bash(ls:*) in settings.json.",
    ]
    assert plain(fold(explanation_lines(unknown, is_whole=False), 100)).startswith("Asks you: no rule is about this")


def test_the_result_of_a_simulation_adds_up_page_by_page() -> None:
    past = {"at": NOW, "tool_name": "Bash", "subject": "ls -l", "surprise": "you denied it"}
    page = {"seen": 30, "decided": 4, "surprises": [past], "examples": [past | {"surprise": None}], "left": 0}
    empty: dict[str, Any] = {"seen": 0, "decided": 0, "surprises": [], "examples": []}
    result = add_simulated(add_simulated(empty, page), page)
    assert (result["seen"], result["decided"], len(result["surprises"]), len(result["examples"])) == (60, 8, 2, 2)
    first, *rows, last = plain(fold(simulation_lines(result, "deny"), 100)).splitlines()
    assert first == "Of the last 60 requests it would have denied 8."
    assert [row.strip()[0] for row in rows[:2]] == ["!", "!"]
    assert rows[0].endswith("Bash  ls -l · you denied it")
    assert (len(rows), last) == (4, "  … and 4 more")
    assert plain(fold(simulation_lines(empty, "deny"), 100)) == "There are no past requests to try it on."
