"""The rules of the hub: kept in the log like any rule, so that they hold while the hub is away."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

import structlog
from msgspec import Struct

from quarterdeck.core.engine.messages import AddRule, RemoveRule
from quarterdeck.core.model.rule import EFFECTS, HUB_PREFIX, Rule
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.link.messages import HubRule

HUB = "the hub"
MOST_TEXT = 200
logger = structlog.get_logger("link")


class RuleChanges(Struct, frozen=True):
    """What must change so that the rules here are those of the hub. `refused` counts allow rules that this machine
    does not take."""

    removed: list[str]
    added: list[Rule]
    refused: int


def rule_changes(
    pushed: Sequence[HubRule], present: Mapping[str, Rule], may: Collection[str], at: float
) -> RuleChanges:
    """The changes. An allow rule of the hub needs `rules` in `hub.may`; a deny or ask rule only makes this machine
    more careful, so it is always taken."""
    taken = [rule for rule in pushed if rule.effect != "allow" or "rules" in may]
    wanted = {rule.rule_id: rule for rule in map(_rule, taken) if rule.effect in EFFECTS and _is_current(rule, at)}
    own = {rule_id: rule for rule_id, rule in present.items() if rule.scope == "hub"}
    same = {
        rule_id for rule_id, rule in own.items() if rule_id in wanted and _essence(rule) == _essence(wanted[rule_id])
    }
    return RuleChanges(
        removed=[rule_id for rule_id in own if rule_id not in same],
        added=[rule for rule_id, rule in wanted.items() if rule_id not in same],
        refused=len(pushed) - len(taken),
    )


def _rule(rule: HubRule) -> Rule:
    return Rule(
        rule_id=rule.rule_id if rule.rule_id.startswith(HUB_PREFIX) else f"{HUB_PREFIX}{rule.rule_id}",
        effect=rule.effect,
        pattern=rule.pattern,
        scope="hub",
        created_at=rule.created_at,
        created_by=f"{one_line(rule.created_by)[:MOST_TEXT]} at the hub",
        expires_at=rule.expires_at,
        note=rule.note,
    )


def _essence(rule: Rule) -> tuple[object, ...]:
    return rule.effect, rule.pattern, rule.expires_at, rule.note


def _is_current(rule: Rule, at: float) -> bool:
    return rule.expires_at is None or rule.expires_at > at


class HubRules:
    """Keeps the rules of the hub in this machine's log."""

    def __init__(self, loop: Loop, may: Collection[str]) -> None:
        self._loop, self._may = loop, frozenset(may)
        self.refused = 0

    async def replace(self, pushed: Sequence[HubRule]) -> None:
        """Make these the rules of the hub here."""
        now = time.time()
        changes = rule_changes(pushed, self._loop.state.rules, self._may, now)
        self.refused = changes.refused
        for rule_id in changes.removed:
            await self._loop.command(RemoveRule(rule_id=rule_id, by=HUB, at=now))
        for rule in changes.added:
            reply = await self._loop.command(AddRule(rule=rule, by=rule.created_by, at=now))
            if reply.outcome not in ("applied", "exists"):
                self.refused += 1
                logger.warning("a rule of the hub was not taken", rule_id=rule.rule_id, reason=reply.message)
