"""Routes of standing decisions: made, listed, tried and taken back."""

from __future__ import annotations

import time
from typing import Any

from litestar import Request, delete, get, post
from litestar.datastructures import State as AppState
from litestar.params import FromPath, JSONBody

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.principal import by
from quarterdeck.api.routes.tokens import Done
from quarterdeck.api.views.rules import (
    ConsideredView,
    ExplainedView,
    MadeRule,
    MadeRules,
    ManyRules,
    NewRule,
    PastRequest,
    Question,
    RuleList,
    RuleView,
    Simulated,
    Suggestions,
    SuggestionView,
    WhatIf,
    rule_view,
)
from quarterdeck.core.engine.messages import Reply
from quarterdeck.core.model.state import Request as Asked
from quarterdeck.core.rules.file_format import RuleWanted
from quarterdeck.core.text.durations import seconds_in
from quarterdeck.core.text.titles import cut, subject_of

SUBJECT = 200
SHOWN = 50
STATUS = {"not_found": 404, "exists": 409, "untrusted_project": 403, "not_recorded": 503}


@get("/rules", opt={"scope": "observe"})
async def list_rules(state: AppState) -> RuleList:
    """Every rule, with what is odd about them."""
    desk: Desk = state.desk
    found = [rule_view(rule, hits) for rule, hits in desk.rules()]
    return RuleList(rules=found, findings=[finding.text for finding in await desk.rule_findings()])


@post("/rules", opt={"scope": "control"})
async def add_rule(state: AppState, request: Request[Any, Any, Any], data: JSONBody[NewRule]) -> MadeRule:
    """Make a rule. It also settles the requests that wait and that it covers."""
    return await add_rule_as(state.desk, data, by(request))


async def add_rule_as(desk: Desk, data: NewRule, name: str) -> MadeRule:
    """Make a rule in somebody's name."""
    reply = await desk.add_rule(wanted(data), name)
    if reply.outcome != "applied" or reply.rule is None:
        raise rule_refusal(reply)
    view = rule_view(reply.rule, None)
    fields = {field: getattr(view, field) for field in RuleView.__struct_fields__}
    return MadeRule(also_decided=list(reply.also), **fields)


@post("/rules/import", opt={"scope": "control"})
async def import_rules(state: AppState, request: Request[Any, Any, Any], data: JSONBody[ManyRules]) -> MadeRules:
    """Make all of these rules that do not stand yet; with one that cannot be made, none. What waits is settled by all
    of them together."""
    desk: Desk = state.desk
    reply = await desk.add_rules([wanted(one) for one in data.rules], by(request), is_trial=data.is_trial)
    if reply.outcome != "applied":
        raise rule_refusal(reply)
    made = [rule_view(rule, None) for rule in reply.rules]
    return MadeRules(rules=made, existed=len(data.rules) - len(made), also_decided=list(reply.also))


@delete("/rules/{rule_id:str}", status_code=200, opt={"scope": "control"})
async def remove_rule(state: AppState, request: Request[Any, Any, Any], rule_id: FromPath[str]) -> Done:
    """Take a rule back."""
    await remove_rule_as(state.desk, rule_id, by(request))
    return Done()


async def remove_rule_as(desk: Desk, rule_id: str, name: str) -> None:
    """Take a rule back in somebody's name."""
    reply = await desk.remove_rule(rule_id, name)
    if reply.outcome != "applied":
        raise rule_refusal(reply)


@post("/rules/simulate", status_code=200, opt={"scope": "observe", "reads": True})
async def simulate(state: AppState, data: JSONBody[WhatIf]) -> Simulated:
    """What a rule would have done to the requests of the past, a page at a time, the newest first."""
    desk: Desk = state.desk
    page = await desk.simulate(wanted(data), data.before, data.limit)
    if isinstance(page, Reply):
        raise rule_refusal(page)
    shown = [past(one.request, one.surprise) for one in page.decided]
    return Simulated(
        seen=page.seen,
        decided=len(shown),
        surprises=[one for one in shown if one.surprise][:SHOWN],
        examples=[one for one in shown if not one.surprise][:SHOWN],
        left=page.left,
        next=page.next,
    )


@get("/rules/suggestions", opt={"scope": "observe"})
async def suggest(state: AppState) -> Suggestions:
    """Rules that your own decisions imply and that nobody has made, with the evidence."""
    desk: Desk = state.desk
    found, seen = await desk.suggestions()
    views = [
        SuggestionView(
            effect=one.effect,
            pattern=one.pattern,
            scope=one.scope,
            scope_id=one.scope_id,
            scope_path=one.scope_path,
            times=one.times,
            last_at=one.last_at,
            examples=[past(request) for request in one.requests],
        )
        for one in found
    ]
    return Suggestions(suggestions=views, seen=seen)


@post("/rules/explain", status_code=200, opt={"scope": "observe", "reads": True})
async def explain(state: AppState, data: JSONBody[Question]) -> ExplainedView:
    """What the rules say about a request or a use of a tool, and every rule that was considered."""
    desk: Desk = state.desk
    if data.request_id is None and data.tool_name is None:
        words = "request_id: name a request, or a tool_name with its tool_input"
        raise ApiError(422, "invalid", words, field="request_id")
    found = await desk.explain(data.request_id, data.tool_name or "", data.tool_input or {}, data.session_id, data.cwd)
    if found is None:
        raise ApiError(404, "not_found", f"no such request: {data.request_id}; see: qd requests")
    explanation, patterns = found
    known = {rule.rule_id: hits for rule, hits in desk.rules()}
    views = {one.rule.rule_id: rule_view(one.rule, known.get(one.rule.rule_id)) for one in explanation.considered}
    return ExplainedView(
        effect=explanation.verdict.effect,
        rules=[views[rule.rule_id] for rule in explanation.verdict.rules],
        reasons=list(explanation.verdict.reasons),
        considered=[
            ConsideredView(rule=views[one.rule.rule_id], matched=one.matched, why=one.why)
            for one in explanation.considered
        ],
        patterns=list(patterns),
    )


def wanted(data: NewRule) -> RuleWanted:
    """A rule as somebody wrote it, with its end as a time."""
    return RuleWanted(
        effect=data.effect,
        pattern=data.pattern,
        scope=data.scope,
        scope_id=data.scope_id,
        scope_path=data.scope_path,
        expires_at=end_of(data.expires, data.expires_at),
        note=data.note,
    )


def end_of(length: str | float | None, at: float | None = None) -> float | None:
    """When something ends that was given as a length like 7d, or as a time."""
    if length is None:
        return at
    if isinstance(length, float | int):
        return float(length)
    seconds = seconds_in(length)
    if not seconds or at is not None:
        raise ApiError(422, "invalid", "expires: a length like 7d or 12h, and then no expires_at", field="expires")
    return time.time() + seconds


def past(request: Asked, surprise: str | None = None) -> PastRequest:
    """A past request in one line."""
    decision = request.decision
    return PastRequest(
        request_id=request.request_id,
        session_id=request.session_id,
        at=request.opened_at,
        tool_name=request.tool_name,
        subject=cut(subject_of(request.tool_input), SUBJECT),
        decision=decision.decision_type if decision else None,
        by=decision.by if decision else None,
        surprise=surprise,
    )


def rule_refusal(reply: Reply) -> ApiError:
    """Why a rule was not made or taken back."""
    if reply.outcome == "not_found":
        return ApiError(404, "not_found", f"{reply.message}; see: qd rules list")
    more = {"rule_id": reply.rule.rule_id} if reply.rule else {}
    if reply.outcome == "invalid":
        more["field"] = reply.message.partition(":")[0]
    return ApiError(STATUS.get(reply.outcome, 422), reply.outcome, reply.message, **more)


RULE_ROUTES = [list_rules, add_rule, import_rules, remove_rule, simulate, suggest, explain]
