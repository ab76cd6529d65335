"""The rules of the hub in its store."""

from __future__ import annotations

import sqlite3

import msgspec

from quarterdeck.core.model.rule import Rule
from quarterdeck.wire import write_json


def put_rule(db: sqlite3.Connection, rule: Rule) -> None:
    """Store a new rule."""
    place = db.execute("SELECT coalesce(max(place), 0) + 1 FROM rules").fetchone()[0]
    db.execute("INSERT INTO rules VALUES(?,?,?)", (rule.rule_id, place, write_json(rule).decode()))


def delete_rule(db: sqlite3.Connection, rule_id: str) -> None:
    """Forget a rule."""
    db.execute("DELETE FROM rules WHERE rule_id=?", (rule_id,))


def read_rules(db: sqlite3.Connection) -> list[Rule]:
    """Every rule, oldest first."""
    rows = db.execute("SELECT body FROM rules ORDER BY place")
    return [msgspec.json.decode(body, type=Rule) for (body,) in rows]
