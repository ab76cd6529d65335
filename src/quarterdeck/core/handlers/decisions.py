"""A person's decision: whether it fits, whether it is in time, and what follows."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.messages import Decide, DecisionRefused, Reply
from quarterdeck.core.engine.step import Step, handed_back
from quarterdeck.core.handlers.hooks import end_run
from quarterdeck.core.handlers.rules import remember, rule_to_remember
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.decisions import Allow, Answer, Block, Decision, Deny, Grant, NoOpinion, Source
from quarterdeck.core.model.payload import flag, items, obj, text
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Request
from quarterdeck.core.rules.verdicts import judge, subject_of_request
from quarterdeck.core.text.forms import misfilled

FITTING: dict[str, tuple[type[Decision], ...]] = {
    "permission": (Allow, Deny, Block, NoOpinion),
    "plan": (Allow, Deny, NoOpinion),
    "questions": (Answer, Deny, NoOpinion),
    "elicitation": (Answer, Deny, NoOpinion),
    "stop": (Allow, Block, NoOpinion),
}
"""Which decisions a request takes, by its form or kind."""


def decide(step: Step, command: Decide) -> None:
    """Apply a decision exactly once; the first one wins and later ones are recorded as late."""
    request = step.draft.requests.get(command.request_id) or _over(command.prior)
    if request is None:
        step.effects.append(Reply(request_id=command.request_id, outcome="not_found"))
    elif request.status != "pending":
        _late(step, command, request)
    elif command.digest != request.digest:
        step.effects.append(Reply(request_id=request.request_id, outcome="digest_mismatch", request=request))
    elif problem := (
        misfit(request, command.decision)
        or _passed_to_nobody(step, command.decision)
        or _denied_edit(step, request, command.decision)
    ):
        reply = Reply(request_id=request.request_id, outcome="invalid", request=request, message=problem)
        step.effects.append(reply)
    else:
        rule = rule_to_remember(step, command, request)
        if isinstance(rule, str):
            step.effects.append(Reply(request_id=request.request_id, outcome="invalid", request=request, message=rule))
        else:
            _apply(step, command, request, rule)


def _passed_to_nobody(step: Step, decision: Decision) -> str | None:
    """A pass would be a denial in disguise where there is no terminal to ask at."""
    if not isinstance(decision, NoOpinion) or step.session.has_terminal:
        return None
    return "decision: the session runs without a terminal to leave it to; decide it here"


def _denied_edit(step: Step, request: Request, decision: Decision) -> str | None:
    """An edited input is looked at again: what a rule denies, no edit brings past it."""
    if not isinstance(decision, Allow) or decision.updated_input is None:
        return None
    subject = subject_of_request(step.draft.state.settings, request, decision.updated_input)
    verdict = judge(step, subject)
    if verdict.effect != "deny":
        return None
    return f"updated_input: the rule {verdict.rules[0].pattern} denies this"


def _over(prior: Request | None) -> Request | None:
    """A request that has left the live state is over, even if it was read a moment before that."""
    return replace(prior, status="withdrawn") if prior is not None and prior.status == "pending" else prior


def _apply(step: Step, command: Decide, request: Request, rule: Rule | None) -> None:
    decision, wanted = command.decision, command.remember
    if rule is not None and wanted is not None and wanted.agent_keeper and isinstance(decision, Allow):
        decision = replace(decision, grant=Grant(rule.pattern, wanted.agent_keeper))
    passed = isinstance(decision, NoOpinion)
    if isinstance(decision, NoOpinion):
        decision = handed_back(request, decision.reason)
    still_asks = passed and request.kind != "stop" and step.session.context.entrypoint in ("", "cli")
    step.close(request, decision, Source.USER, command.by, note=command.note, still_asks=still_asks)
    if request.kind == "stop" and not isinstance(decision, Block):
        end_run(step, "completed")
    decided = step.draft.changed_requests[request.request_id]
    kept, also = remember(step, rule, command.by, request.request_id) if rule else (None, ())
    step.effects.append(Reply(request_id=request.request_id, outcome="applied", request=decided, rule=kept, also=also))


def _late(step: Step, command: Decide, request: Request) -> None:
    outcome = {"decided": "already_decided"}.get(request.status, request.status)
    if misfit(request, command.decision) is None:
        step.record(request, command.decision, Source.USER, command.by, note=command.note, late=True)
    step.effects.append(Reply(request_id=request.request_id, outcome=outcome, request=request))


def record_refusal(step: Step, told: DecisionRefused, request: Request | None) -> None:
    """Somebody who may not decide tried to: it stands beside the request, or in the record of no session."""
    data = d.DecisionRefusedData(
        wanted=told.wanted,
        by=told.by,
        reason=told.reason,
        agent_session_id=told.agent_session_id,
        request_id=told.request_id,
        pid=told.pid,
        command=told.command,
    )
    if request is None:
        step.emit_own("decision.refused", data, level="warn")
    else:
        step.emit("decision.refused", data, level="warn", parent=request.event_id, tool_use_id=request.tool_use_id)


def misfit(request: Request, decision: Decision) -> str | None:
    """Why this decision cannot answer this request, naming the field; None when it can."""
    form = request.form or request.kind
    if not isinstance(decision, FITTING[form]):
        fitting = ", ".join(_WORD[kind] for kind in FITTING[form])
        return f"decision: a request of kind {form} takes {fitting}"
    if isinstance(decision, Answer):
        return _bad_answers(request, decision) if form == "questions" else _bad_form(request, decision)
    if isinstance(decision, Allow) and decision.mode is not None and form != "plan":
        return "mode: goes with the approval of a plan"
    if isinstance(decision, Allow) and decision.updated_input is not None:
        return _bad_edit(request, decision.updated_input)
    return None


def _bad_edit(request: Request, edited: dict[str, Any]) -> str | None:
    """An edit keeps the shape of what was asked: the tool would refuse another one, and the agent with it."""
    if request.kind != "permission":
        return f"updated_input: a request of kind {request.form or request.kind} takes no edited input"
    for key in ABOUT:
        if key in request.tool_input and key not in edited:
            return f"updated_input: {key} is missing, and {request.tool_name} is about it"
    for key, value in edited.items():
        asked = request.tool_input.get(key)
        if asked is not None and _json_type(asked) != _json_type(value):
            return f"updated_input: {key} was a {_json_type(asked)} and must stay one"
    return None


def _json_type(value: object) -> str:
    names = {str: "text", bool: "yes or no", int: "number", float: "number", list: "list", dict: "object"}
    return names.get(type(value), "nothing")


ABOUT = ("command", "file_path", "notebook_path", "url", "pattern", "query")
"""What a tool cannot do without where it was given."""

_WORD = {Allow: "allow", Deny: "deny", Answer: "answer", Block: "block", NoOpinion: "pass"}


def _bad_answers(request: Request, decision: Answer) -> str | None:
    """A label or free text per question, several where it takes several; a note per question."""
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


def _bad_form(request: Request, decision: Answer) -> str | None:
    """The content as the form's schema wants it, field by field."""
    if decision.notes:
        return "notes: go with questions; a form takes none"
    problem = misfilled(obj(request.tool_input, "requested_schema"), decision.answers)
    return f"answers.{problem[0]}: {problem[1]}" if problem else None
