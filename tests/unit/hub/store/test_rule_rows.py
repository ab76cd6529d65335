"""Rules are kept in the order in which they were made."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from quarterdeck.core.model.rule import Rule
from quarterdeck.hub.store.hub_schema import open_hub_store
from quarterdeck.hub.store.rule_rows import delete_rule, put_rule, read_rules


def test_rules_are_kept_in_their_order_until_they_are_deleted(tmp_path: Path) -> None:
    made = [
        Rule(rule_id=name, effect="deny", pattern="Bash(rm:*)", scope="hub", created_at=1.0, created_by="ann", note="é")
        for name in ("hub_2", "hub_1")
    ]
    with closing(open_hub_store(tmp_path / "hub.db")) as db:
        for rule in made:
            put_rule(db, rule)
    with closing(open_hub_store(tmp_path / "hub.db")) as db:
        assert read_rules(db) == made
        delete_rule(db, "hub_2")
        assert read_rules(db) == made[1:]
