"""A request that still waits: it is told of once, and ended when the policy of the hour says so."""

from __future__ import annotations

from quarterdeck.core.engine.messages import LookAfter, Notify, NotifyFailed, StillWaiting
from quarterdeck.core.engine.notifications import level_of, notice_of, waits_of
from quarterdeck.core.engine.step import Step, handed_back
from quarterdeck.core.handlers.hooks import end_run
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.decisions import Deny, Source
from quarterdeck.core.model.state import Request, Settings
from quarterdeck.core.model.unattended_policy import Policy, Ruling, bothers, grace, is_quiet, next_look, ruling


def look(step: Step, told: StillWaiting, request: Request) -> None:
    """Nobody has answered so far."""
    settings = step.draft.state.settings
    policy = settings.unattended
    level, quiet = level_of(request, step.session, settings), is_quiet(policy, told.minute)
    found = ruling(policy, level, quiet=quiet)
    if found.action != "hold" and told.waited >= policy.after_seconds:
        _end(step, request, found, policy)
        return
    if told.waited >= grace(policy) and not request.escalated and bothers(policy, level, quiet=quiet):
        _escalate(step, request, settings, quiet=quiet)
    known = bool(step.draft.requests[request.request_id].escalated)
    seconds = next_look(policy, level, told.waited, told=known)
    if seconds is not None:
        step.effects.append(LookAfter(request_id=request.request_id, seconds=seconds))


def _end(step: Step, request: Request, found: Ruling, policy: Policy) -> None:
    """Deny with words, or say nothing. A stop is only ever let happen: nobody wants work that nobody watches."""
    waited = f"nobody answered within {_length(policy.after_seconds)}"
    policy_named = f"the policy {found.setting}: {found.action}"
    if found.action == "deny" and request.kind != "stop":
        message = f"Denied by Quarterdeck: {waited}, and {policy_named} holds. A person has not seen this request."
        step.close(request, Deny(message), Source.TIMEOUT, found.setting)
        return
    still_asks = request.kind != "stop" and step.session.context.entrypoint in ("", "cli")
    decision = handed_back(request, f"{waited}; {policy_named}")
    step.close(request, decision, Source.TIMEOUT, found.setting, status="expired", still_asks=still_asks)
    if request.kind == "stop":
        end_run(step, "completed")


def _length(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 120 else f"{seconds / 60:g} minutes"


def _escalate(step: Step, first: Request, settings: Settings, *, quiet: bool) -> None:
    """Tell of this request, and in the same breath of every other that nobody was told of yet."""
    policy = settings.unattended
    others = [
        request
        for request in step.draft.requests.values()
        if request.status == "pending" and not request.escalated and request.request_id != first.request_id
    ]
    gathered = [first]
    for request in others:
        level = level_of(request, step.draft.session(request.session_id, step.at), settings)
        if bothers(policy, level, quiet=quiet):
            gathered.append(request)
    waits = []
    for request in gathered:
        step.session_id = request.session_id
        waits.append(waits_of(request, step.session, settings))
        data = d.RequestEscalatedData(
            request_id=request.request_id,
            risk=waits[-1].risk,
            channels=list(policy.channels),
            told_of=len(gathered),
        )
        step.emit("request.escalated", data, parent=request.event_id, tool_use_id=request.tool_use_id)
    step.session_id = first.session_id
    notice = notice_of(step.events[0].event_id, step.at, tuple(waits))
    step.effects.append(Notify(notice=notice, channels=policy.channels))


def record_failure(step: Step, told: NotifyFailed) -> None:
    """A channel reached nobody: the record must not say that somebody was told."""
    data = d.EscalationFailedData(channel=told.channel, error=told.error, request_ids=list(told.request_ids))
    step.emit_own("escalation.failed", data, level="warn")
