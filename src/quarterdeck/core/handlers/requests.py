"""Opening a request, and closing it when it was answered somewhere else."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.fold_requests import sent_about
from quarterdeck.core.engine.messages import Answer, Heard, LookAfter, Places, Unwatch, WakeAfter
from quarterdeck.core.engine.notifications import level_of
from quarterdeck.core.engine.step import Step, decision_data
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.decisions import Allow, Deny, NoOpinion, Source
from quarterdeck.core.model.payload import TOO_LARGE, digest_of, items, obj
from quarterdeck.core.model.rule import Verdict
from quarterdeck.core.model.runtime_event import Context, RuntimeEvent
from quarterdeck.core.model.state import Request
from quarterdeck.core.model.unattended_policy import next_look
from quarterdeck.core.rules.verdicts import close_by_rule, decides, judge, subject_of

FORMS = {"AskUserQuestion": "questions", "ExitPlanMode": "plan"}
"""Tools whose permission request is a question to the person."""

AROUND = frozenset(
    {"session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "effort", "hook_event_name"}
)
"""What every hook says; the rest of an elicitation is the form itself."""

ELSEWHERE = {True: "the tool ran", False: "the tool did not run"}


def ask(step: Step, heard: Heard) -> bool:
    """Decide by the rules, or put the request on the desk. True when the agent is answered or held; otherwise it is
    told nothing, at once."""
    verdict = judge_heard(step, heard)
    request = open_request(step, heard, held=not decides(verdict) and _holds(step, heard))
    if decides(verdict):
        close_by_rule(step, request, verdict)
    elif not request.held:
        _pass_at_once(step, heard.event, request)
    return request.held or decides(verdict)


def judge_heard(step: Step, heard: Heard) -> Verdict:
    """What the rules say of what an agent is about to do."""
    event, settings = heard.event, step.draft.state.settings
    subject = subject_of(settings, event, _asked_for(event), _places(step, heard))
    return judge(step, subject, form_of(event))


def _places(step: Step, heard: Heard) -> Places:
    return heard.places or Places(cwd=context_of(step, heard.event).cwd)


def _asked_for(event: RuntimeEvent) -> dict[str, Any]:
    if form_of(event) != "elicitation":
        return obj(event.payload, "tool_input")
    return {key: value for key, value in event.payload.items() if key not in AROUND}


def form_of(event: RuntimeEvent) -> str | None:
    """What kind of question it is, if it is one."""
    return "elicitation" if event.hook_name == "Elicitation" else FORMS.get(event.tool_name or "")


def open_request(step: Step, heard: Heard, *, held: bool, enforced: bool = False) -> Request:
    """Record what an agent asks for; when it is held, until its deadline."""
    event, places = heard.event, _places(step, heard)
    tool_input, form = _asked_for(event), form_of(event)
    wait = _patience(step, heard.holder)
    asked: dict[str, Any] = {
        "request_id": event.id,
        "digest": _digest(step, event, tool_input),
        "hook_name": event.hook_name,
        "held": held,
        "enforced": enforced,
        "holder": heard.holder,
        "expires_at": event.at + wait if held else None,
        "agent_id": event.agent_id,
        "agent_type": event.agent_type,
        "tool_name": event.tool_name or event.hook_name,
        "tool_input": tool_input,
        "tool_use_id": event.tool_use_id or _tool_use_id(step, event, tool_input),
        "permission_suggestions": items(event.payload, "permission_suggestions"),
    }
    kind = "question" if form else "permission"
    data = (
        d.QuestionRequestData(form=form, **asked)
        if form
        else d.PermissionRequestData(cwd=places.cwd, path=places.path, **asked)
    )
    step.emit(f"{kind}.request", data, level="warn", parent=_announced(step, data), tool_use_id=data.tool_use_id)
    if held:
        _wait(step, event.id)
    return step.draft.requests[event.id]


def _patience(step: Step, holder: str) -> float:
    settings = step.draft.state.settings
    return settings.approval_seconds if holder == "sdk" else settings.wait_seconds


def _wait(step: Step, request_id: str) -> None:
    """Hold the request, for so long at most; look at it earlier where a person settled what happens until then."""
    settings, request = step.draft.state.settings, step.draft.requests[request_id]
    step.effects.append(WakeAfter(request_id=request_id, seconds=_patience(step, request.holder)))
    level = level_of(request, step.session, settings)
    seconds = next_look(settings.unattended, level, told=bool(request.escalated))
    if seconds is not None:
        step.effects.append(LookAfter(request_id=request_id, seconds=seconds))


def _pass_at_once(step: Step, event: RuntimeEvent, request: Request) -> None:
    has_dialog = context_of(step, event).entrypoint == "cli"
    why = "the agent's own dialog decides" if has_dialog else "nobody attends"
    step.record(request, NoOpinion(reason=f"not held: {why}"), Source.RULE, "decide.hold", still_asks=has_dialog)


def context_of(step: Step, event: RuntimeEvent) -> Context:
    """What is known of the session's surroundings, with the event's own word first."""
    known = step.session.context
    return replace(
        event.context,
        entrypoint=event.context.entrypoint or known.entrypoint,
        cwd=event.context.cwd or known.cwd,
        permission_mode=event.context.permission_mode or known.permission_mode,
    )


def _holds(step: Step, heard: Heard) -> bool:
    """Whether a person is waited for: never for nobody, and never in place of a dialog that we would hide."""
    hold = step.draft.state.settings.hold
    if TOO_LARGE in obj(heard.event.payload, "tool_input"):
        return False
    if hold != "auto" or heard.holder == "sdk":
        return hold != "never"  # the desk is the only dialog of a session that runs through the SDK
    context = context_of(step, heard.event)
    if heard.event.hook_name == "Elicitation":
        return heard.attended and context.entrypoint != "cli"  # its dialog waits until the hook has answered
    return heard.attended or shows_its_dialog(context, heard.event.agent_id)


def shows_its_dialog(context: Context, agent_id: str | None) -> bool:
    """Whether the agent asks at its own terminal while we hold it: a sub-agent in the background waits for us first."""
    return context.entrypoint == "cli" and agent_id is None


def _digest(step: Step, event: RuntimeEvent, tool_input: dict[str, object]) -> str:
    context = context_of(step, event)
    return digest_of(step.draft.state.runner_id, event, tool_input, context.cwd, context.permission_mode)


def _tool_use_id(step: Step, event: RuntimeEvent, tool_input: dict[str, object]) -> str | None:
    """A permission request names no tool call: it means the latest open one with the same words."""
    for tool_use_id, tool in reversed(step.session.open_tools.items()):
        same = (tool.tool_name, tool.agent_id, tool.tool_input) == (event.tool_name, event.agent_id, tool_input)
        if same:
            return tool_use_id
    return None


def _announced(step: Step, data: d.PermissionRequestData | d.QuestionRequestData) -> str | None:
    tool = step.session.open_tools.get(data.tool_use_id or "")
    return tool.event_id if tool else None


def ask_to_stop(step: Step, heard: Heard, data: d.StopRequestData) -> bool:
    """Hold a stop when the person asked for that. True when it is held."""
    event, settings = heard.event, step.draft.state.settings
    if not settings.hold_stop or not _holds(step, heard):
        return False
    held = replace(
        data,
        request_id=event.id,
        digest=_digest(step, event, {"last_assistant_message": data.last_assistant_message}),
        hook_name=event.hook_name,
        held=True,
        holder=heard.holder,
        expires_at=event.at + settings.wait_seconds,
    )
    step.emit("stop.request", held, level="warn")
    _wait(step, event.id)
    return True


def resolve_elsewhere(step: Step, event: RuntimeEvent, tool_use_id: str | None, *, ran: bool) -> None:
    """The tool ran or did not: an open request about it was answered at the terminal, a decided one was
    overridden if it said otherwise."""
    for request in _open_about(step, event, tool_use_id, ran=ran):
        decision = Allow() if ran else Deny(ELSEWHERE[False])
        step.record(request, decision, Source.ELSEWHERE, "terminal", note=ELSEWHERE[ran])
        step.effects.append(Answer(event_id=request.request_id, decision=NoOpinion()))
        step.effects.append(Unwatch(request_id=request.request_id))
    tool_input = obj(event.payload, "tool_input")
    key = sent_about(step.draft, step.session, tool_use_id, event.tool_name or "", tool_input)
    sent = step.draft.requests.get(step.session.sent.get(key or "", ""))
    if sent is not None and sent.decision is not None and (sent.decision.decision_type != "deny") is not ran:
        decision = Allow() if ran else Deny(ELSEWHERE[False])
        data = decision_data(sent, decision, Source.ELSEWHERE, "terminal", overrides=True, note=ELSEWHERE[ran])
        step.emit(f"{sent.kind}.decision", data, level="warn", parent=sent.event_id, tool_use_id=tool_use_id)


def _open_about(step: Step, event: RuntimeEvent, tool_use_id: str | None, *, ran: bool) -> list[Request]:
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


def resolve_rest(step: Step, reason: str, *, form: str | None = None, of_agent: bool = False) -> None:
    """Withdraw the open requests of a session: all of them, those of one form, or those of the main agent."""
    for request_id in list(step.session.waiting):
        request = step.draft.requests[request_id]
        if (form is None or request.form == form) and not (of_agent and request.agent_id):
            step.withdraw(request, reason)
