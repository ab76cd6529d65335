"""How standing decisions come and go, and which open requests a new one settles."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.core import data as d
from quarterdeck.core.commands import AddRule, Decide, Remember, RemoveRule, Reply, TrustProject
from quarterdeck.core.decisions import Allow, Decision, Deny
from quarterdeck.core.feed import USER
from quarterdeck.core.judging import UNTRUSTED, close_by_rule, decides, judge, remove, subject_of_request
from quarterdeck.core.projects import project_id_of
from quarterdeck.core.remembering import patterns_for
from quarterdeck.core.rule import MAX_RULES, Rule
from quarterdeck.core.rule_files import RuleWanted, check_rule
from quarterdeck.core.rules import Rulebook
from quarterdeck.core.state import Request
from quarterdeck.core.step import Step
from quarterdeck.errors import BadRules

SESSION_OVER_SECONDS = 7 * 86400.0
"""How long the rules of a session outlive it: it may be resumed."""


def add_rule(step: Step, command: AddRule) -> None:
    """Make a standing decision; it also settles the open requests it covers."""
    rule = command.rule
    if problem := _misfit(step, rule):
        outcome, message = problem
        step.effects.append(Reply(request_id=rule.rule_id, outcome=outcome, message=message, rule=_same(step, rule)))
        return
    also = keep(step, rule, command.by)
    step.effects.append(
        Reply(request_id=rule.rule_id, outcome="applied", rule=step.draft.rules[rule.rule_id], also=also)
    )


def keep(step: Step, rule: Rule, by: str, request_id: str | None = None) -> tuple[str, ...]:
    """Record the rule, and decide the open requests it settles; gives their ids."""
    folder = rule.scope_path
    if rule.scope == "project" and folder is not None and folder not in step.draft.trust:
        step.emit_own("project.trust", d.ProjectTrustData(path=folder, trust="rules", by=by), actor=USER)
    added = d.RuleAddData(
        rule_id=rule.rule_id,
        effect=rule.effect,
        pattern=rule.pattern,
        scope=rule.scope,
        by=by,
        scope_id=rule.scope_id,
        scope_path=folder,
        expires_at=rule.expires_at,
        note=rule.note,
        request_id=request_id,
    )
    step.emit_own("rule.add", added, actor=USER)
    return _settle(step, rule.rule_id)


def _settle(step: Step, rule_id: str) -> tuple[str, ...]:
    settled = []
    mine = step.session_id
    for request in list(step.draft.requests.values()):
        if request.status != "pending" or request.kind == "stop" or rule_id not in step.draft.rules:
            continue
        verdict = judge(step, subject_of_request(step.draft.state.settings, request), request.form)
        if decides(verdict) and any(rule.rule_id == rule_id for rule in verdict.rules):
            step.session_id = request.session_id
            close_by_rule(step, request, verdict)
            settled.append(request.request_id)
    step.session_id = mine
    return tuple(settled)


def _misfit(step: Step, rule: Rule) -> tuple[str, str] | None:
    """Why this rule cannot be made: the outcome and the words."""
    rules = step.draft.rules
    wanted = RuleWanted(**{name: getattr(rule, name) for name in RuleWanted.__struct_fields__})
    try:
        check_rule(wanted, "")
    except BadRules as error:
        return "invalid", str(error).lstrip(".")
    if rule.expires_at is not None and rule.expires_at <= step.at:
        return "invalid", "expires_at: lies in the past"
    if rule.effect == "allow" and step.draft.trust.get(rule.scope_path or "") == UNTRUSTED:
        return "untrusted_project", f"{rule.scope_path} is not trusted; first: qd projects trust {rule.scope_path}"
    if same := _same(step, rule):
        return "exists", f"{same.rule_id} says the same"
    if rule.rule_id in rules:
        return "invalid", "rule_id: is in use"
    if len(rules) >= MAX_RULES:
        return "invalid", f"pattern: {MAX_RULES} rules exist; remove some first"
    return None


def _same(step: Step, rule: Rule) -> Rule | None:
    for other in step.draft.rules.values():
        alike = (other.effect, other.pattern, other.scope, other.scope_id, other.scope_path) == (
            (rule.effect, rule.pattern, rule.scope, rule.scope_id, rule.scope_path)
        )
        if alike and (other.expires_at is None or other.expires_at > step.at):
            return other
    return None


def remove_rule(step: Step, command: RemoveRule) -> None:
    """Take a standing decision back."""
    rule = step.draft.rules.get(command.rule_id)
    if rule is None:
        message = f"no such rule: {command.rule_id}"
        step.effects.append(Reply(request_id=command.rule_id, outcome="not_found", message=message))
        return
    remove(step, rule, command.by, "removed")
    step.effects.append(Reply(request_id=command.rule_id, outcome="applied", rule=rule))


def trust_project(step: Step, command: TrustProject) -> None:
    """Record how far a folder is trusted; its allow rules hold only where it is."""
    if step.draft.trust.get(command.path) != command.trust:
        data = d.ProjectTrustData(path=command.path, trust=command.trust, by=command.by)
        step.emit_own("project.trust", data, actor=USER)
    step.effects.append(Reply(request_id=command.path, outcome="applied"))


def drop_idle(step: Step) -> None:
    """Rules that have expired, or whose session is long over, leave the table."""
    over = step.draft.ended
    for rule in list(step.draft.rules.values()):
        session = over.get(rule.scope_id or "") if rule.scope in ("session", "once") else None
        if rule.expires_at is not None and rule.expires_at <= step.at:
            remove(step, rule, "system", "expired")
        elif session is not None and step.at - (session.ended_at or step.at) > SESSION_OVER_SECONDS:
            remove(step, rule, "system", "ended")


def rule_to_remember(step: Step, command: Decide, request: Request) -> Rule | str | None:
    """The rule that a decision shall become, None when it shall not, or why it cannot."""
    wanted = command.remember
    if wanted is None or wanted.scope == "once":
        return None
    effect = _effect(command.decision)
    if effect is None or request.kind == "stop":
        return "remember: goes with the allow or deny of a tool"
    if wanted.agent_keeper and (effect != "allow" or request.hook_name != "PermissionRequest"):
        return "remember.claude: Claude Code takes only the rule of an allow it asked for"
    subject = subject_of_request(step.draft.state.settings, request)
    offered = patterns_for(subject)
    if wanted.pattern is None and not offered:
        return "remember: no pattern can safely cover this; decide it once, or write a rule with: qd rules add"
    rule = _remembered(step, wanted, request, effect, wanted.pattern or offered[0], command.by)
    if problem := _misfit(step, rule):
        return rule if problem[0] == "exists" else f"remember.{problem[1]}"
    if Rulebook.of([rule]).verdict(subject, step.at).effect != effect:
        return f"remember.pattern: {rule.pattern} does not cover this request; it would not have decided it"
    return rule


def remember(step: Step, rule: Rule, by: str, request_id: str) -> tuple[Rule, tuple[str, ...]]:
    """Keep the rule a decision became; one that says the same already stays as it is."""
    if same := _same(step, rule):
        return same, ()
    also = keep(step, rule, by, request_id)
    return step.draft.rules.get(rule.rule_id, rule), also


def _remembered(step: Step, wanted: Remember, request: Request, effect: str, pattern: str, by: str) -> Rule:
    rule = Rule(
        rule_id=wanted.rule_id,
        effect=effect,
        pattern=pattern,
        scope=wanted.scope,
        created_at=step.at,
        created_by=by,
        expires_at=wanted.expires_at,
        note=wanted.note,
    )
    if wanted.scope == "session":
        return replace(rule, scope_id=request.session_id)
    if wanted.scope == "project":
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
