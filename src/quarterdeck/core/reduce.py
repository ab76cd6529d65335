"""The only place where anything is decided: (state, input) -> state, events, effects. Pure, and never raises."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from quarterdeck.core.engine.messages import (
    AddRule,
    AddRules,
    Answer,
    CreateToken,
    Deadline,
    Decide,
    DecisionRefused,
    Effect,
    ExtensionChanged,
    Heard,
    HolderGone,
    Input,
    InputRefused,
    NotifyFailed,
    ProcessGone,
    ProcessSeen,
    RemoveRule,
    Restarted,
    RevokeToken,
    StillWaiting,
    Stopping,
    TimePassed,
    TranscriptRead,
    Trimming,
    TrustProject,
    Unattended,
)
from quarterdeck.core.engine.session_messages import (
    Change,
    Down,
    End,
    Failed,
    Given,
    Interrupt,
    Noted,
    Send,
    Start,
    Switch,
    TurnEnded,
    Up,
    WorktreeChanged,
)
from quarterdeck.core.engine.step import Step, handed_back, unanswered
from quarterdeck.core.handlers.admin import change_tokens, record_extension, record_settings, record_trim
from quarterdeck.core.handlers.decisions import decide, record_refusal
from quarterdeck.core.handlers.escalation import look, record_failure
from quarterdeck.core.handlers.hooks import end_run, hear
from quarterdeck.core.handlers.processes import age, process_gone, process_seen
from quarterdeck.core.handlers.requests import shows_its_dialog
from quarterdeck.core.handlers.rules import add_rule, add_rules, drop_idle, remove_rule, trust_project
from quarterdeck.core.handlers.session_commands import carry_out
from quarterdeck.core.handlers.session_lifecycle import come_back, hear_news, reap_idle
from quarterdeck.core.handlers.transcripts import read_transcript
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.events import OWN, FeedEvent
from quarterdeck.core.model.state import Request, Session, State


class Result(Struct, frozen=True):
    """What one input led to; `requests` and `sessions` are the views the store keeps beside the log."""

    state: State
    events: list[FeedEvent]
    effects: list[Effect]
    requests: dict[str, Request]
    sessions: dict[str, Session]

    @property
    def told_nothing(self) -> bool:
        """Whether the agent that spoke is answered at once with silence, as nearly always."""
        return len(self.effects) == 1 and type(said := self.effects[0]) is Answer and said.request is None


def reduce(state: State, told: Input) -> Result:
    """Decide what happens now."""
    match told:
        case Heard(event=event):
            step = Step(state, event.session_id, event.at, event.id)
            hear(step, told)
        case Decide(request_id=request_id, at=at):
            request = state.requests.get(request_id) or told.prior
            step = Step(state, request.session_id if request else "", at)
            decide(step, told)
        case Deadline():
            step = _deadline(state, told)
        case StillWaiting(request_id=request_id, at=at):
            request = _open(state, request_id)
            step = Step(state, request.session_id if request else "", at)
            if request is not None:
                look(step, told, request)
        case HolderGone():
            step = _holder_gone(state, told)
        case ProcessSeen(session_id=session_id, at=at):
            step = Step(state, session_id, at)
            process_seen(step, told)
        case ProcessGone(session_id=session_id, at=at):
            step = Step(state, session_id, at)
            process_gone(step, told)
        case TimePassed(at=at):
            step = Step(state, "", at)
            age(step)
            drop_idle(step)
            reap_idle(step)
        case TranscriptRead(session_id=session_id, at=at):
            step = Step(state, session_id, at)
            read_transcript(step, told)
        case Unattended(at=at):
            step = _unattended(state, at)
        case Restarted(at=at, settings=settings):
            step = _let_go(state, at, "Quarterdeck restarted: answer at the terminal")
            come_back(step)
            record_settings(step, settings)
        case CreateToken() | RevokeToken():
            step = Step(state, OWN, told.at)
            change_tokens(step, told)
        case AddRule():
            step = Step(state, OWN, told.at)
            add_rule(step, told)
        case AddRules():
            step = Step(state, OWN, told.at)
            add_rules(step, told)
        case RemoveRule():
            step = Step(state, OWN, told.at)
            remove_rule(step, told)
        case TrustProject():
            step = Step(state, OWN, told.at)
            trust_project(step, told)
        case Start() | Send() | Interrupt() | End() | Change() | Switch():
            step = Step(state, told.session_id, told.at)
            carry_out(step, told)
        case Up() | Down() | Failed() | Given() | TurnEnded() | Noted() | WorktreeChanged():
            step = Step(state, told.session_id, told.at)
            hear_news(step, told)
        case Trimming():
            step = Step(state, OWN, told.at)
            record_trim(step, told)
        case ExtensionChanged():
            step = Step(state, OWN, told.at)
            record_extension(step, told)
        case NotifyFailed(at=at):
            step = Step(state, OWN, at)
            record_failure(step, told)
        case Stopping(at=at, spares_sdk=spares_sdk):
            step = _let_go(state, at, "Quarterdeck stopped: answer at the terminal", spares_sdk=spares_sdk)
        case DecisionRefused(request_id=request_id, at=at):
            request = state.requests.get(request_id or "")
            step = Step(state, request.session_id if request else OWN, at)
            record_refusal(step, told, request)
        case InputRefused():
            step = _input_refused(state, told)
        case _:
            assert_never(told)
    draft = step.draft
    return Result(draft.done(), step.events, step.effects, draft.changed_requests, draft.changed_sessions)


def _open(state: State, request_id: str) -> Request | None:
    request = state.requests.get(request_id)
    return request if request is not None and request.status == "pending" else None


def _deadline(state: State, told: Deadline) -> Step:
    request = _open(state, told.request_id)
    step = Step(state, request.session_id if request else "", told.at)
    if request is not None:
        decision = unanswered(request, "nobody answered in time")
        still_asks = request.kind != "stop" and not request.enforced
        step.close(request, decision, Source.TIMEOUT, "deadline", status="expired", still_asks=still_asks)
        if request.kind == "stop":
            end_run(step, "completed")
    return step


def _holder_gone(state: State, told: HolderGone) -> Step:
    request = _open(state, told.request_id)
    step = Step(state, request.session_id if request else "", told.at)
    if request is not None:
        is_ours = request.holder == "sdk"
        step.withdraw(request, "its turn was stopped" if is_ours else "answered or cancelled at the terminal")
        if request.kind == "stop":
            end_run(step, "completed")
    return step


def _unattended(state: State, at: float) -> Step:
    """With `decide.hold: auto` a request without a dialog of its own is held only while someone attends."""
    step = Step(state, "", at)
    for request in state.requests.values():
        step.session_id = request.session_id
        if request.status != "pending" or state.settings.hold != "auto" or request.holder == "sdk":
            continue
        if request.enforced or not shows_its_dialog(step.session.context, request.agent_id):
            decision = handed_back(request, "nobody attends any more")
            step.close(request, decision, Source.RULE, "decide.hold", still_asks=request.agent_id is not None)
            if request.kind == "stop":
                end_run(step, "completed")
    return step


def _let_go(state: State, at: float, reason: str, *, spares_sdk: bool = False) -> Step:
    """Connections are gone or going: every open request goes back to the agent's own dialog."""
    step = Step(state, "", at)
    for request in state.requests.values():
        if request.status == "pending" and not (spares_sdk and request.holder == "sdk"):
            step.session_id = request.session_id
            step.withdraw(request, reason, still_asks=request.kind != "stop" and not request.enforced)
            if request.kind == "stop":
                end_run(step, "completed")
    return step


def _input_refused(state: State, told: InputRefused) -> Step:
    event = told.event
    step = Step(state, event.session_id, event.at, event.id)
    data = d.UnknownHookData(hook_event_name=event.hook_name, payload=event.payload, error=told.error)
    step.emit("unknown.hook", data, level="error")
    return step
