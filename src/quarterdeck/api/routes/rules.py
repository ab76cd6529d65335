"""Routes of rules: list, create, try, explain and remove them."""

from __future__ import annotations

import time

from litestar.params import FromPath, JSONBody

from quarterdeck.api.backend import RuleBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import applied, invalid, not_found, refusal
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.routes.tokens import OkView
from quarterdeck.api.views.rules import ExplainRequest, ManyRules, NewRule, SimulationRequest
from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.core.rules.file_format import RuleSpec
from quarterdeck.core.text.durations import seconds_in
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.rule_view import (
    ConsideredView,
    CreatedRule,
    CreatedRules,
    ExplainedView,
    RuleList,
    SimulationPage,
    Suggestions,
    past_request,
    rule_view,
    suggestion_view,
)

SHOWN = 50
KNOWN = "qd rules list"


@endpoint("list_rules")
async def list_rules(rules: RuleBackend) -> RuleList:
    """List every rule, and conflicts between them."""
    found = [rule_view(rule, hits) for rule, hits in rules.all()]
    return RuleList(rules=found, findings=[finding.text for finding in await rules.findings()])


@endpoint("add_rule")
async def add_rule(rules: RuleBackend, caller: Caller, *, data: JSONBody[NewRule]) -> CreatedRule:
    """Create a rule. It also decides the pending requests that it covers."""
    reply = applied(await rules.add(rule_spec(data), caller.name))
    assert reply.rule is not None
    found = [finding.text for finding in await rules.findings() if reply.rule.rule_id in finding.rule_ids]
    return struct_of(CreatedRule, rule_view(reply.rule, None), also_decided=list(reply.also_decided), findings=found)


@endpoint("import_rules")
async def import_rules(rules: RuleBackend, caller: Caller, *, data: JSONBody[ManyRules]) -> CreatedRules:
    """Create all of these rules that do not exist yet; when one is invalid, none is created. Pending requests are
    decided by all of them together."""
    specs = [rule_spec(one) for one in data.rules]
    reply = applied(await rules.add_many(specs, caller.name, is_trial=data.is_trial))
    created = [rule_view(rule, None) for rule in reply.rules]
    return CreatedRules(rules=created, existed=len(data.rules) - len(created), also_decided=list(reply.also_decided))


@endpoint("remove_rule")
async def remove_rule(rules: RuleBackend, caller: Caller, *, rule_id: FromPath[str]) -> OkView:
    """Remove a rule."""
    applied(await rules.remove(rule_id, caller.name), see=KNOWN)
    return OkView()


@endpoint("simulate_rule")
async def simulate(rules: RuleBackend, *, data: JSONBody[SimulationRequest]) -> SimulationPage:
    """Try a rule on past requests, a page at a time, newest first."""
    page = await rules.simulate(rule_spec(data), data.before, data.limit)
    if isinstance(page, CommandReply):
        raise refusal(page)
    shown = [past_request(one.request, one.surprise) for one in page.decided]
    return SimulationPage(
        seen=page.seen,
        decided=len(shown),
        surprises=[one for one in shown if one.surprise][:SHOWN],
        examples=[one for one in shown if not one.surprise][:SHOWN],
        left=page.left,
        next=page.next,
    )


@endpoint("suggest_rules")
async def suggest(rules: RuleBackend) -> Suggestions:
    """Suggest rules that your own decisions imply and that do not exist yet, with the evidence."""
    found, seen = await rules.suggestions()
    views = [suggestion_view(one) for one in found]
    return Suggestions(suggestions=views, seen=seen)


@endpoint("explain_verdict")
async def explain(rules: RuleBackend, *, data: JSONBody[ExplainRequest]) -> ExplainedView:
    """Explain the verdict of the rules on a request or a tool use, with every rule that was considered."""
    if data.request_id is None and data.tool_name is None:
        raise invalid("request_id", "send a request_id, or a tool_name with its tool_input")
    if "(" in (data.tool_name or ""):
        raise invalid("tool_name", "must be the name of a tool alone; send its input in tool_input")
    found = await rules.explain(data.request_id, data.tool_name or "", data.tool_input or {}, data.session_id, data.cwd)
    if found is None:
        raise not_found("request", str(data.request_id), "qd requests")
    explanation = found.explanation
    hits = {rule.rule_id: hits for rule, hits in rules.all()}
    views = {one.rule.rule_id: rule_view(one.rule, hits.get(one.rule.rule_id)) for one in explanation.considered}
    return struct_of(
        ExplainedView,
        explanation.verdict,
        rules=[views[rule.rule_id] for rule in explanation.verdict.rules],
        considered=[struct_of(ConsideredView, one, rule=views[one.rule.rule_id]) for one in explanation.considered],
        patterns=list(found.patterns),
        own_allows=list(found.own_allows),
    )


def rule_spec(data: NewRule) -> RuleSpec:
    """The spec of a new rule, with its expiry as a time."""
    return struct_of(RuleSpec, data, expires_at=end_of(data.expires, data.expires_at))


def end_of(length: str | float | None, at: float | None = None) -> float | None:
    """The time at which something expires, from a duration like 7d or from a time."""
    if length is None:
        return at
    if isinstance(length, float | int):
        return float(length)
    seconds = seconds_in(length)
    if not seconds or at is not None:
        raise invalid("expires", "must be a duration like 7d or 12h, without expires_at")
    return time.time() + seconds
