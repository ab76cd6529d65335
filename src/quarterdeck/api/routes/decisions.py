"""Routes that decide requests."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import RequestBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, invalid, not_found, refusal
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.http.resource import require_machine
from quarterdeck.api.routes.rules import end_of
from quarterdeck.api.views.rules import Note, ScopeWord, Text
from quarterdeck.core.engine.messages import CommandReply, Remember
from quarterdeck.core.model.decisions import (
    DEFAULT_DENY,
    MAX_MESSAGE_BYTES,
    Allow,
    Answer,
    Block,
    Decision,
    Deny,
    NoOpinion,
    PlanMode,
)
from quarterdeck.core.text.decision_words import DECIDED
from quarterdeck.views.resources.decision_view import DecisionResult, DecisionResults, DecisionView, decision_view
from quarterdeck.views.resources.rule_view import rule_view


class RememberBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """Create a rule from the decision. The default pattern is the narrowest that covers the request; `expires` is a
    duration like 7d, or a time in seconds. `claude` also passes an allow rule to Claude Code: for its session, or into
    its local, project or user settings."""

    scope: ScopeWord
    pattern: Text | None = None
    expires: Annotated[str, Meta(min_length=1, max_length=20)] | float | None = None
    note: Note | None = None
    claude: Literal["session", "local", "project", "user"] | None = None


class DecisionBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """A decision on the request with this digest. `answers` and `notes` are keyed by the full text of a question, or
    `answers` by the fields of a form; `mode` is the permission mode after a plan is approved."""

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


class Decisions(Struct, kw_only=True, forbid_unknown_fields=True):
    """Several decisions, each with its own id and digest. One that is invalid does not affect the others."""

    decisions: Annotated[list[dict[str, Any]], Meta(max_length=1000)]


@endpoint("decide")
async def decide(
    requests: RequestBackend, caller: Caller, *, request_id: FromPath[str], data: JSONBody[DecisionBody]
) -> DecisionView:
    """Decide a request. The digest must be that of the request as you saw it."""
    caller.count_decisions()
    return await _decide(requests, caller, request_id, data)


@endpoint("decide_many")
async def decide_many(
    requests: RequestBackend, caller: Caller, runner_id: str, *, data: JSONBody[Decisions]
) -> DecisionResults:
    """Decide several requests, each by its id and digest; each has its own result."""
    caller.count_decisions(len(data.decisions))
    results = []
    for one in data.decisions:
        result = DecisionResult(request_id=one.get("request_id"), ok=True)
        try:
            named: Any = decide.read_arguments(one)
            require_machine(named.runner_id, runner_id)
            result.decision = await _decide(requests, caller, named.request_id, named)
        except ApiError as error:
            result.ok, result.error = False, error.body["error"]
        results.append(result)
    return DecisionResults(decisions=results)


async def _decide(requests: RequestBackend, caller: Caller, request_id: str, body: DecisionBody) -> DecisionView:
    """Decide in the name of a caller. An edited input needs the scope `edit`."""
    if body.updated_input is not None:
        caller.require("edit")
    remember = _remember(body.remember) if body.remember else None
    decision = _read_decision(body, caller.name)
    reply = await requests.decide(request_id, decision, body.digest, caller.name, body.note, remember)
    view = decision_view(reply.request) if reply.request else None
    if reply.outcome != "applied" or view is None:
        raise decision_refusal(reply)
    view.remembered = rule_view(reply.rule, None) if reply.rule else None
    view.also_decided = list(reply.also_decided)
    return view


def _remember(body: RememberBody) -> Remember:
    return Remember(
        rule_id=f"r_{secrets.token_hex(6)}",
        scope=body.scope,
        pattern=body.pattern,
        expires_at=end_of(body.expires),
        note=body.note,
        agent_settings=body.claude,
    )


def _read_decision(body: DecisionBody, by: str) -> Decision:
    """The decision of a body. A field that this decision does not use is an error, never ignored."""
    for field, decisions in _USED_BY.items():
        if getattr(body, field) and body.decision not in decisions:
            raise invalid(field, f"only for {' or '.join(decisions)}, not {body.decision}")
    if body.message is not None and len(body.message.encode()) > MAX_MESSAGE_BYTES:
        raise invalid("message", f"at most {MAX_MESSAGE_BYTES} bytes")
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


_USED_BY = {
    "updated_input": ("allow",),
    "answers": ("answer",),
    "notes": ("answer",),
    "mode": ("allow",),
    "message": ("deny", "block"),
    "interrupt": ("deny",),
    "remember": ("allow", "deny"),
}


def decision_refusal(reply: CommandReply) -> ApiError:
    """The error for a decision that was not applied, with the decision that was made instead."""
    winner = decision_view(reply.request) if reply.request else None
    status = reply.request.status if reply.request else None
    match reply.outcome:
        case "not_found":
            return not_found("request", reply.request_id, "qd requests")
        case "digest_mismatch":
            return ApiError(409, "digest_mismatch", "the request is not the one you saw; read it again and decide then")
        case "invalid" | "not_recorded":
            return refusal(reply)
        case "holder_away":
            message = "the agent is reconnecting after a restart of Quarterdeck; decide again in a moment"
            return ApiError(409, "holder_away", message, status=status)
        case _:
            source = winner.source if winner else None
            message = f"the request is {outcome_words(reply.outcome, winner)}"
            return ApiError(409, reply.outcome, message, status=status, source=source, decision=winner)


_SURFACES = {"cli": "the command line", "tui": "the terminal UI"}


def outcome_words(outcome: str, winner: DecisionView | None) -> str:
    """The end of a request that can no longer be decided, in words."""
    if winner is None:
        return outcome
    if outcome != "already_decided":
        return f"{outcome}: {winner.reason}" if winner.reason else outcome
    decided = f"already {DECIDED[winner.decision]}"
    if winner.source == "rule":
        return f"{decided} by rule {winner.pattern or winner.by}"
    who, _, surface = winner.by.partition(" via ")
    return f"{decided} by {who}" + (f" from {_SURFACES.get(surface, surface)}" if surface else "")
