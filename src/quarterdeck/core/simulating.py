"""What a rule would have done to the requests of the past, before it is made."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quarterdeck.core.decisions import Source
from quarterdeck.core.judging import subject_of_request
from quarterdeck.core.risk import risk_of
from quarterdeck.core.rule import Rule
from quarterdeck.core.rules import Rulebook
from quarterdeck.core.state import Request, Settings

RISKY = ("high", "critical")


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
    found = []
    for request in requests:
        if request.kind != "stop" and _could_match(rule, request):
            subject = subject_of_request(settings, request)
            if book.verdict(subject, request.opened_at).effect == rule.effect:
                found.append(Decided(request=request, surprise=_surprise(rule, request, settings)))
    return found


def _could_match(rule: Rule, request: Request) -> bool:
    """Whether it is worth reading: a rule for one tool has no say about another."""
    return rule.pattern.partition("(")[0] != "Bash" or request.tool_name == "Bash"


def _surprise(rule: Rule, request: Request, settings: Settings) -> str | None:
    decision = request.decision
    told = decision.decision_type if decision and decision.source in (Source.USER, Source.ELSEWHERE) else None
    by = decision.by if decision else ""
    if rule.effect == "allow" and told in ("deny", "block"):
        return f"{by} denied this"
    if rule.effect == "deny" and told == "allow":
        return f"{by} allowed this"
    if rule.effect != "allow":
        return None
    risk = risk_of(
        request.tool_name, request.tool_input, request.cwd, settings.home, request.path, guarded=settings.guarded
    )
    if risk.level in RISKY:
        return f"{risk.level} risk: {', '.join(risk.reasons)}"
    return None
