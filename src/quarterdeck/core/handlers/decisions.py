"""A person's decision: its checks, and what follows from it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.messages import Decide, DecisionRefused
from quarterdeck.core.engine.step import Step, handed_back_decision
from quarterdeck.core.handlers.rules import remember, rule_to_remember
from quarterdeck.core.model.decisions import ACTIONS, Allow, Answer, Block, Decision, Deny, Grant, NoOpinion, Source
from quarterdeck.core.model.event_data.request_data import DecisionRefusedData
from quarterdeck.core.model.payload import flag, items, obj, shared_fields, text
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Request
from quarterdeck.core.rules.verdicts import request_verdict, tool_use_of_request
from quarterdeck.core.text.forms import form_error

CLIENTS_ONLY = {"permission": (Block,)}
"""Decisions that the API takes and no surface offers: to block a tool call is to deny it."""


def decide(step: Step, command: Decide) -> None:
    """Apply a decision exactly once; the first one wins and later ones are recorded as late."""
    request = step.draft.requests.get(command.request_id) or _as_withdrawn(command.prior)
    if request is None:
        step.reply(command.request_id, "not_found")
    elif request.status != "pending":
        _record_late(step, command, request)
    elif command.digest != request.digest:
        step.reply(request.request_id, "digest_mismatch", request=request)
    elif command.is_waiter_away:
        step.reply(request.request_id, "holder_away", request=request)
    elif problem := (
        validation_error(request, command.decision)
        or _pass_error(step, command.decision)
        or _denied_edit_error(step, request, command.decision)
    ):
        step.reply(request.request_id, "invalid", problem, request=request)
    elif isinstance(rule := rule_to_remember(step, command, request), str):
        step.reply(request.request_id, "invalid", rule, request=request)
    else:
        _apply(step, command, request, rule)


def _pass_error(step: Step, decision: Decision) -> str | None:
    """Refuse to pass on a request of a session without a terminal: that would deny it without saying so."""
    if not isinstance(decision, NoOpinion) or step.session.has_terminal:
        return None
    return "decision: the session has no terminal to leave it to; decide it here"


def _denied_edit_error(step: Step, request: Request, decision: Decision) -> str | None:
    """Refuse an edited input that the agent cannot take, or that a rule denies: an edit must not get past the rules."""
    if not isinstance(decision, Allow) or decision.updated_input is None:
        return None
    settings = step.draft.state.settings
    can = settings.capabilities.get(request.agent)
    if can is not None and not can.edits_input:
        return f"updated_input: {can.label} runs a tool only with the input that it asked for"
    subject = tool_use_of_request(settings, request, decision.updated_input)
    verdict = request_verdict(step, subject)
    if verdict.effect != "deny":
        return None
    return f"updated_input: the rule {verdict.rules[0].pattern} denies this"


def _as_withdrawn(prior: Request | None) -> Request | None:
    """Mark a request that has left the live state as withdrawn, even if it was read just before it left."""
    return replace(prior, status="withdrawn") if prior is not None and prior.status == "pending" else prior


def _apply(step: Step, command: Decide, request: Request, rule: Rule | None) -> None:
    decision, remembered = command.decision, command.remember
    if rule is not None and remembered is not None and remembered.agent_settings and isinstance(decision, Allow):
        decision = replace(decision, grant=Grant(rule.pattern, remembered.agent_settings))
    passed = isinstance(decision, NoOpinion)
    if isinstance(decision, NoOpinion):
        decision = handed_back_decision(request, decision.reason)
    still_asks = passed and request.kind != "stop" and step.session.context.entrypoint in ("", "cli")
    step.resolve(request, decision, Source.USER, command.by, note=command.note, still_asks=still_asks)
    decided = step.draft.changed_requests[request.request_id]
    kept, also_decided = remember(step, rule, command.by, request.request_id) if rule else (None, ())
    step.reply(request.request_id, "applied", request=decided, rule=kept, also_decided=also_decided)


def _record_late(step: Step, command: Decide, request: Request) -> None:
    outcome = {"decided": "already_decided"}.get(request.status, request.status)
    if validation_error(request, command.decision) is None:
        step.record_decision(request, command.decision, Source.USER, command.by, note=command.note, late=True)
    step.reply(request.request_id, outcome, request=request)


def record_refusal(step: Step, refused: DecisionRefused) -> None:
    """Record an attempt to decide by a client that may not: beside its request, or as an event of no session."""
    request = step.draft.requests.get(refused.request_id or "")
    data = DecisionRefusedData(wanted=refused.attempt, **shared_fields(refused, DecisionRefusedData))
    if request is None:
        step.emit_own("decision.refused", data, level="warn")
    else:
        step.session_id = request.session_id
        step.emit("decision.refused", data, level="warn", parent=request.event_id, tool_use_id=request.tool_use_id)


def validation_error(request: Request, decision: Decision) -> str | None:
    """The reason why this decision cannot answer this request, with the field's name; None when it can."""
    form = request.form or request.kind
    fitting = tuple(dict.fromkeys((*ACTIONS[form].values(), *CLIENTS_ONLY.get(form, ()))))
    if not isinstance(decision, fitting):
        return f"decision: a request of kind {form} takes {', '.join(_NAMES[kind] for kind in fitting)}"
    if isinstance(decision, Answer):
        return _answers_error(request, decision) if form == "questions" else _form_error(request, decision)
    if isinstance(decision, Allow) and decision.mode is not None and form != "plan":
        return "mode: is only for the approval of a plan"
    if isinstance(decision, Allow) and decision.updated_input is not None:
        return _edit_error(request, decision.updated_input)
    return None


def _edit_error(request: Request, edited: dict[str, Any]) -> str | None:
    """Check that an edit keeps the shape of the input: the tool would refuse another one, and the agent would fail."""
    if request.kind != "permission":
        return f"updated_input: a request of kind {request.form or request.kind} takes no edited input"
    for key in KEY_FIELDS:
        if key in request.tool_input and key not in edited:
            return f"updated_input: {key} is missing, and {request.tool_name} needs it"
    for key, value in edited.items():
        original = request.tool_input.get(key)
        if original is not None and _json_type(original) != _json_type(value):
            return f"updated_input: {key} was a {_json_type(original)} and must stay one"
    return None


def _json_type(value: object) -> str:
    names = {str: "text", bool: "yes or no", int: "number", float: "number", list: "list", dict: "object"}
    return names.get(type(value), "nothing")


KEY_FIELDS = ("command", "file_path", "notebook_path", "url", "pattern", "query")
"""Fields that a tool needs if its input had them."""

_NAMES = {Allow: "allow", Deny: "deny", Answer: "answer", Block: "block", NoOpinion: "pass"}


def _answers_error(request: Request, decision: Answer) -> str | None:
    """Check the answers: a label or free text per question, several if it takes several; a note per question."""
    questions = [q for q in items(request.tool_input, "questions") if isinstance(q, dict)]
    several = {text(q, "question"): flag(q, "multiSelect") for q in questions}
    if not decision.answers:
        return "answers: at least one answer is needed"
    for key, value in decision.answers.items():
        if key not in several:
            return f"answers: {key!r} is not one of the questions; keys are the full question texts"
        chosen = value if isinstance(value, list) else [value]
        if not chosen or not all(isinstance(v, str) and v for v in chosen):
            return f"answers: the answer to {key!r} must be a text or a list of texts"
        if len(chosen) > 1 and not several[key]:
            return f"answers: {key!r} takes one answer, not {len(chosen)}"
    strange = next((key for key in decision.notes or {} if key not in several), None)
    return None if strange is None else f"notes: {strange!r} is not one of the questions"


def _form_error(request: Request, decision: Answer) -> str | None:
    """Check the content against the form's schema, field by field."""
    if decision.notes:
        return "notes: are only for questions; a form takes none"
    problem = form_error(obj(request.tool_input, "requested_schema"), decision.answers)
    return f"answers.{problem[0]}: {problem[1]}" if problem else None
