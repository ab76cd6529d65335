"""How standing decisions come and go, and which open requests a new one settles."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from quarterdeck.core.engine.messages import AddRule, AddRules, Decide, Remember, RemoveRule, Reply, TrustProject
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.decisions import Allow, Decision, Deny
from quarterdeck.core.model.events import USER
from quarterdeck.core.model.rule import MAX_RULES, Rule
from quarterdeck.core.model.state import Request
from quarterdeck.core.rules.file_format import RuleWanted, check_rule
from quarterdeck.core.rules.pattern_suggestions import patterns_for
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.rules.verdicts import UNTRUSTED, close_by_rule, decides, judge, remove, subject_of_request
from quarterdeck.core.workspace.projects import project_id_of
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
    also = keep(step, [rule], command.by)
    step.effects.append(
        Reply(request_id=rule.rule_id, outcome="applied", rule=step.draft.rules.get(rule.rule_id, rule), also=also)
    )


def add_rules(step: Step, command: AddRules) -> None:
    """Make all of them that do not stand yet, or none; what waits is settled by all of them together."""
    stand = {_said(rule) for rule in step.draft.rules.values() if _lasts(rule, step.at)}
    new = []
    for place, rule in enumerate(command.rules):
        if problem := _unfit(step, rule):
            outcome, message = problem
            step.effects.append(Reply(request_id="rules", outcome=outcome, message=f"rules[{place}].{message}"))
            return
        if (said := _said(rule)) not in stand:
            stand.add(said)
            new.append(rule)
    if len(step.draft.rules) + len(new) > MAX_RULES:
        message = (
            f"rules: {len(step.draft.rules)} rules exist, and with {len(new)} more there would be over {MAX_RULES}; "
            "remove some first, or leave some out"
        )
        step.effects.append(Reply(request_id="rules", outcome="invalid", message=message))
        return
    also = () if command.is_trial else keep(step, new, command.by)
    step.effects.append(Reply(request_id="rules", outcome="applied", rules=tuple(new), also=also))


def keep(step: Step, rules: Sequence[Rule], by: str, request_id: str | None = None) -> tuple[str, ...]:
    """Record the rules, and decide the open requests they settle; gives the ids of these."""
    for rule in rules:
        _record(step, rule, by, request_id)
    return _settle(step, frozenset(rule.rule_id for rule in rules))


def _record(step: Step, rule: Rule, by: str, request_id: str | None) -> None:
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


def _settle(step: Step, rule_ids: frozenset[str]) -> tuple[str, ...]:
    settled = []
    mine = step.session_id
    for request in list(step.draft.requests.values()):
        if request.status != "pending" or request.kind == "stop" or step.draft.rules.keys().isdisjoint(rule_ids):
            continue
        verdict = judge(step, subject_of_request(step.draft.state.settings, request), request.form)
        if decides(verdict) and any(rule.rule_id in rule_ids for rule in verdict.rules):
            step.session_id = request.session_id
            close_by_rule(step, request, verdict)
            settled.append(request.request_id)
    step.session_id = mine
    return tuple(settled)


def _misfit(step: Step, rule: Rule) -> tuple[str, str] | None:
    """Why this rule cannot be made beside those that stand: the outcome and the words."""
    rules = step.draft.rules
    if problem := _unfit(step, rule):
        return problem
    if same := _same(step, rule):
        return "exists", f"{same.rule_id} says the same"
    if rule.rule_id in rules:
        return "invalid", "rule_id: is in use"
    if len(rules) >= MAX_RULES:
        return "invalid", f"pattern: {MAX_RULES} rules exist; remove some first"
    return None


def _unfit(step: Step, rule: Rule) -> tuple[str, str] | None:
    """What is wrong with the rule itself."""
    wanted = RuleWanted(**{name: getattr(rule, name) for name in RuleWanted.__struct_fields__})
    try:
        check_rule(wanted, "")
    except BadRules as error:
        return "invalid", str(error).lstrip(".")
    if not _lasts(rule, step.at):
        return "invalid", "expires_at: lies in the past"
    if rule.effect == "allow" and step.draft.trust.get(rule.scope_path or "") == UNTRUSTED:
        path = rule.scope_path
        return "untrusted_project", f"scope_path: {path} is not trusted; first: qd projects trust {path}"
    return None


def _same(step: Step, rule: Rule) -> Rule | None:
    said = _said(rule)
    return next((r for r in step.draft.rules.values() if _said(r) == said and _lasts(r, step.at)), None)


def _said(rule: Rule) -> tuple[str | None, ...]:
    """What two rules that say the same have in common; a project is its real folder, by whichever name."""
    place = rule.scope_path if rule.scope == "project" else rule.scope_id
    return rule.effect, rule.pattern, rule.scope, place


def _lasts(rule: Rule, at: float) -> bool:
    return rule.expires_at is None or rule.expires_at > at


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
    also = keep(step, [rule], by, request_id)
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
