"""The daemon's rules for its surfaces: made for real folders, explained, and tried on the past."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.messages import AddRule, AddRules, RemoveRule, Reply, TrustProject
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Hits
from quarterdeck.core.model.tool_use import Subject
from quarterdeck.core.rules.file_format import RuleWanted, check_rule
from quarterdeck.core.rules.lint import Finding, findings
from quarterdeck.core.rules.pattern_suggestions import patterns_for
from quarterdeck.core.rules.rulebook import Explanation, explain
from quarterdeck.core.rules.simulation import PastPage, decided_by
from quarterdeck.core.rules.suggestions import Suggestion, suggestions
from quarterdeck.core.rules.verdicts import UNTRUSTED, rulebook, subject_at, subject_of_request
from quarterdeck.core.workspace.project_config import Looked
from quarterdeck.core.workspace.projects import is_trusted, project_id_of
from quarterdeck.daemon.ingest.symlinks import places_of
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.drivers.claude.project_config import brought_by
from quarterdeck.errors import BadRules
from quarterdeck.store.reader import Reader

LOOKED_AT = 2_000
"""How many past requests suggestions rest on."""


class RuleDesk:
    """Rules of one runner."""

    def __init__(self, loop: Loop, reader: Reader) -> None:
        self._loop = loop
        self._reader = reader

    def rules(self) -> list[tuple[Rule, Hits | None]]:
        """Every rule with its hits, the oldest first."""
        state = self._loop.state
        ordered = sorted(state.rules.values(), key=lambda r: (r.created_at, r.rule_id))
        return [(rule, state.rule_hits.get(rule.rule_id)) for rule in ordered]

    async def rule_findings(self) -> list[Finding]:
        return await asyncio.to_thread(findings, self._loop.state.rules.values(), time.time())

    async def add_rule(self, wanted: RuleWanted, by: str) -> Reply:
        rule = await asyncio.to_thread(self._rule, wanted, by)
        if isinstance(rule, Reply):
            return rule
        return await self._loop.command(AddRule(rule=rule, by=by, at=rule.created_at))

    async def add_rules(self, wanted: Sequence[RuleWanted], by: str, *, is_trial: bool) -> Reply:
        made = await asyncio.to_thread(lambda: [self._rule(one, by) for one in wanted])
        for place, rule in enumerate(made):
            if isinstance(rule, Reply):
                return replace(rule, message=f"rules[{place}].{rule.message}")
        rules = tuple(rule for rule in made if isinstance(rule, Rule))
        return await self._loop.command(AddRules(rules=rules, by=by, at=time.time(), is_trial=is_trial))

    async def remove_rule(self, rule_id: str, by: str) -> Reply:
        return await self._loop.command(RemoveRule(rule_id=rule_id, by=by, at=time.time()))

    async def trust_project(self, path: str, trust: str, by: str) -> Reply:
        real = await asyncio.to_thread(os.path.realpath, path)
        return await self._loop.command(TrustProject(path=real, trust=trust, by=by, at=time.time()))

    async def trusted_folder(self, path: str) -> str | None:
        if "\0" in path:
            return None
        real = await asyncio.to_thread(os.path.realpath, path)
        there = await asyncio.to_thread(os.path.isdir, real)
        return real if there and self._loop.state.trust.get(real) == "full" else None

    async def brings(self, path: str) -> Looked | None:
        if "\0" in path:
            return None
        real = await asyncio.to_thread(os.path.realpath, path)
        if not await asyncio.to_thread(os.path.isdir, real):
            return None
        found = await asyncio.to_thread(brought_by, real)
        return Looked(path=real, trusted=is_trusted(self._loop.state.trust, real), brings=found)

    def trust_in(self, path: str) -> str | None:
        return self._loop.state.trust.get(path)

    async def simulate(self, wanted: RuleWanted, before: int | None, limit: int) -> PastPage | Reply:
        rule = await asyncio.to_thread(self._rule, wanted, "?")
        if isinstance(rule, Reply):
            return rule
        try:
            check_rule(wanted_of(rule), "")
        except BadRules as error:
            return Reply(request_id="", outcome="invalid", message=str(error).lstrip("."))
        return await asyncio.to_thread(self._look_back, rule, before, limit)

    def _look_back(self, rule: Rule, before: int | None, limit: int) -> PastPage:
        past, left = self._reader.latest_requests(before, limit)
        decided = decided_by(replace(rule, expires_at=None), past, self._loop.state.settings)
        return PastPage(seen=len(past), decided=decided, left=left, next=past[-1].seq_no if left else None)

    async def suggestions(self) -> tuple[list[Suggestion], int]:
        """Rules that the latest decisions imply, and how many requests were looked at."""
        return await asyncio.to_thread(self._suggest)

    def _suggest(self) -> tuple[list[Suggestion], int]:
        past, _ = self._reader.latest_requests(None, LOOKED_AT)
        state = self._loop.state
        return suggestions(past, rulebook(state.rules), state.settings, time.time()), len(past)

    async def explain(
        self,
        request_id: str | None,
        tool_name: str,
        tool_input: dict[str, Any],
        session_id: str | None,
        cwd: str | None,
    ) -> tuple[Explanation, tuple[str, ...]] | None:
        """What the rules say now, and the patterns that could be remembered; None for a request there is not."""
        if request_id is None:
            subject = await self._imagined(tool_name, tool_input, session_id or "", cwd)
        elif request := self._loop.find(request_id):
            subject = subject_of_request(self._loop.state.settings, request)
        else:
            return None
        return await asyncio.to_thread(self._explained, subject)

    def _explained(self, subject: Subject) -> tuple[Explanation, tuple[str, ...]]:
        state = self._loop.state
        book, trust = rulebook(state.rules), state.trust
        found = explain(book, subject, time.time(), untrusted=lambda folder: trust.get(folder) == UNTRUSTED)
        return found, patterns_for(subject)

    async def _imagined(self, tool_name: str, tool_input: dict[str, Any], session_id: str, cwd: str | None) -> Subject:
        state = self._loop.state
        session = state.sessions.get(session_id) or state.ended.get(session_id)
        folder = cwd or (session.context.cwd if session else state.settings.home)
        places = await asyncio.to_thread(places_of, tool_input, folder)
        return subject_at(state.settings, tool_name, tool_input, session_id, places)

    def _rule(self, wanted: RuleWanted, by: str) -> Rule | Reply:
        """The rule as it would be kept: with an id, and a project's real folder. Called in a thread."""
        rule = Rule(
            rule_id=f"r_{secrets.token_hex(6)}",
            effect=wanted.effect,
            pattern=wanted.pattern,
            scope=wanted.scope,
            created_at=time.time(),
            created_by=by,
            scope_id=wanted.scope_id,
            scope_path=wanted.scope_path,
            expires_at=wanted.expires_at,
            note=wanted.note,
        )
        return self._placed(rule) if rule.scope == "project" else rule

    def _placed(self, rule: Rule) -> Rule | Reply:
        folder = rule.scope_path or self._folder_of(rule.scope_id or "")
        if "\0" in (folder or ""):
            return Reply(request_id=rule.rule_id, outcome="invalid", message="scope_path: is no folder")
        if folder is None or not folder.startswith("/"):
            message = "scope_id: no project has been seen by that id; name its folder in scope_path, from the root"
            return Reply(request_id=rule.rule_id, outcome="invalid", message=message)
        return replace(rule, scope_id=project_id_of(folder), scope_path=os.path.realpath(folder))

    def _folder_of(self, scope_id: str) -> str | None:
        if scope_id.startswith("/"):
            return scope_id
        state = self._loop.state
        known = (s.context.cwd for s in (*state.sessions.values(), *state.ended.values()))
        return next((cwd for cwd in known if project_id_of(cwd) == scope_id), None)


def wanted_of(rule: Rule) -> RuleWanted:
    """What somebody would write to have this rule."""
    return RuleWanted(**{name: getattr(rule, name) for name in RuleWanted.__struct_fields__})
