"""The card of a request: everything needed for a good decision, in one view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, convert

from quarterdeck.core.model.rule import Verdict
from quarterdeck.core.model.state import Request, Session
from quarterdeck.views.code_colours import ColouredLine
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.request_view import RequestFacts, RequestView, RiskView, whole_request_view

if TYPE_CHECKING:  # it loads the parsers of shell lines, which no client needs
    from quarterdeck.core.risk.breakdown import RequestBreakdown


class CallView(Struct, kw_only=True):
    """One command of a shell line: `text` as written, `words` after the shell's quoting, `via` the program that runs
    it, and the risk of this command alone."""

    text: str
    words: list[str]
    via: str
    piped: bool
    risk: RiskView


class CommandView(Struct, kw_only=True):
    """A shell line broken down. `doubts` say why no allow rule can cover it, `writes` are the files it writes to,
    `more` is the number of commands left out."""

    calls: list[CallView]
    doubts: list[str]
    writes: list[str]
    more: int


class ChangeView(Struct, kw_only=True):
    """The change shown in `diff`. `compared` means that the diff is against the file's current content, `cut` that
    lines are left out (the input has them all); `notes` are warnings for the reader. `colours` has the pieces of each
    line of the diff below its two names, without the sign: their lengths, and comment, decorator, keyword, name,
    number, string or nothing; no pieces for a line without colours."""

    path: str
    added: int
    removed: int
    compared: bool
    cut: bool
    notes: list[str]
    colours: list[list[tuple[int, str]]]


class RunView(Struct, kw_only=True):
    """The run a request belongs to, with its prompt."""

    run_id: str
    prompt: str | None
    started_at: float


class RequestSession(Struct, kw_only=True):
    """The session a request belongs to."""

    title: str
    cwd: str
    model: str | None
    agent_state: str


class RulesView(Struct, kw_only=True):
    """The verdict of the rules now: the rules that decide, or the reasons why none does. `patterns` are those a rule
    could be made with, narrowest first. `trust` is the trust in its folder: none, rules or full. It is null when it was
    never set there or above; then the first rule of the project sets it to rules. `own_allows` are the rules of the
    agent's own settings that allow the tool use while no rule here does, each with its file."""

    effect: str | None
    rules: list[str]
    reasons: list[str]
    patterns: list[str]
    trust: str | None
    own_allows: list[str]


class CardView(RequestView, kw_only=True):
    """One request with everything known about it. `diff` is an edit as a unified diff, and `change` describes it;
    `command` is a shell line broken down; `others_waiting` counts the other pending requests; `rule` is the verdict of
    the rules now, null when the request is not pending."""

    diff: str | None
    change: ChangeView | None
    command: CommandView | None
    session: RequestSession | None
    run: RunView | None
    age_seconds: float
    others_waiting: int
    rule: RulesView | None


def card_view(
    request: Request,
    facts: RequestFacts,
    breakdown: RequestBreakdown,
    *,
    session: Session | None,
    colours: list[ColouredLine],
    at: float,
    others_waiting: int,
    rule: RulesView | None,
) -> CardView:
    """A request with everything known about it at this time. `colours` are those of the change's diff."""
    change = breakdown.change
    ended = request.decided_at if request.status != "pending" else None
    return whole_request_view(
        CardView,
        request,
        facts,
        risk=struct_of(RiskView, breakdown.risk),
        diff=change.diff if change else None,
        change=struct_of(ChangeView, change, colours=colours) if change else None,
        command=convert(breakdown.command, CommandView | None, from_attributes=True),
        session=struct_of(RequestSession, session, cwd=session.context.cwd) if session else None,
        run=_run_view(request, session),
        age_seconds=round(max(0.0, (ended or at) - request.opened_at), 3),
        others_waiting=others_waiting,
        rule=rule,
    )


def rules_view(verdict: Verdict, patterns: Sequence[str], own_allows: Sequence[str], trust: str | None) -> RulesView:
    """The verdict of the rules as the card shows it."""
    return struct_of(
        RulesView,
        verdict,
        rules=[rule.pattern for rule in verdict.rules],
        patterns=list(patterns),
        own_allows=list(own_allows),
        trust=trust,
    )


def _run_view(request: Request, session: Session | None) -> RunView | None:
    """The request's run while it is the session's current one; None afterwards."""
    run = session.run if session else None
    return struct_of(RunView, run, prompt=run.prompt_preview) if run and run.run_id == request.run_id else None
