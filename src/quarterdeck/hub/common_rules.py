"""The rules of the hub: made by people here, kept in its store, and pushed to every machine."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections.abc import Iterable

from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.core.model.event_data.admin_data import RuleAddData, RuleRemoveData
from quarterdeck.core.model.payload import shared_fields
from quarterdeck.core.model.rule import HUB_PREFIX, Rule
from quarterdeck.core.rules.file_format import RuleSpec, check_rule
from quarterdeck.core.rules.lint import LintFinding, lint
from quarterdeck.errors import BadRules, StoreError
from quarterdeck.hub.runners.machine_registry import MachineRegistry
from quarterdeck.hub.store.commit_queue import Change, CommitQueue
from quarterdeck.hub.store.records import HubRecord, add_record
from quarterdeck.hub.store.rule_rows import delete_rule, put_rule, read_rules
from quarterdeck.link.messages import HubRule, RulesMessage
from quarterdeck.wire import write_json

MOST_RULES = 1_000
MOST_BYTES = 4 * 1024 * 1024
"""Limits of the whole list: it goes to a machine in one message, and takes a part of its table of rules."""


class CommonRules:
    """The rules that apply on every machine. A change is in force once it is on disk; every connected machine then
    gets the whole list, and any other one at its next registration."""

    def __init__(self, commits: CommitQueue, registry: MachineRegistry, rules: Iterable[Rule]) -> None:
        self._commits = commits
        self._registry = registry
        self._rules = list(rules)
        self._one_change = asyncio.Lock()  # two equal rules made at once would both be added

    def all(self) -> list[Rule]:
        """Every rule that has not expired, oldest first."""
        now = time.time()
        return [rule for rule in self._rules if not _is_over(rule, now)]

    def named(self, rule_id: str) -> Rule | None:
        """The rule with this id."""
        return next((rule for rule in self.all() if rule.rule_id == rule_id), None)

    def message(self) -> RulesMessage:
        """The list as a machine gets it."""
        return _message(self.all())

    async def findings(self) -> list[LintFinding]:
        """Conflicts, and rules that never apply."""
        rules = self.all()
        return await asyncio.to_thread(lambda: lint(rules, time.time()))

    async def add(self, spec: RuleSpec, by: str) -> CommandReply:
        """Add a rule, after the checks that a daemon makes."""
        async with self._one_change:
            now = time.time()
            rule = Rule(
                rule_id=f"{HUB_PREFIX}{secrets.token_hex(6)}",
                created_at=now,
                created_by=by,
                **shared_fields(spec, RuleSpec),
            )
            if problem := _problem(spec, now) or self._list_problem(rule):
                return CommandReply(request_id=rule.rule_id, outcome="invalid", message=problem)
            if same := next((one for one in self.all() if _identity(one) == _identity(rule)), None):
                message = f"{same.rule_id} is the same rule"
                return CommandReply(request_id=rule.rule_id, outcome="exists", message=message, rule=same)
            added = RuleAddData(by=by, **shared_fields(rule, RuleAddData))
            return await self._change(rule, lambda db: put_rule(db, rule), _record("rule.add", rule, by, added))

    async def remove(self, rule_id: str, by: str) -> CommandReply:
        """Remove a rule, here and on every machine."""
        async with self._one_change:
            rule = self.named(rule_id)
            if rule is None:
                return CommandReply(request_id=rule_id, outcome="not_found", message=f"no such rule: {rule_id}")
            return await self._change(rule, lambda db: delete_rule(db, rule_id), _removal(rule, by, "removed"))

    def _list_problem(self, rule: Rule) -> str | None:
        rules = [*self.all(), rule]
        if len(rules) > MOST_RULES:
            return f"pattern: a hub has at most {MOST_RULES} rules; remove some first"
        if len(write_json(_message(rules))) > MOST_BYTES:
            return f"pattern: the rules of a hub have at most {MOST_BYTES >> 20} MiB in all; remove some first"
        return None

    async def _change(self, rule: Rule, change: Change[None], record: HubRecord) -> CommandReply:
        """Make a change with its record, take out what has expired, and push the list."""

        def store(db: sqlite3.Connection) -> list[Rule]:
            now = time.time()
            change(db)
            add_record(db, record)
            for one in read_rules(db):
                if _is_over(one, now):
                    delete_rule(db, one.rule_id)
                    add_record(db, _removal(one, "system", "expired"))
            return read_rules(db)

        try:
            self._rules = await self._commits.submit(store)
        except StoreError as error:
            return CommandReply(request_id=rule.rule_id, outcome="not_recorded", message=str(error))
        message = self.message()
        for state in self._registry.connected():
            if state.connection is not None:
                state.connection.send(message)
        return CommandReply(request_id=rule.rule_id, outcome="applied", rule=rule)


def _message(rules: Iterable[Rule]) -> RulesMessage:
    return RulesMessage(rules=[HubRule(**shared_fields(rule, HubRule)) for rule in rules])


def _problem(spec: RuleSpec, now: float) -> str | None:
    try:
        check_rule(spec, "")
    except BadRules as error:
        return str(error).lstrip(".")
    return None if spec.expires_at is None or spec.expires_at > now else "expires_at: is in the past"


def _identity(rule: Rule) -> tuple[str, str]:
    return rule.effect, rule.pattern


def _is_over(rule: Rule, now: float) -> bool:
    return rule.expires_at is not None and rule.expires_at <= now


def _removal(rule: Rule, by: str, why: str) -> HubRecord:
    return _record("rule.remove", rule, by, RuleRemoveData(by=by, why=why, **shared_fields(rule, RuleRemoveData)))


def _record(kind: str, rule: Rule, by: str, data: RuleAddData | RuleRemoveData) -> HubRecord:
    who, _, surface = by.partition(" via ")
    fields = shared_fields(data, type(data))
    what = {name: value for name, value in fields.items() if name != "by" and value is not None}
    about = f"{rule.effect} {rule.pattern}"
    return HubRecord(kind=kind, at=time.time(), who=who, surface=surface or None, about=about, what=what)
