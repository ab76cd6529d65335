"""The daemon's rules for its surfaces: made for real folders, explained, and simulated on past requests."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from quarterdeck.api.backend import ExplainedUse
from quarterdeck.core.engine.messages import AddRule, AddRules, CommandReply, RemoveRule
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import RuleHits
from quarterdeck.core.model.tool_use import ToolUse
from quarterdeck.core.patterns.rule_words import word_kind
from quarterdeck.core.rules.file_format import RuleSpec, check_rule
from quarterdeck.core.rules.lint import LintFinding, lint
from quarterdeck.core.rules.pattern_suggestions import suggested_patterns
from quarterdeck.core.rules.rulebook import covering_patterns, explain
from quarterdeck.core.rules.simulation import PastPage, simulate
from quarterdeck.core.rules.suggestions import Suggestion, suggestions
from quarterdeck.core.rules.verdicts import rulebook, tool_use_at, tool_use_of_request
from quarterdeck.core.workspace.folder_trust import is_trusted
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.daemon.ingest.symlinks import resolve_paths
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.drivers.registry import Drivers
from quarterdeck.errors import BadRules
from quarterdeck.store.reader import Reader

SUGGESTION_REQUESTS = 2_000
"""How many past requests suggestions are based on."""


class DaemonRules:
    """The rules of one runner."""

    def __init__(self, loop: Loop, reader: Reader, drivers: Drivers) -> None:
        self._loop = loop
        self._drivers = drivers
        self._reader = reader

    def all(self) -> list[tuple[Rule, RuleHits | None]]:
        """Every rule with its hits, oldest first."""
        state = self._loop.state
        ordered = sorted(state.rules.values(), key=lambda r: (r.created_at, r.rule_id))
        return [(rule, state.rule_hits.get(rule.rule_id)) for rule in ordered]

    async def findings(self) -> list[LintFinding]:
        return await asyncio.to_thread(self._findings)

    def _findings(self) -> list[LintFinding]:
        state = self._loop.state
        return lint(state.rules.values(), time.time(), in_hub=state.settings.in_hub)

    async def add(self, spec: RuleSpec, by: str) -> CommandReply:
        rule = await asyncio.to_thread(self._rule, spec, by)
        if isinstance(rule, CommandReply):
            return rule
        return await self._loop.command(AddRule(rule=rule, by=by, at=rule.created_at))

    async def add_many(self, specs: Sequence[RuleSpec], by: str, *, is_trial: bool) -> CommandReply:
        made = await asyncio.to_thread(lambda: [self._rule(spec, by) for spec in specs])
        for place, rule in enumerate(made):
            if isinstance(rule, CommandReply):
                return replace(rule, message=f"rules[{place}].{rule.message}")
        rules = tuple(rule for rule in made if isinstance(rule, Rule))
        return await self._loop.command(AddRules(rules=rules, by=by, at=time.time(), is_trial=is_trial))

    async def remove(self, rule_id: str, by: str) -> CommandReply:
        return await self._loop.command(RemoveRule(rule_id=rule_id, by=by, at=time.time()))

    async def simulate(self, spec: RuleSpec, before: int | None, limit: int) -> PastPage | CommandReply:
        rule = await asyncio.to_thread(self._rule, spec, "?")
        if isinstance(rule, CommandReply):
            return rule
        try:
            check_rule(spec_of(rule), "")
        except BadRules as error:
            return CommandReply(request_id="", outcome="invalid", message=str(error).lstrip("."))
        return await asyncio.to_thread(self._simulate, rule, before, limit)

    def _simulate(self, rule: Rule, before: int | None, limit: int) -> PastPage:
        past, left = self._reader.latest_requests(before, limit)
        ended = [request for request in past if request.status != "pending"]
        decided = simulate(replace(rule, expires_at=None), ended, self._loop.state.settings)
        return PastPage(seen=len(ended), decided=decided, left=left, next=past[-1].seq_no if left else None)

    async def suggestions(self) -> tuple[list[Suggestion], int]:
        """Rules that the latest decisions imply, and the number of requests they are based on."""
        return await asyncio.to_thread(self._suggest)

    def _suggest(self) -> tuple[list[Suggestion], int]:
        past, _ = self._reader.latest_requests(None, SUGGESTION_REQUESTS)
        state = self._loop.state
        return suggestions(past, rulebook(state.rules), state.settings, time.time()), len(past)

    async def explain(
        self,
        request_id: str | None,
        tool_name: str,
        tool_input: dict[str, Any],
        session_id: str | None,
        cwd: str | None,
    ) -> ExplainedUse | None:
        """The verdict of the rules now, and what else is known about the tool use. None for an unknown request."""
        agent = None
        if request_id is None:
            subject = await self._hypothetical_use(tool_name, tool_input, session_id or "", cwd)
        elif request := self._loop.find(request_id):
            subject = tool_use_of_request(self._loop.state.settings, request)
            agent = request.agent
        else:
            return None
        return await asyncio.to_thread(self._explain, subject, agent)

    def _explain(self, subject: ToolUse, agent: str | None) -> ExplainedUse:
        state = self._loop.state
        book, trust = rulebook(state.rules), state.trust
        explanation = explain(
            book, subject, time.time(), untrusted=lambda folder: not is_trusted(trust, folder, "rules")
        )
        own = self._drivers.own_allow_rules(agent, subject.cwd or "") if explanation.verdict.effect is None else ()
        covering = covering_patterns({rule.name for rule in own}, subject)
        return ExplainedUse(
            explanation=explanation,
            patterns=suggested_patterns(subject),
            own_allows=tuple(f"{rule.name} in {rule.file}" for rule in own if rule.name in covering),
        )

    async def _hypothetical_use(
        self, tool_name: str, tool_input: dict[str, Any], session_id: str, cwd: str | None
    ) -> ToolUse:
        state = self._loop.state
        session = state.sessions.get(session_id) or state.ended.get(session_id)
        folder = cwd or (session.context.cwd if session else state.settings.home)
        paths = await asyncio.to_thread(resolve_paths, tool_input, folder)
        return tool_use_at(state.settings, word_kind(tool_name), tool_name, tool_input, session_id, paths)

    def _rule(self, spec: RuleSpec, by: str) -> Rule | CommandReply:
        """The rule as it would be kept: with an id, and a project's real folder. Called in a thread."""
        fields = {name: getattr(spec, name) for name in RuleSpec.__struct_fields__}
        rule = Rule(rule_id=f"r_{secrets.token_hex(6)}", created_at=time.time(), created_by=by, **fields)
        return self._with_real_folder(rule) if rule.scope == "project" else rule

    def _with_real_folder(self, rule: Rule) -> Rule | CommandReply:
        folder = rule.scope_path or self._folder_of(rule.scope_id or "")
        if "\0" in (folder or ""):
            return CommandReply(request_id=rule.rule_id, outcome="invalid", message="scope_path: is not a folder")
        if folder is None or not folder.startswith("/"):
            message = "scope_id: no project with this id is known; give its folder in scope_path, as an absolute path"
            return CommandReply(request_id=rule.rule_id, outcome="invalid", message=message)
        return replace(rule, scope_id=project_id_of(folder), scope_path=os.path.realpath(folder))

    def _folder_of(self, scope_id: str) -> str | None:
        if scope_id.startswith("/"):
            return scope_id
        state = self._loop.state
        known = (s.context.cwd for s in (*state.sessions.values(), *state.ended.values()))
        return next((cwd for cwd in known if project_id_of(cwd) == scope_id), None)


def spec_of(rule: Rule) -> RuleSpec:
    """The spec that a person would write for this rule."""
    return RuleSpec(**{name: getattr(rule, name) for name in RuleSpec.__struct_fields__})
