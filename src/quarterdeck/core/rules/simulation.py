"""What a rule would have done to the requests of the past, before it is made."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.payload import text
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Request, Settings
from quarterdeck.core.risk.assess import risk_of
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.rules.verdicts import subject_of_request

RISKY = ("high", "critical")
JUDGED = 100
"""How many are looked into for their risk; what a person decided against the rule is found among all."""


class Decided(Struct, frozen=True, kw_only=True):
    """One past request that the rule would have decided. `surprise` says why somebody should look at it."""

    request: Request
    surprise: str | None = None


class PastPage(Struct, frozen=True, kw_only=True):
    """A page of the past: how many requests it holds, which the rule would have decided, and what is left."""

    seen: int
    decided: list[Decided]
    left: int
    next: int | None


def decided_by(rule: Rule, requests: Iterable[Request], settings: Settings) -> list[Decided]:
    """The requests that this rule alone would have decided, in the order given."""
    book = Rulebook.of([rule])
    tool, word = _first_word(rule.pattern)
    found: list[Decided] = []
    for request in requests:
        if request.kind != "stop" and _could_match(request, tool, word):
            subject = subject_of_request(settings, request)
            if book.verdict(subject, request.opened_at).effect == rule.effect:
                judged = settings if len(found) < JUDGED else None
                found.append(Decided(request=request, surprise=_surprise(rule, request, judged)))
    return found


def _first_word(pattern: str) -> tuple[str, str]:
    """The tool of a pattern, and of a shell pattern the program it begins with, where it names one."""
    tool, _, rest = pattern.removesuffix(")").partition("(")
    word = rest.split(" ", 1)[0].removesuffix(":*")
    return tool, word.casefold() if tool == "Bash" and word.isalnum() else ""


def _could_match(request: Request, tool: str, word: str) -> bool:
    """Whether it is worth reading: a rule for the shell has no say about another tool, and one that names a program
    none about a line that nowhere does, unless the shell may make the name."""
    if tool != "Bash":
        return True
    if request.tool_name != "Bash":
        return False
    command = text(request.tool_input, "command").casefold()
    if word in command or not _MADE.isdisjoint(command):
        return True
    return not _QUOTING.isdisjoint(command) and word in _QUOTED.sub("", command)


_MADE = frozenset("$`*?[{")
_QUOTING = frozenset("\\'\"")
_QUOTED = re.compile(r"\\\n?|['\"]")  # what the shell takes away, and joins what stands around it


def _surprise(rule: Rule, request: Request, settings: Settings | None) -> str | None:
    decision = request.decision
    told = decision.decision_type if decision and decision.source in (Source.USER, Source.ELSEWHERE) else None
    by = decision.by if decision else ""
    if rule.effect == "allow" and told in ("deny", "block"):
        return f"{by} denied this"
    if rule.effect == "deny" and told == "allow":
        return f"{by} allowed this"
    if rule.effect != "allow" or settings is None:
        return None
    risk = risk_of(
        request.tool_name, request.tool_input, request.cwd, settings.home, request.path, guarded=settings.guarded
    )
    if risk.level in RISKY:
        return f"{risk.level} risk: {', '.join(risk.reasons)}"
    return None
