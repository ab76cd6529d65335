"""Opening a request, and resolving it when it was answered elsewhere."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.folds.request_folds import sent_key
from quarterdeck.core.engine.messages import HookReceived, ResolvedPaths, SendAnswer, Unwatch, WakeAfter
from quarterdeck.core.engine.step import Step, decision_data
from quarterdeck.core.handlers.hooks.hold_policy import context_of, should_hold
from quarterdeck.core.model.decisions import Allow, Deny, NoOpinion, Source
from quarterdeck.core.model.event_data.request_data import PermissionRequestData, QuestionRequestData, StopRequestData
from quarterdeck.core.model.payload import digest_of, items, obj
from quarterdeck.core.model.rule import Verdict
from quarterdeck.core.model.runtime_event import EventName, RuntimeEvent
from quarterdeck.core.model.state import Request
from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.model.unattended_policy import next_check
from quarterdeck.core.risk.quick_risk import risk_level
from quarterdeck.core.rules.verdicts import close_by_rule, is_decision, request_verdict, tool_use_of

FORMS: dict[str, str] = {ToolKind.QUESTION: "questions", ToolKind.PLAN: "plan"}
"""Tools whose permission request is a question to a person, and the form of the question."""

ENVELOPE_FIELDS = frozenset(
    {"session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "effort", "hook_event_name"}
)
"""The fields of every hook; the other fields of an elicitation are the form itself."""

NOTES = {True: "the tool ran", False: "the tool did not run"}


def decide_or_hold(step: Step, received: HookReceived) -> bool:
    """Decide by the rules, or hold the request for a person. True when the agent is answered or held; otherwise it gets
    no opinion at once."""
    verdict = hook_verdict(step, received)
    request = open_request(step, received, held=not is_decision(verdict) and should_hold(step, received))
    if is_decision(verdict):
        close_by_rule(step, request, verdict)
    elif not request.held:
        _record_pass(step, received.event, request)
    return request.held or is_decision(verdict)


def hook_verdict(step: Step, received: HookReceived) -> Verdict:
    """The verdict of the rules on a hook's tool call."""
    event, settings = received.event, step.draft.state.settings
    subject = tool_use_of(settings, event, _requested_input(event), _resolved_paths(step, received))
    return request_verdict(step, subject, form_of(event))


def _resolved_paths(step: Step, received: HookReceived) -> ResolvedPaths:
    return received.paths or ResolvedPaths(cwd=context_of(step, received.event).cwd)


def _requested_input(event: RuntimeEvent) -> dict[str, Any]:
    if form_of(event) != "elicitation":
        return obj(event.payload, "tool_input")
    return {key: value for key, value in event.payload.items() if key not in ENVELOPE_FIELDS}


def form_of(event: RuntimeEvent) -> str | None:
    """The form of the question, None when it is a plain permission."""
    return "elicitation" if event.event == EventName.FORM_ASKED else FORMS.get(event.tool.kind)


def open_request(step: Step, received: HookReceived, *, held: bool, enforced: bool = False) -> Request:
    """Record an agent's request; a held one gets a deadline."""
    event, paths = received.event, _resolved_paths(step, received)
    tool_input, form = _requested_input(event), form_of(event)
    wait = _wait_seconds(step, received.waiter)
    fields: dict[str, Any] = {
        "request_id": event.id,
        "digest": _digest(step, event, tool_input),
        "hook_name": event.hook_name,
        "held": held,
        "enforced": enforced,
        "holder": received.waiter,
        "reconnects": held and received.reconnects,
        "expires_at": event.at + wait if held else None,
        "agent_id": event.agent_id,
        "agent_type": event.agent_type,
        "tool_name": event.tool_name or event.hook_name,
        "tool_kind": event.tool_kind,
        "tool_risk": event.tool.risk,
        "tool_input": tool_input,
        "tool_use_id": event.tool_use_id or _tool_use_id(step, event, tool_input),
        "permission_suggestions": items(event.payload, "permission_suggestions"),
    }
    kind = "question" if form else "permission"
    data = (
        QuestionRequestData(form=form, **fields)
        if form
        else PermissionRequestData(cwd=paths.cwd, path=paths.path, **fields)
    )
    step.emit(f"{kind}.request", data, level="warn", parent=_start_event(step, data), tool_use_id=data.tool_use_id)
    if held:
        _schedule(step, event.id)
    return step.draft.requests[event.id]


def _wait_seconds(step: Step, waiter: str) -> float:
    settings = step.draft.state.settings
    return settings.approval_seconds if waiter == "sdk" else settings.wait_seconds


def watch_again(step: Step, request: Request) -> None:
    """Schedule the rest of the time of a request that a restart has left waiting."""
    left = (request.expires_at or step.at) - step.at
    _schedule(step, request.request_id, min(max(left, 0.0), _wait_seconds(step, request.waiter)))


def _schedule(step: Step, request_id: str, seconds: float | None = None) -> None:
    """Schedule the deadline of a held request, and an earlier check if the unattended policy needs one."""
    settings, request = step.draft.state.settings, step.draft.requests[request_id]
    wait = _wait_seconds(step, request.waiter) if seconds is None else seconds
    step.effects.append(WakeAfter(request_id=request_id, seconds=wait))
    level = risk_level(request, step.session, settings)
    step.check_after(request_id, next_check(settings.unattended, level, notified=bool(request.escalated)))


def _record_pass(step: Step, event: RuntimeEvent, request: Request) -> None:
    has_dialog = context_of(step, event).entrypoint == "cli"
    why = "the agent's own dialog decides" if has_dialog else "nobody is watching"
    step.record_decision(
        request, NoOpinion(reason=f"not held: {why}"), Source.RULE, "decide.hold", still_asks=has_dialog
    )


def _digest(step: Step, event: RuntimeEvent, tool_input: dict[str, object]) -> str:
    context = context_of(step, event)
    return digest_of(step.draft.state.runner_id, event, tool_input, context.cwd, context.permission_mode)


def _tool_use_id(step: Step, event: RuntimeEvent, tool_input: dict[str, object]) -> str | None:
    """The tool call of a permission request. It names none, so it is the latest open one with the same input."""
    for tool_use_id, tool in reversed(step.session.open_tools.items()):
        same = (tool.tool_name, tool.agent_id, tool.tool_input) == (event.tool_name, event.agent_id, tool_input)
        if same:
            return tool_use_id
    return None


def _start_event(step: Step, data: PermissionRequestData | QuestionRequestData) -> str | None:
    tool = step.session.open_tools.get(data.tool_use_id or "")
    return tool.event_id if tool else None


def hold_stop(step: Step, received: HookReceived, data: StopRequestData) -> bool:
    """Hold a stop if `decide.hold_stop` is set. True when it is held."""
    event, settings = received.event, step.draft.state.settings
    if not settings.hold_stop or not should_hold(step, received):
        return False
    held = replace(
        data,
        request_id=event.id,
        digest=_digest(step, event, {"last_assistant_message": data.last_assistant_message}),
        hook_name=event.hook_name,
        held=True,
        holder=received.waiter,
        reconnects=received.reconnects,
        expires_at=event.at + settings.wait_seconds,
    )
    step.emit("stop.request", held, level="warn")
    _schedule(step, event.id)
    return True


def resolve_elsewhere(step: Step, event: RuntimeEvent, tool_use_id: str | None, *, ran: bool) -> None:
    """Resolve what a tool's outcome proves: an open request about it was answered at the terminal; a decided one was
    overridden if its decision was the opposite."""
    for request in _open_requests_about(step, event, tool_use_id, ran=ran):
        decision = Allow() if ran else Deny(NOTES[False])
        step.record_decision(request, decision, Source.ELSEWHERE, "terminal", note=NOTES[ran])
        step.effects.append(SendAnswer(event_id=request.request_id, decision=NoOpinion()))
        step.effects.append(Unwatch(request_id=request.request_id))
    tool_input = obj(event.payload, "tool_input")
    key = sent_key(step.draft, step.session, tool_use_id, event.tool_name or "", tool_input)
    sent = step.draft.requests.get(step.session.sent.get(key or "", ""))
    if sent is not None and sent.decision is not None and (sent.decision.decision_type != "deny") is not ran:
        decision = Allow() if ran else Deny(NOTES[False])
        data = decision_data(sent, decision, Source.ELSEWHERE, "terminal", overrides=True, note=NOTES[ran])
        step.emit(f"{sent.kind}.decision", data, level="warn", parent=sent.event_id, tool_use_id=tool_use_id)


def _open_requests_about(step: Step, event: RuntimeEvent, tool_use_id: str | None, *, ran: bool) -> list[Request]:
    found = []
    tool_input = obj(event.payload, "tool_input")
    for request_id in step.session.waiting:
        request = step.draft.requests[request_id]
        named = request.tool_use_id is not None and request.tool_use_id == tool_use_id
        alike = (
            ran
            and request.tool_use_id is None
            and (request.tool_name, request.agent_id, request.tool_input)
            == (event.tool_name, event.agent_id, tool_input)
        )
        if named or alike:
            found.append(request)
    return found


def withdraw_requests(step: Step, reason: str, *, form: str | None = None, of_agent: bool = False) -> None:
    """Withdraw the open requests of a session: all of them, those of one form, or only those of the main agent."""
    for request_id in list(step.session.waiting):
        request = step.draft.requests[request_id]
        if (form is None or request.form == form) and not (of_agent and request.agent_id):
            step.withdraw(request, reason)
