"""Rules of the hub: checked as on a daemon, recorded, and pushed as a whole to every connected machine."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.core.rules.file_format import RuleSpec
from quarterdeck.hub import common_rules
from quarterdeck.hub.store.records import RecordQuery, is_chain_sound, list_records
from quarterdeck.hub.store.rule_rows import put_rule, read_rules
from quarterdeck.link.messages import RulesMessage
from tests.support.hub_parts import hub_parts

DENY = RuleSpec(effect="deny", pattern="Bash(rm:*)", scope="hub", note="not here")


@pytest.mark.law("H10")
async def test_every_change_is_recorded_and_pushed_as_the_whole_list(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        one = await hub.joined("one")
        assert one.last(RulesMessage).rules == []
        made = (await hub.rules.add(DENY, "ann via cli")).rule
        assert made is not None
        ask = RuleSpec(effect="ask", pattern="Bash(git push:*)", scope="hub")
        await hub.rules.add(ask, "bob")
        assert [(rule.effect, rule.note) for rule in one.last(RulesMessage).rules] == [
            ("deny", "not here"),
            ("ask", None),
        ]
        late = await hub.joined("two")
        assert late.last(RulesMessage) == one.last(RulesMessage) == hub.rules.message()
        assert (await hub.rules.remove(made.rule_id, "bob")).outcome == "applied"
        assert [rule.effect for rule in late.last(RulesMessage).rules] == ["ask"]
        assert read_rules(hub.db) == hub.rules.all()
        assert (await hub.rules.remove(made.rule_id, "bob")).outcome == "not_found"
        records = [one.record for one in list_records(hub.db, RecordQuery(kinds=("rule.add", "rule.remove")))]
        assert [(one.kind, one.who, one.surface) for one in records] == [
            ("rule.add", "ann", "cli"),
            ("rule.add", "bob", None),
            ("rule.remove", "bob", None),
        ]
        assert records[0].what == {
            **{"rule_id": made.rule_id, "effect": "deny", "pattern": "Bash(rm:*)", "scope": "hub", "note": "not here"}
        }
        assert is_chain_sound(hub.db)


@pytest.mark.parametrize(
    "spec",
    [
        RuleSpec(effect="deny", pattern="Bash(", scope="hub"),
        RuleSpec(effect="allow", pattern="Bash(ls:*)", scope="hub", scope_id="s1"),
        RuleSpec(effect="deny", pattern="Bash(rm:*)", scope="hub", expires_at=5.0),
    ],
)
async def test_an_invalid_rule_is_neither_kept_nor_pushed(tmp_path: Path, spec: RuleSpec) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("one")
        sent = len(runner.sent)
        assert (await hub.rules.add(spec, "ann")).outcome == "invalid"
        assert (hub.rules.all(), read_rules(hub.db), len(runner.sent)) == ([], [], sent)
        assert list_records(hub.db, RecordQuery()) == []


async def test_the_same_rule_made_twice_at_once_is_one_rule(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        replies = await asyncio.gather(*(hub.rules.add(DENY, "ann") for _ in range(3)))
        assert sorted(reply.outcome for reply in replies) == ["applied", "exists", "exists"]
        assert {reply.rule for reply in replies} == set(hub.rules.all())


async def test_the_list_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hub_parts(tmp_path) as hub:
        monkeypatch.setattr(common_rules, "MOST_RULES", 1)
        await hub.rules.add(DENY, "ann")
        more = RuleSpec(effect="deny", pattern="Bash(mv:*)", scope="hub")
        assert (await hub.rules.add(more, "ann")).outcome == "invalid"
        monkeypatch.undo()
        monkeypatch.setattr(common_rules, "MOST_BYTES", 100)
        assert (await hub.rules.add(more, "ann")).outcome == "invalid"
        assert len(hub.rules.all()) == 1


async def test_a_rule_that_has_expired_is_taken_out_with_a_record(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        rule = (await hub.rules.add(RuleSpec(effect="deny", pattern="Write", expires_at=time.time() + 60), "ann")).rule
        assert rule is not None
        put_rule(hub.db, replace(rule, rule_id="hub_old", expires_at=5.0))
        await hub.rules.add(DENY, "ann")
        assert [one.pattern for one in read_rules(hub.db)] == [rule.pattern, DENY.pattern]
        [gone] = list_records(hub.db, RecordQuery(kinds=("rule.remove",)))
        assert (gone.record.who, gone.record.what["why"], gone.record.what["rule_id"]) == (
            "system",
            "expired",
            "hub_old",
        )
