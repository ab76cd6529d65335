"""The only place where anything is decided: (state, input) -> state, events, effects. Pure; it never raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from quarterdeck.core.engine import deck_messages, messages, session_messages
from quarterdeck.core.engine.input_bases import RequestInput, SessionInput
from quarterdeck.core.engine.messages import Effect, Input, SendAnswer
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers import (
    admin,
    decisions,
    escalation,
    pending_release,
    processes,
    rules,
    session_commands,
    session_lifecycle,
    transcripts,
)
from quarterdeck.core.handlers.deck import controls, presses, text_delivery
from quarterdeck.core.handlers.hooks import dispatch
from quarterdeck.core.model.events import OWN, FeedEvent
from quarterdeck.core.model.state import Request, Session, State

M = TypeVar("M", bound=Struct)
Handler = Callable[[Step, Any], None]


class Result(Struct, frozen=True):
    """The outcome of one input; `requests` and `sessions` are the changed views that the store keeps beside the log."""

    state: State
    events: list[FeedEvent]
    effects: list[Effect]
    requests: dict[str, Request]
    sessions: dict[str, Session]

    @property
    def is_silent(self) -> bool:
        """True when the only effect is to answer the agent at once with no opinion, as for nearly every hook."""
        return len(self.effects) == 1 and type(answer := self.effects[0]) is SendAnswer and answer.request is None


def reduce(state: State, message: Input) -> Result:
    """Decide what happens now."""
    step = _opened_step(state, message)
    _HANDLERS[type(message)](step, message)
    draft = step.draft
    return Result(draft.finish(), step.events, step.effects, draft.changed_requests, draft.changed_sessions)


_HOOK_CALLS = (messages.HookReceived, messages.InputRefused)


def _opened_step(state: State, message: Input) -> Step:
    """The step of an input: in the session that it is about, or in none."""
    if isinstance(message, _HOOK_CALLS):
        event = message.event
        return Step(state, event.session_id, event.at, event.id)
    session_id = OWN
    if isinstance(message, SessionInput):
        session_id = message.session_id
    elif isinstance(message, RequestInput):
        request = state.requests.get(message.request_id)
        if request is None and isinstance(message, messages.Decide):
            request = message.prior
        session_id = request.session_id if request else OWN
    return Step(state, session_id, message.at)


def _time_passed(step: Step, tick: messages.TimePassed) -> None:
    processes.mark_stale(step)
    rules.drop_stale_rules(step)
    session_lifecycle.end_idle_sessions(step)


def _daemon_restarted(step: Step, restarted: messages.DaemonRestarted) -> None:
    pending_release.release_after_restart(step)
    admin.record_settings(step, restarted.settings)
    controls.forget_editors(step)


def _on(kind: type[M], handler: Callable[[Step, M], None]) -> tuple[type[Struct], Handler]:
    """An entry of the table. The table's own type cannot say that a handler takes the inputs of its kind; this can."""
    return kind, handler


HANDLERS: tuple[tuple[type[Struct], Handler], ...] = (
    _on(messages.HookReceived, dispatch.receive),
    _on(messages.InputRefused, dispatch.record_refused),
    _on(messages.Decide, decisions.decide),
    _on(messages.DecisionRefused, decisions.record_refusal),
    _on(messages.Deadline, pending_release.expire_request),
    _on(messages.WaiterGone, pending_release.withdraw_request),
    _on(messages.Unattended, pending_release.release_unattended),
    _on(messages.DaemonStopping, pending_release.release_before_stop),
    _on(messages.DaemonRestarted, _daemon_restarted),
    _on(messages.TimePassed, _time_passed),
    _on(messages.RiskAssessed, escalation.record_risk),
    _on(messages.StillWaiting, escalation.check_waiting),
    _on(messages.NotifyFailed, escalation.record_failure),
    _on(messages.ProcessSeen, processes.record_process),
    _on(messages.ProcessGone, processes.end_gone_session),
    _on(messages.TranscriptRead, transcripts.read_transcript),
    _on(messages.AddRule, rules.add_rule),
    _on(messages.AddRules, rules.add_rules),
    _on(messages.RemoveRule, rules.remove_rule),
    _on(messages.TrustProject, rules.trust_project),
    _on(messages.CreateToken, admin.create_token),
    _on(messages.ElevateToken, admin.elevate_token),
    _on(messages.RevokeToken, admin.revoke_token),
    _on(messages.ExtensionChanged, admin.record_extension),
    _on(messages.TrimLog, admin.record_trim),
    _on(deck_messages.PressKey, presses.press_key),
    _on(deck_messages.PressButton, presses.press_button),
    _on(deck_messages.TurnDial, controls.turn_dial),
    _on(deck_messages.TurnPage, controls.turn_page),
    _on(deck_messages.TerminalsSeen, controls.see_terminals),
    _on(deck_messages.DispatchEnded, text_delivery.end_dispatch),
    _on(session_messages.StartSession, session_commands.start_session),
    _on(session_messages.SendPrompt, session_commands.send_prompt),
    _on(session_messages.InterruptSession, session_commands.interrupt_session),
    _on(session_messages.EndSession, session_commands.end_session),
    _on(session_messages.ReconfigureSession, session_commands.reconfigure_session),
    _on(session_messages.SwitchMode, session_commands.switch_mode),
    _on(session_messages.DiscardWorktree, session_commands.discard_worktree),
    _on(session_messages.AgentStarted, session_lifecycle.agent_started),
    _on(session_messages.AgentExited, session_lifecycle.agent_exited),
    _on(session_messages.CommandFailed, session_lifecycle.command_failed),
    _on(session_messages.PromptDelivered, session_lifecycle.prompt_delivered),
    _on(session_messages.TurnEnded, session_lifecycle.turn_ended),
    _on(session_messages.AgentNote, session_lifecycle.agent_note),
    _on(session_messages.WorktreeChanged, session_lifecycle.worktree_changed),
)
"""The handler of each type of input: a closed set, so a test checks that each has exactly one."""

_HANDLERS: Mapping[type[Struct], Handler] = dict(HANDLERS)
