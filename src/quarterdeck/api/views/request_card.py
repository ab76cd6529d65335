"""The card of a request: everything a good decision needs, in one answer."""

from __future__ import annotations

import time

from msgspec import Struct
from msgspec.structs import asdict

from quarterdeck.api.backend import Desk
from quarterdeck.api.views.resources import RequestView, RiskView, request_view, risk_view
from quarterdeck.core.model.state import Request, Session
from quarterdeck.core.risk.breakdown import Annotated, AnnotatedCall
from quarterdeck.core.text.file_diff import Change


class CallView(Struct, kw_only=True):
    """One command of a shell line: as written, after the shell's quoting, what runs it, and its risk by itself."""

    text: str
    words: list[str]
    via: str
    piped: bool
    risk: RiskView


class CommandView(Struct, kw_only=True):
    """A shell line taken apart. `doubts` say why no allow rule covers it, `writes` name the files it writes to;
    `more` commands are left out."""

    calls: list[CallView]
    doubts: list[str]
    writes: list[str]
    more: int


class ChangeView(Struct, kw_only=True):
    """What `diff` is about. `compared` says that the file was read as it is now; `notes` what a reader must know; `cut`
    that lines are missing, which the input holds."""

    path: str
    added: int
    removed: int
    compared: bool
    cut: bool
    notes: list[str]


class RunView(Struct, kw_only=True):
    """The run a request belongs to, with what was asked for in it."""

    run_id: str
    prompt: str | None
    started_at: float


class AskedIn(Struct, kw_only=True):
    """The session a request belongs to."""

    title: str
    cwd: str
    model: str | None
    agent_state: str


class RulesSay(Struct, kw_only=True):
    """How the rules see a request now: which decide, or why none does; `patterns` are what it could be remembered by,
    the narrowest first. `trust` is how far its folder is trusted: none, rules or full; null when nobody has said, and
    then the first rule of the project makes it rules."""

    effect: str | None
    rules: list[str]
    reasons: list[str]
    patterns: list[str]
    trust: str | None


class CardView(RequestView, kw_only=True):
    """One request, whole. `diff` is the change of an edit as a unified diff, and `change` says what it is about;
    `command` is a shell line taken apart; `others_waiting` counts the other requests that wait now; `rule` says how the
    rules see it now, and is null when it is over."""

    diff: str | None
    change: ChangeView | None
    command: CommandView | None
    session: AskedIn | None
    run: RunView | None
    age_seconds: float
    others_waiting: int
    rule: RulesSay | None


async def card_view(desk: Desk, request: Request) -> CardView:
    """A request with everything that is known about it now."""
    insight = await desk.insight(request)
    session = desk.session(request.session_id)
    ended = request.decided_at if request.status != "pending" else None
    others = sum(other.request_id != request.request_id for other in desk.pending())
    return CardView(
        **{**asdict(request_view(desk, request, whole=True)), "risk": risk_view(insight.risk)},
        diff=insight.change.diff if insight.change else None,
        change=_change_view(insight.change) if insight.change else None,
        command=_command_view(insight.command) if insight.command else None,
        session=_asked_in(session) if session else None,
        run=_run_view(request, session),
        age_seconds=round(max(0.0, (ended or time.time()) - request.opened_at), 3),
        others_waiting=others,
        rule=await _rules_say(desk, request) if request.status == "pending" and request.kind != "stop" else None,
    )


async def _rules_say(desk: Desk, request: Request) -> RulesSay | None:
    found = await desk.explain(request.request_id, "", {}, None, None)
    if found is None:
        return None
    explanation, patterns = found
    verdict = explanation.verdict
    return RulesSay(
        effect=verdict.effect,
        rules=[rule.pattern for rule in verdict.rules],
        reasons=list(verdict.reasons),
        patterns=list(patterns),
        trust=desk.trust_in(request.cwd or ""),
    )


def _asked_in(session: Session) -> AskedIn:
    return AskedIn(title=session.title, cwd=session.context.cwd, model=session.model, agent_state=session.agent_state)


def _run_view(request: Request, session: Session | None) -> RunView | None:
    """The run, as long as it is the one at work."""
    run = session.run if session else None
    if run is None or run.run_id != request.run_id:
        return None
    return RunView(run_id=run.run_id, prompt=run.prompt_preview, started_at=run.started_at)


def _change_view(change: Change) -> ChangeView:
    return ChangeView(
        path=change.path,
        added=change.added,
        removed=change.removed,
        compared=change.compared,
        cut=change.cut,
        notes=list(change.notes),
    )


def _command_view(command: Annotated) -> CommandView:
    return CommandView(
        calls=[_call_view(call) for call in command.calls],
        doubts=list(command.doubts),
        writes=list(command.writes),
        more=command.more,
    )


def _call_view(call: AnnotatedCall) -> CallView:
    return CallView(text=call.text, words=list(call.words), via=call.via, piped=call.piped, risk=risk_view(call.risk))
