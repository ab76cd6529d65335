"""Routes that decide: what a person says about a request they were shown."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, post
from litestar.datastructures import State as AppState
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.credentials import Pace, Principal
from quarterdeck.api.http.errors import ApiError, field_in
from quarterdeck.api.http.principal import by, principal_of
from quarterdeck.api.routes.rules import end_of
from quarterdeck.api.views.resources import DecisionView, decision_view
from quarterdeck.api.views.rules import Note, ScopeWord, Text, rule_view
from quarterdeck.core.engine.messages import Remember, Reply
from quarterdeck.core.model.decisions import (
    DEFAULT_DENY,
    MESSAGE_LIMIT,
    Allow,
    Answer,
    Block,
    Decision,
    Deny,
    NoOpinion,
    PlanMode,
)


class RememberBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """Let the decision hold from now on. Without a pattern it is the narrowest that covers the request; `expires` is a
    length like 7d, or a time in seconds. `claude` hands the rule of an allow to Claude Code too: for its session, or
    into its local, project or user settings."""

    scope: ScopeWord
    pattern: Text | None = None
    expires: Annotated[str, Meta(min_length=1, max_length=20)] | float | None = None
    note: Note | None = None
    claude: Literal["session", "local", "project", "user"] | None = None


class DecisionBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a person decides about the request whose digest they saw. `answers` and `notes` are keyed by the full text
    of a question, or `answers` by the fields of a form; `mode` is how the agent works on a plan that is approved."""

    decision: Literal["allow", "deny", "answer", "block", "pass"]
    digest: str
    updated_input: dict[str, Any] | None = None
    answers: dict[str, Any] | None = None
    notes: dict[str, str] | None = None
    mode: PlanMode | None = None
    message: str | None = None
    interrupt: bool = False
    note: str | None = None
    remember: RememberBody | None = None


class NamedDecision(DecisionBody, kw_only=True, forbid_unknown_fields=True):
    request_id: str


class Decisions(Struct, kw_only=True, forbid_unknown_fields=True):
    """Many decisions, each with its own id and digest, and each read by itself."""

    decisions: Annotated[list[dict[str, Any]], Meta(max_length=1000)]


class DecidedOne(Struct, kw_only=True):
    """How one of many decisions ended."""

    request_id: Any
    ok: bool
    decision: DecisionView | None = None
    error: dict[str, Any] | None = None


class Decided(Struct, kw_only=True):
    decisions: list[DecidedOne]
    next: None = None


@post("/requests/{request_id:str}/decision", status_code=200, opt={"scope": "approve"})
async def decide(
    state: AppState, request: Request[Any, Any, Any], request_id: FromPath[str], data: JSONBody[DecisionBody]
) -> DecisionView:
    """Decide a request as it was shown."""
    _pace(state, request, 1)
    return await _decide(state, request_id, data, request)


@post("/requests/decisions", status_code=200, opt={"scope": "approve"})
async def decide_many(state: AppState, request: Request[Any, Any, Any], data: JSONBody[Decisions]) -> Decided:
    """Decide many requests, each by its id and digest; each has its own result."""
    results = []
    _pace(state, request, len(data.decisions))
    for one in data.decisions:
        request_id = one.get("request_id")
        try:
            named = _named(one)
            decision = await _decide(state, named.request_id, named, request)
            results.append(DecidedOne(request_id=request_id, ok=True, decision=decision))
        except ApiError as error:
            results.append(DecidedOne(request_id=request_id, ok=False, error=error.body["error"]))
    return Decided(decisions=results)


def _named(body: dict[str, Any]) -> NamedDecision:
    try:
        return msgspec.convert(body, NamedDecision)
    except msgspec.ValidationError as error:
        raise ApiError(422, "invalid", str(error), field=field_in(str(error))) from None


def _pace(state: AppState, request: Request[Any, Any, Any], count: int) -> None:
    pace: Pace = state.pace
    if not pace.take(principal_of(request).secret, count):
        raise ApiError(429, "too_fast", "too many decisions at once; wait some seconds")


async def _decide(
    state: AppState, request_id: str, body: DecisionBody, request: Request[Any, Any, Any]
) -> DecisionView:
    return await decide_as(state.desk, request_id, body, principal_of(request), by(request))


async def decide_as(desk: Desk, request_id: str, body: DecisionBody, who: Principal, name: str) -> DecisionView:
    """Decide in somebody's name; an edited input needs a scope of its own."""
    if body.updated_input is not None and not who.may("edit"):
        raise ApiError(403, "forbidden", "this token lacks the scope edit", scope="edit")
    remember = _remember(body.remember) if body.remember else None
    reply = await desk.decide(request_id, _read_decision(body, name), body.digest, name, body.note, remember)
    view = decision_view(reply.request) if reply.request else None
    if reply.outcome != "applied" or view is None:
        raise _refusal(reply)
    view.remembered = rule_view(reply.rule, None) if reply.rule else None
    view.also_decided = list(reply.also)
    return view


def _remember(body: RememberBody) -> Remember:
    return Remember(
        rule_id=f"r_{secrets.token_hex(6)}",
        scope=body.scope,
        pattern=body.pattern,
        expires_at=end_of(body.expires),
        note=body.note,
        agent_keeper=body.claude,
    )


def _read_decision(body: DecisionBody, by: str) -> Decision:
    """Only what fits the word: a field that the decision does not take is an error, never ignored."""
    for field, words in _TAKES.items():
        if getattr(body, field) and body.decision not in words:
            raise ApiError(422, "invalid", f"{field}: goes with {' or '.join(words)}, not {body.decision}", field=field)
    if body.message is not None and len(body.message.encode()) > MESSAGE_LIMIT:
        raise ApiError(422, "invalid", f"message: at most {MESSAGE_LIMIT} bytes", field="message")
    match body.decision:
        case "allow":
            return Allow(updated_input=body.updated_input, mode=body.mode)
        case "deny":
            return Deny(body.message or DEFAULT_DENY.format(by=by), body.interrupt)
        case "answer":
            return Answer(body.answers or {}, body.notes or None)
        case "block":
            return Block(body.message or f"{by} asks you to go on.")
        case "pass":
            return NoOpinion(reason=f"passed by {by}")


_TAKES = {
    "updated_input": ("allow",),
    "answers": ("answer",),
    "notes": ("answer",),
    "mode": ("allow",),
    "message": ("deny", "block"),
    "interrupt": ("deny",),
    "remember": ("allow", "deny"),
}


def _refusal(reply: Reply) -> ApiError:
    """Why a decision was not applied, with what won."""
    won = decision_view(reply.request) if reply.request else None
    status = reply.request.status if reply.request else None
    match reply.outcome:
        case "not_found":
            return ApiError(404, "not_found", f"no such request: {reply.request_id}; see: qd requests")
        case "digest_mismatch":
            return ApiError(409, "digest_mismatch", "this is not what was shown: read the request again")
        case "invalid":
            return ApiError(422, "invalid", reply.message, field=reply.message.partition(":")[0])
        case "not_recorded":
            return ApiError(503, "not_recorded", reply.message)
        case _:
            source = won.source if won else None
            how = f"{reply.outcome.replace('_', ' ')} ({source}, by {won.by})" if won else reply.outcome
            return ApiError(409, reply.outcome, f"the request is {how}", status=status, source=source, decision=won)


DECIDING_ROUTES = [decide_many, decide]
