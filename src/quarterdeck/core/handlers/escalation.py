"""The risk of requests, and what follows when they still wait: a person is notified, or a policy ends them."""

from __future__ import annotations

from quarterdeck.core.engine.messages import Notify, NotifyFailed, RiskAssessed, StillWaiting
from quarterdeck.core.engine.step import Step, handed_back_decision
from quarterdeck.core.model.decisions import Deny, Source
from quarterdeck.core.model.event_data.request_data import (
    EscalationFailedData,
    RequestAssessedData,
    RequestEscalatedData,
)
from quarterdeck.core.model.state import Request, Settings
from quarterdeck.core.model.unattended_policy import (
    UnattendedAction,
    UnattendedPolicy,
    grace_seconds,
    is_quiet,
    next_check,
    policy_action,
    rank,
    should_notify,
)
from quarterdeck.core.risk.quick_risk import risk_level
from quarterdeck.core.text.durations import limit_words
from quarterdeck.core.text.notifications import notice_for, request_summary

RISK_SECONDS = 30.0
"""The time that a policy and a notification wait for the full risk. It takes milliseconds; with a slow plug-in, many
requests at once have to queue for it."""


def record_risk(step: Step, assessed: RiskAssessed) -> None:
    """Record the full risk of a request, and check at once what a policy makes of it. A later assessment, as after a
    restart, can only raise it: the plug-in that raised it may be gone. Nothing that was decided changes."""
    request = step.draft.requests.get(assessed.request_id)
    if request is None or request.digest != assessed.digest:
        return
    if request.risk and rank(assessed.risk.level) <= rank(request.risk.level):
        return
    data = RequestAssessedData(
        request_id=request.request_id, risk=assessed.risk.level, reasons=list(assessed.risk.reasons)
    )
    step.emit("request.assessed", data, level="debug", parent=request.event_id, tool_use_id=request.tool_use_id)
    policy = step.draft.state.settings.unattended
    can_act = next_check(policy, assessed.risk.level, notified=bool(request.escalated)) is not None
    if request.status == "pending" and can_act:
        step.check_after(request.request_id, 0.0)


def check_waiting(step: Step, waiting: StillWaiting) -> None:
    """Apply the unattended policy to a request that still waits, notify about it, or schedule the next check."""
    request = step.pending_request(waiting.request_id)
    if request is None:
        return
    settings = step.draft.state.settings
    policy = settings.unattended
    if request.risk is None and waiting.waited < RISK_SECONDS:
        step.check_after(request.request_id, RISK_SECONDS - waiting.waited)
        return
    level, quiet = risk_level(request, step.session, settings), is_quiet(policy, waiting.minute)
    outcome = policy_action(policy, level, quiet=quiet)
    if outcome.action != "hold" and waiting.waited >= policy.after_seconds:
        _apply_policy(step, request, outcome, policy)
        return
    if waiting.waited >= grace_seconds(policy) and not request.escalated and should_notify(policy, level, quiet=quiet):
        _escalate(step, request, level, settings, quiet=quiet)
    notified = bool(step.draft.requests[request.request_id].escalated)
    step.check_after(request.request_id, next_check(policy, level, waiting.waited, notified=notified))


def _apply_policy(step: Step, request: Request, outcome: UnattendedAction, policy: UnattendedPolicy) -> None:
    """Deny with a message, or pass. A stop is always passed: to deny it would make the agent work on unwatched."""
    waited = f"nobody answered within {limit_words(policy.after_seconds)}"
    policy_named = f"the policy {outcome.setting}: {outcome.action}"
    if outcome.action == "deny" and request.kind != "stop":
        message = f"Denied by Quarterdeck: {waited}, and {policy_named} holds. A person has not seen this request."
        step.resolve(request, Deny(message), Source.TIMEOUT, outcome.setting)
        return
    still_asks = request.kind != "stop" and step.session.context.entrypoint in ("", "cli")
    decision = handed_back_decision(request, f"{waited}; {policy_named}")
    step.resolve(request, decision, Source.TIMEOUT, outcome.setting, status="expired", still_asks=still_asks)


def _escalate(step: Step, first: Request, first_level: str, settings: Settings, *, quiet: bool) -> None:
    """Send one notification for this request and for every other that waits without one."""
    policy = settings.unattended
    others = [
        request
        for request in step.draft.requests.values()
        if request.status == "pending"
        and request.risk is not None
        and not request.escalated
        and request.request_id != first.request_id
    ]
    gathered = [(first, first_level)]
    for request in others:
        level = risk_level(request, step.draft.session(request.session_id, step.at), settings)
        if should_notify(policy, level, quiet=quiet):
            gathered.append((request, level))
    waiting = []
    for request, level in gathered:
        step.session_id = request.session_id
        waiting.append(request_summary(request, step.session, level, settings))
        data = RequestEscalatedData(
            request_id=request.request_id,
            risk=level,
            channels=list(policy.channels),
            request_count=len(gathered),
        )
        step.emit("request.escalated", data, parent=request.event_id, tool_use_id=request.tool_use_id)
    step.session_id = first.session_id
    notice = notice_for(step.events[0].event_id, step.at, tuple(waiting))
    step.effects.append(Notify(notice=notice, channels=policy.channels))


def record_failure(step: Step, failed: NotifyFailed) -> None:
    """Record a channel's failure, so that the feed does not claim that a person was notified."""
    data = EscalationFailedData(channel=failed.channel, error=failed.error, request_ids=list(failed.request_ids))
    step.emit_own("escalation.failed", data, level="warn")
