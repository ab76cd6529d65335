"""Simulation of a rule before it is added: the past requests it would have decided."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.payload import text
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Request, Settings
from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.patterns.rule_words import BASH
from quarterdeck.core.risk.assess import risk_of
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.rules.verdicts import tool_use_of_request

RISKY = ("high", "critical")
MAX_ASSESSED = 100
"""Requests whose risk is assessed, which takes long. Decisions of a person against the rule are found among all."""


class SimulatedDecision(Struct, frozen=True, kw_only=True):
    """A past request that the rule would have decided. `surprise`: the reason why a person should check it."""

    request: Request
    surprise: str | None = None


class PastPage(Struct, frozen=True, kw_only=True):
    """A page of past requests: the number read, those the rule would have decided, and the number left."""

    seen: int
    decided: list[SimulatedDecision]
    left: int
    next: int | None


def simulate(rule: Rule, requests: Iterable[Request], settings: Settings) -> list[SimulatedDecision]:
    """The requests that this rule alone would have decided, in their order."""
    book = Rulebook.of([rule])
    tool, word = _first_word(rule.pattern)
    results: list[SimulatedDecision] = []
    for request in requests:
        if request.kind != "stop" and _could_match(request, tool, word):
            tool_use = tool_use_of_request(settings, request)
            if book.verdict(tool_use, request.opened_at).effect == rule.effect:
                risk_settings = settings if len(results) < MAX_ASSESSED else None
                results.append(SimulatedDecision(request=request, surprise=_surprise(rule, request, risk_settings)))
    return results


def _first_word(pattern: str) -> tuple[str, str]:
    """The tool of a pattern; for a shell pattern also the program it begins with, if it names one."""
    tool, _, rest = pattern.removesuffix(")").partition("(")
    word = rest.split(" ", 1)[0].removesuffix(":*")
    return tool, word.casefold() if tool == BASH and word.isalnum() else ""


def _could_match(request: Request, tool: str, word: str) -> bool:
    """A cheap test before a request is matched. A shell rule covers no other tool, and one that names a program covers
    no line without that name, unless the shell may make the name."""
    if tool != BASH:
        return True
    if request.tool_kind != ToolKind.SHELL:
        return False
    command = text(request.tool_input, "command").casefold()
    if word in command or not _EXPANSIONS.isdisjoint(command):
        return True
    return not _QUOTING.isdisjoint(command) and word in _QUOTING_SIGNS.sub("", command)


_EXPANSIONS = frozenset("$`*?[{")
_QUOTING = frozenset("\\'\"")
_QUOTING_SIGNS = re.compile(r"\\\n?|['\"]")  # the shell removes these and joins the text around them


def _surprise(rule: Rule, request: Request, settings: Settings | None) -> str | None:
    decision = request.decision
    decided = decision.decision_type if decision and decision.source in (Source.USER, Source.ELSEWHERE) else None
    by = decision.by if decision else ""
    if rule.effect == "allow" and decided in ("deny", "block"):
        return f"{by} denied this"
    if rule.effect == "deny" and decided == "allow":
        return f"{by} allowed this"
    if rule.effect != "allow" or settings is None:
        return None
    place = (request.cwd, settings.home, request.path, settings.guarded)
    risk = request.risk or risk_of(request.tool, request.tool_name, request.tool_input, *place)
    if risk.level in RISKY:
        return f"{risk.level} risk: {', '.join(risk.reasons)}"
    return None
