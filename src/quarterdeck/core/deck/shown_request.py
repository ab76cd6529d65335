"""Who waits, the request that a deck shows, and what its decision keys would decide."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.core.engine.deck_layout import KeyAction
from quarterdeck.core.model.decisions import ACTIONS, DEFAULT_DENY, Allow, Answer, Decision, Deny
from quarterdeck.core.model.payload import flag, items, text
from quarterdeck.core.model.risk_levels import MARKS, Risk
from quarterdeck.core.model.state import Request, Session, State
from quarterdeck.core.risk.quick_risk import quick_risk
from quarterdeck.core.rules.pattern_suggestions import suggested_patterns
from quarterdeck.core.rules.verdicts import tool_use_of_request
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.sanitize import hidden_parts, one_line, visible
from quarterdeck.core.text.titles import subject_of

MOST_WAITING = 20
"""Waiting requests that the model lists; their number is always whole."""
TITLE, DETAIL = 120, 6_000
"""Characters of a request's title, and of its input: an allow of more must be given on the desk."""
MOST_DEPTH = 20
TOO_DEEP = "(nested too deep)"
HELD_LEVELS = frozenset({"high", "critical"})
"""Risks whose allow takes a key that is held down."""
ANSWERS = {
    KeyAction.ANSWER_1: 0,
    KeyAction.ANSWER_2: 1,
    KeyAction.ANSWER_3: 2,
    KeyAction.ANSWER_4: 3,
}
ON_THE_DESK = "decide it on the desk"


class WaitingRequestView(Struct, frozen=True, kw_only=True):
    """One request that waits: whose it is, and how risky."""

    request_id: str
    session_id: str
    project: str
    kind: str
    tool_name: str
    title: str
    risk: str
    mark: str
    opened_at: float


class ShownRequestView(WaitingRequestView, frozen=True, kw_only=True):
    """The request that the decision keys decide, with all of its input in `detail`. `hides` is what a person would miss
    in that; `options` are the labels of the answer keys. `always` says that the next allow makes a rule, `pattern`
    which."""

    digest: str
    detail: str
    reasons: list[str]
    hides: list[str]
    options: list[str]
    position: int
    always: bool
    pattern: str | None


class KeyDecision(Struct, frozen=True, kw_only=True):
    """What a decision key would do: a decision, or the reason why it does nothing. `hold`: it must be held down."""

    decision: Decision | None = None
    reason: str | None = None
    hold: bool = False


def waiting_requests(state: State) -> list[Request]:
    """Every request that waits, oldest first."""
    return sorted((r for r in state.requests.values() if r.status == "pending"), key=lambda r: r.seq_no)


def shown_request(state: State) -> Request | None:
    """The request that the decision keys decide: the one that Next chose as long as it waits, else the oldest."""
    chosen = state.requests.get(state.deck.shown_request or "")
    if chosen is not None and chosen.status == "pending":
        return chosen
    return min((r for r in state.requests.values() if r.status == "pending"), key=lambda r: r.seq_no, default=None)


def next_request(state: State) -> Request | None:
    """The waiting request after the shown one; the first after the last."""
    waiting, shown = waiting_requests(state), shown_request(state)
    return waiting[(waiting.index(shown) + 1) % len(waiting)] if shown is not None else None


def session_of(state: State, request: Request) -> Session | None:
    """The session of a request."""
    return state.sessions.get(request.session_id) or state.ended.get(request.session_id)


def risk_of_shown(state: State, request: Request) -> Risk:
    """The risk that every surface shows: the full one, or the quick one until that is assessed."""
    settings, session = state.settings, session_of(state, request)
    cwd = session.context.cwd if session is not None else ""
    return request.risk or quick_risk(request, cwd, settings.home, settings.guarded)


def waiting_view(state: State, request: Request) -> WaitingRequestView:
    return WaitingRequestView(**_waiting_fields(state, request, risk_of_shown(state, request)))


def _waiting_fields(state: State, request: Request, risk: Risk) -> dict[str, Any]:
    session = session_of(state, request)
    folder = (session.context.cwd if session is not None else request.cwd).rstrip("/")
    subject = subject_of(request.tool_input)
    return {
        "request_id": request.request_id,
        "session_id": request.session_id,
        "project": one_line(folder.rpartition("/")[2]),
        "kind": request.form or request.kind,
        "tool_name": one_line(cut(request.tool_name, TITLE)),
        "title": cut(one_line(cut(subject, TITLE)), TITLE),
        "risk": risk.level,
        "mark": MARKS.get(risk.level, ""),
        "opened_at": request.opened_at,
    }


def shown_view(state: State, request: Request) -> ShownRequestView:
    """The shown request with everything that its keys decide on."""
    risk = risk_of_shown(state, request)
    detail = _detail(request)
    is_always = state.deck.always_for == request.request_id
    return ShownRequestView(
        **_waiting_fields(state, request, risk),
        digest=request.digest,
        detail=cut(detail, DETAIL),
        reasons=[one_line(reason) for reason in risk.reasons],
        hides=_hidden(request, detail),
        options=_options(request),
        position=waiting_requests(state).index(request) + 1,
        always=is_always,
        pattern=always_pattern(state, request) if is_always else None,
    )


def always_pattern(state: State, request: Request) -> str | None:
    """The narrowest rule that would cover the request; None when none safely does."""
    patterns = suggested_patterns(tool_use_of_request(state.settings, request))
    return patterns[0] if patterns else None


def _detail(request: Request) -> str:
    """All of the input as text: the command alone, or each field."""
    fields = request.tool_input
    if list(fields) == ["command"]:
        return visible(str(fields["command"]))
    return "\n".join(f"{visible(str(name))}: {visible(_words(value))}" for name, value in fields.items())


def _words(value: Any, depth: int = 0) -> str:
    if depth > MOST_DEPTH:
        return TOO_DEEP
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_words(one, depth + 1)}" for name, one in value.items())
    return ", ".join(_words(one, depth + 1) for one in value) if isinstance(value, list) else str(value)


def _hidden(request: Request, detail: str) -> list[str]:
    too_long = [f"{len(detail):,} characters in all"] if len(detail) > DETAIL else []
    too_deep = ["parts nested too deep to show"] if TOO_DEEP in detail else []
    return [*hidden_parts(request.tool_input), *too_long, *too_deep]


def _question(request: Request) -> dict[str, Any] | None:
    """The question that the answer keys can answer: the only one, if it takes one answer."""
    questions = [q for q in items(request.tool_input, "questions") if isinstance(q, dict)]
    is_single = request.form == "questions" and len(questions) == 1 and not flag(questions[0], "multiSelect")
    return questions[0] if is_single else None


def _labels(request: Request) -> list[str]:
    question = _question(request)
    found = [text(one, "label") for one in items(question, "options") if isinstance(one, dict)] if question else []
    return [label for label in found if label][: len(ANSWERS)]


def _options(request: Request) -> list[str]:
    return [cut(one_line(label), TITLE) for label in _labels(request)]


def key_decision(state: State, request: Request | None, action: KeyAction, by: str = "you") -> KeyDecision:
    """What this key would decide now."""
    if request is None:
        return KeyDecision(reason="no request waits")
    form = request.form or request.kind
    if action in ANSWERS:
        return _answer(request, ANSWERS[action])
    if action is KeyAction.DENY:
        if Deny not in ACTIONS.get(form, {}).values():
            return KeyDecision(reason=f"this is no tool call: {ON_THE_DESK}")
        return KeyDecision(decision=Deny(DEFAULT_DENY.format(by=by)))
    if Allow not in ACTIONS.get(form, {}).values():
        return KeyDecision(reason=f"it takes an answer, not an allow: use an answer key, or {ON_THE_DESK}")
    if hidden := _hidden(request, _detail(request)):
        return KeyDecision(reason=f"{' and '.join(hidden)}: {ON_THE_DESK}")
    if state.deck.always_for == request.request_id and always_pattern(state, request) is None:
        return KeyDecision(reason="no rule can safely cover this: press Always again, and allow it once")
    return KeyDecision(decision=Allow(), hold=risk_of_shown(state, request).level in HELD_LEVELS)


def _answer(request: Request, place: int) -> KeyDecision:
    if request.form != "questions":
        return KeyDecision(reason="it asks no question")
    question = _question(request)
    if question is None:
        return KeyDecision(reason=f"it asks more than one thing: {ON_THE_DESK}")
    labels = _labels(request)
    if place >= len(labels):
        return KeyDecision(reason=f"it has {len(labels)} options")
    return KeyDecision(decision=Answer({text(question, "question"): labels[place]}))
