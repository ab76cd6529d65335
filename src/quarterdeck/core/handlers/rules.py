"""Adding, removing and remembering rules, and the open requests that a new rule decides."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from quarterdeck.core.engine.messages import AddRule, AddRules, Decide, Remember, RemoveRule, TrustProject
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.decisions import Allow, Decision, Deny
from quarterdeck.core.model.event_data.admin_data import ProjectTrustData, RuleAddData
from quarterdeck.core.model.events import USER
from quarterdeck.core.model.payload import shared_fields
from quarterdeck.core.model.rule import HUB_PREFIX, MAX_RULES, NO_HUB, Rule
from quarterdeck.core.model.state import Request
from quarterdeck.core.rules.file_format import RuleSpec, check_rule
from quarterdeck.core.rules.pattern_suggestions import suggested_patterns
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.rules.verdicts import (
    close_by_rule,
    is_decision,
    record_removal,
    request_verdict,
    tool_use_of_request,
)
from quarterdeck.core.workspace.folder_trust import NO_TRUST, trust_at
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.errors import BadRules

SESSION_OVER_SECONDS = 7 * 86400.0
"""A session's rules outlive it by this time, since it may be resumed."""


def add_rule(step: Step, command: AddRule) -> None:
    """Add a rule; it also decides the open requests it covers."""
    rule = command.rule
    if problem := _rule_problem(step, rule):
        outcome, message = problem
        step.reply(rule.rule_id, outcome, message, rule=_equal_rule(step, rule))
        return
    also_decided = record_rules(step, [rule], command.by)
    step.reply(rule.rule_id, "applied", rule=step.draft.rules.get(rule.rule_id, rule), also_decided=also_decided)


def add_rules(step: Step, command: AddRules) -> None:
    """Add all rules that do not exist yet, or none; open requests are decided by all of them together."""
    known = {_identity(rule) for rule in step.draft.rules.values() if _is_current(rule, step.at)}
    new = []
    for place, rule in enumerate(command.rules):
        if problem := _validation_error(step, rule):
            outcome, message = problem
            step.reply("rules", outcome, f"rules[{place}].{message}")
            return
        if (identity := _identity(rule)) not in known:
            known.add(identity)
            new.append(rule)
    if len(step.draft.rules) + len(new) > MAX_RULES:
        message = (
            f"rules: {len(step.draft.rules)} rules exist, and with {len(new)} more there would be over {MAX_RULES}; "
            "remove some first, or leave some out"
        )
        step.reply("rules", "invalid", message)
        return
    also_decided = () if command.is_trial else record_rules(step, new, command.by)
    step.reply("rules", "applied", rules=tuple(new), also_decided=also_decided)


def record_rules(step: Step, rules: Sequence[Rule], by: str, request_id: str | None = None) -> tuple[str, ...]:
    """Record the rules and decide the open requests they cover. Returns the ids of these requests."""
    for rule in rules:
        _record(step, rule, by, request_id)
    return _decide_open_requests(step, frozenset(rule.rule_id for rule in rules))


def _record(step: Step, rule: Rule, by: str, request_id: str | None) -> None:
    folder = rule.scope_path
    if rule.scope == "project" and folder is not None and trust_at(step.draft.trust, folder) is None:
        step.emit_own("project.trust", ProjectTrustData(path=folder, trust="rules", by=by), actor=USER)
    added = RuleAddData(by=by, request_id=request_id, **shared_fields(rule, RuleAddData))
    step.emit_own("rule.add", added, actor=USER)


def _decide_open_requests(step: Step, rule_ids: frozenset[str]) -> tuple[str, ...]:
    decided = []
    own_session_id = step.session_id
    for request in list(step.draft.requests.values()):
        if request.status != "pending" or request.kind == "stop" or step.draft.rules.keys().isdisjoint(rule_ids):
            continue
        verdict = request_verdict(step, tool_use_of_request(step.draft.state.settings, request), request.form)
        if is_decision(verdict) and any(rule.rule_id in rule_ids for rule in verdict.rules):
            step.session_id = request.session_id
            close_by_rule(step, request, verdict)
            decided.append(request.request_id)
    step.session_id = own_session_id
    return tuple(decided)


def _rule_problem(step: Step, rule: Rule) -> tuple[str, str] | None:
    """The outcome and message if this rule cannot be added to the existing ones; None when it can."""
    rules = step.draft.rules
    if problem := _validation_error(step, rule):
        return problem
    if same := _equal_rule(step, rule):
        return "exists", f"{same.rule_id} is the same rule"
    if rule.rule_id in rules:
        return "invalid", "rule_id: is in use"
    if len(rules) >= MAX_RULES:
        return "invalid", f"pattern: {MAX_RULES} rules exist; remove some first"
    return None


def _validation_error(step: Step, rule: Rule) -> tuple[str, str] | None:
    """The outcome and message if the rule itself is invalid; None when it is valid."""
    try:
        check_rule(RuleSpec(**shared_fields(rule, RuleSpec)), "")
    except BadRules as error:
        return "invalid", str(error).lstrip(".")
    if not _is_current(rule, step.at):
        return "invalid", "expires_at: is in the past"
    if rule.scope == "hub" and not step.draft.state.settings.in_hub:
        return "invalid", f"scope: {NO_HUB}; use the scope user for a rule of this machine"
    if rule.scope == "hub" and not rule.rule_id.startswith(HUB_PREFIX):
        return "invalid", "scope: a rule for every machine is made at the hub: qd --url HUB rules add … --scope hub"
    if rule.effect == "allow" and trust_at(step.draft.trust, rule.scope_path or "") == NO_TRUST:
        path = rule.scope_path
        return "untrusted_project", f"scope_path: {path} is not trusted; first: qd projects trust {path}"
    return None


def _equal_rule(step: Step, rule: Rule) -> Rule | None:
    identity = _identity(rule)
    return next((r for r in step.draft.rules.values() if _identity(r) == identity and _is_current(r, step.at)), None)


def _identity(rule: Rule) -> tuple[str | None, ...]:
    """The key of equal rules. A project counts by its real folder, whatever its id."""
    place = rule.scope_path if rule.scope == "project" else rule.scope_id
    return rule.effect, rule.pattern, rule.scope, place


def _is_current(rule: Rule, at: float) -> bool:
    return rule.expires_at is None or rule.expires_at > at


def remove_rule(step: Step, command: RemoveRule) -> None:
    """Remove a rule."""
    rule = step.draft.rules.get(command.rule_id)
    if rule is None:
        step.reply(command.rule_id, "not_found", f"no such rule: {command.rule_id}")
        return
    record_removal(step, rule, command.by, "removed")
    step.reply(command.rule_id, "applied", rule=rule)


def trust_project(step: Step, command: TrustProject) -> None:
    """Record the trust in a folder; its allow rules apply only if it is trusted."""
    if step.draft.trust.get(command.path) != command.trust:
        data = ProjectTrustData(path=command.path, trust=command.trust, by=command.by)
        step.emit_own("project.trust", data, actor=USER)
    step.reply(command.path, "applied")


def drop_stale_rules(step: Step) -> None:
    """Remove rules that have expired, or whose session ended long ago."""
    over = step.draft.ended
    for rule in list(step.draft.rules.values()):
        session = over.get(rule.scope_id or "") if rule.scope in ("session", "once") else None
        if rule.expires_at is not None and rule.expires_at <= step.at:
            record_removal(step, rule, "system", "expired")
        elif session is not None and step.at - (session.ended_at or step.at) > SESSION_OVER_SECONDS:
            record_removal(step, rule, "system", "ended")


def rule_to_remember(step: Step, command: Decide, request: Request) -> Rule | str | None:
    """The rule to remember a decision as; None when it is not to be remembered, or a text that says why it cannot."""
    spec = command.remember
    if spec is None or spec.scope == "once":
        return None
    effect = _effect(command.decision)
    if effect is None or request.kind == "stop":
        return "remember: only an allow or deny of a tool can be remembered"
    if spec.agent_settings and (effect != "allow" or request.enforced):
        return "remember.claude: Claude Code takes a rule only with the allow of its own permission request"
    subject = tool_use_of_request(step.draft.state.settings, request)
    offered = suggested_patterns(subject)
    if spec.pattern is None and not offered:
        return "remember: no pattern can safely cover this; decide it once, or write a rule with: qd rules add"
    rule = _rule_from(step, spec, request, effect, spec.pattern or offered[0], command.by)
    if problem := _rule_problem(step, rule):
        return rule if problem[0] == "exists" else f"remember.{problem[1]}"
    if Rulebook.of([rule]).verdict(subject, step.at).effect != effect:
        return f"remember.pattern: {rule.pattern} does not cover this request; it would not have decided it"
    return rule


def remember(step: Step, rule: Rule, by: str, request_id: str) -> tuple[Rule, tuple[str, ...]]:
    """Record the rule of a decision, unless an equal one exists. Returns the rule and the requests it also decided."""
    if same := _equal_rule(step, rule):
        return same, ()
    also_decided = record_rules(step, [rule], by, request_id)
    return step.draft.rules.get(rule.rule_id, rule), also_decided


def _rule_from(step: Step, spec: Remember, request: Request, effect: str, pattern: str, by: str) -> Rule:
    rule = Rule(
        rule_id=spec.rule_id,
        effect=effect,
        pattern=pattern,
        scope=spec.scope,
        created_at=step.at,
        created_by=by,
        expires_at=spec.expires_at,
        note=spec.note,
    )
    if spec.scope == "session":
        return replace(rule, scope_id=request.session_id)
    if spec.scope == "project":
        return replace(rule, scope_id=project_id_of(step.session.context.cwd), scope_path=request.cwd or None)
    return rule


def _effect(decision: Decision) -> str | None:
    match decision:
        case Allow():
            return "allow"
        case Deny():
            return "deny"
        case _:
            return None
