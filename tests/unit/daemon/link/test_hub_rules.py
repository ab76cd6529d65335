"""The rules of the hub, compared with those that are here."""

from __future__ import annotations

import pytest

from quarterdeck.core.model.rule import Rule
from quarterdeck.daemon.link.hub_rules import rule_changes
from quarterdeck.link.messages import HubRule


def pushed(rule_id: str = "r1", effect: str = "deny", pattern: str = "Bash(rm:*)", **more: float) -> HubRule:
    return HubRule(rule_id=rule_id, effect=effect, pattern=pattern, created_at=1.0, created_by="Ada", **more)  # type: ignore[arg-type]


def test_a_new_rule_is_marked_with_its_origin() -> None:
    [rule] = rule_changes([pushed()], {}, (), 5.0).added
    assert (rule.rule_id, rule.scope, rule.created_by) == ("hub_r1", "hub", "Ada at the hub")


def test_a_rule_that_is_here_stays_and_others_of_the_hub_go() -> None:
    [rule] = rule_changes([pushed()], {}, (), 5.0).added
    own = Rule(rule_id="own", effect="deny", pattern="Bash", scope="user", created_at=1.0, created_by="ann")
    present = {"hub_r1": rule, "own": own}
    assert rule_changes([pushed()], present, (), 5.0).added == []
    assert rule_changes([pushed()], present, (), 5.0).removed == []
    changes = rule_changes([pushed(pattern="Bash(mv:*)")], present, (), 5.0)
    assert (changes.removed, [one.pattern for one in changes.added]) == (["hub_r1"], ["Bash(mv:*)"])
    assert rule_changes([], present, (), 5.0).removed == ["hub_r1"]


@pytest.mark.law("H10")
def test_an_allow_needs_a_grant_and_a_restriction_none() -> None:
    rules = [pushed("r1", "allow"), pushed("r2", "deny"), pushed("r3", "ask")]
    changes = rule_changes(rules, {}, ("observe", "approve"), 5.0)
    assert [rule.effect for rule in changes.added] == ["deny", "ask"]
    assert changes.refused == 1
    assert len(rule_changes(rules, {}, ("rules",), 5.0).added) == 3


def test_an_expired_or_an_unknown_rule_is_not_taken() -> None:
    assert rule_changes([pushed(expires_at=4.0), pushed("r2", "whatever")], {}, (), 5.0).added == []
