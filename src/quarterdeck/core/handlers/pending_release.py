"""After a restart, a stop of the daemon, a deadline, or with nobody watching: pending requests without a decision are
released."""

from __future__ import annotations

from quarterdeck.core.engine.messages import DaemonStopping, Deadline, Unattended, WaiterGone
from quarterdeck.core.engine.step import Step, handed_back_decision, silent_decision
from quarterdeck.core.handlers.hooks.hold_policy import shows_dialog
from quarterdeck.core.handlers.requests import watch_again
from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.state import Request


def expire_request(step: Step, deadline: Deadline) -> None:
    """Release a request whose deadline has passed."""
    request = step.pending_request(deadline.request_id)
    if request is not None:
        decision = silent_decision(request, "nobody answered in time")
        still_asks = request.kind != "stop" and not request.enforced
        step.resolve(request, decision, Source.TIMEOUT, "deadline", status="expired", still_asks=still_asks)


def withdraw_request(step: Step, gone: WaiterGone) -> None:
    """Close a request whose hook no longer waits: it was answered or cancelled at the agent, or its outcome is
    unknown."""
    request = step.pending_request(gone.request_id)
    if request is None:
        return
    step.session_id = request.session_id
    if gone.is_lost:
        step.withdraw(request, "the agent did not reconnect after a restart", still_asks=_asks_itself(request))
    elif request.waiter == "sdk" or not step.session.has_terminal:
        step.withdraw(request, "the agent's turn was stopped")
    else:
        step.withdraw(request, "answered or cancelled at the terminal")


def release_unattended(step: Step, unattended: Unattended) -> None:
    """Return requests to agents without a dialog of their own: `decide.hold: auto` holds those only while someone is
    watching."""
    state = step.draft.state
    for request in state.requests.values():
        step.session_id = request.session_id
        if request.status != "pending" or state.settings.hold != "auto" or request.waiter == "sdk":
            continue
        if request.enforced or not shows_dialog(step.session.context, request.agent_id):
            decision = handed_back_decision(request, "nobody is watching any more")
            step.resolve(request, decision, Source.RULE, "decide.hold", still_asks=request.agent_id is not None)


def release_before_stop(step: Step, stopping: DaemonStopping) -> None:
    """Release open requests, since the daemon is about to stop."""
    spared = {"spares_sdk": stopping.spares_sdk, "spares_reconnecting": stopping.spares_reconnecting}
    release_all(step, "Quarterdeck stopped", **spared)


def release_all(step: Step, reason: str, *, spares_sdk: bool = False, spares_reconnecting: bool = False) -> None:
    """Release every open request to the agent's own dialog, if it has one: the connections are gone, or about to be."""
    for request in step.draft.state.requests.values():
        is_spared = (spares_sdk and request.waiter == "sdk") or (spares_reconnecting and request.reconnects)
        if request.status == "pending" and not is_spared:
            step.session_id = request.session_id
            asks = _asks_itself(request)
            where = ": answer at the terminal" if asks and step.session.has_terminal else ""
            step.withdraw(request, reason + where, still_asks=asks)


def release_after_restart(step: Step) -> None:
    """Release requests whose agent cannot reconnect. The others keep waiting, and their deadlines keep running."""
    release_all(step, "Quarterdeck restarted", spares_reconnecting=True)
    for request in step.draft.state.requests.values():
        if request.status == "pending" and request.reconnects:
            step.session_id = request.session_id
            watch_again(step, request)


def _asks_itself(request: Request) -> bool:
    """True if an agent that gets no decision asks at its own prompt."""
    return request.kind != "stop" and not request.enforced
