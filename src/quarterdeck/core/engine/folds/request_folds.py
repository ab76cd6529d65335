"""The change of the state by requests and decisions: what waits, what was decided, and whether it took effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.draft import Draft
from quarterdeck.core.engine.folds.transcript_folds import shortened
from quarterdeck.core.model.agent_state import WAITING, AgentState
from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.event_data.request_data import (
    DecisionData,
    RequestAssessedData,
    RequestEscalatedData,
    StopRequestData,
)
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.payload import shared_fields
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.runtime_event import FIRST_AGENT
from quarterdeck.core.model.state import Request, RuleHits, Run, Session
from quarterdeck.core.model.tool_kinds import ToolKind

Change = dict[str, Any]


def raise_counters(change: Change, session: Session, **more: int) -> None:
    """Raise counters of the open run."""
    run: Run | None = change.get("run", session.run)
    if run is not None:
        old = run.counters
        change["run"] = replace(run, counters=replace(old, **{k: getattr(old, k) + n for k, n in more.items()}))


def sent_key(
    draft: Draft, session: Session, tool_use_id: str | None, tool_name: str, tool_input: dict[str, Any]
) -> str | None:
    """The key in `Session.sent` for this tool call: the call's id, or, when the request had none, the key of the
    request with this tool and input."""
    if tool_use_id in session.sent:
        return tool_use_id
    for key, request_id in session.sent.items():
        request = draft.requests.get(request_id)
        if request is None or request.tool_use_id is not None or request.decision is None:
            continue
        tool_input_sent = request.decision.updated_input or request.tool_input
        if (request.tool_name, tool_input_sent) == (tool_name, tool_input):
            return key
    return None


def confirm(draft: Draft, session: Session, tool_use_id: str | None, change: Change, *, ran: bool) -> None:
    """Mark the decision of a tool call as confirmed or overridden: a tool that ran confirms an allow, a batch that
    lists a call which did not run confirms a deny."""
    sent = change.get("sent", session.sent)
    if tool_use_id not in sent:
        return
    request = draft.requests.get(sent[tool_use_id])
    change["sent"] = {k: r for k, r in sent.items() if k != tool_use_id}
    if request is not None and request.decision is not None and request.delivery == "sent":
        as_decided = (request.decision.decision_type != "deny") is ran
        draft.put_request(replace(request, delivery="confirmed" if as_decided else "overridden"))


def confirm_interrupts(draft: Draft, session: Session) -> None:
    """Mark denies that interrupt as confirmed, once their turn was aborted."""
    for request_id in session.sent.values():
        request = draft.requests.get(request_id)
        if request is not None and request.decision is not None and request.decision.interrupt:
            draft.put_request(replace(request, delivery="confirmed"))


def _permission_request(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    raise_counters(change, session, permission_requests=1)
    _open_request(draft, session, event, change, "permission")


def _question_request(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    _open_request(draft, session, event, change, "question")


def _open_request(draft: Draft, session: Session, event: FeedEvent, change: Change, kind: str) -> None:
    data = event.data
    known = draft.requests.get(data.request_id)
    fields = shared_fields(data, Request)
    if kind == "stop":
        fields |= {
            "tool_name": data.hook_name,
            "tool_kind": ToolKind.STOP,
            "tool_input": {"last_assistant_message": data.last_assistant_message},
        }
    if known is not None and known.digest == data.digest:  # asked again: what was found out about it stays true
        fields |= {"risk": known.risk, "escalated": known.escalated, "escalated_at": known.escalated_at}
    request = Request(
        kind=kind,
        session_id=event.session_id,
        run_id=event.run_id,
        event_id=event.event_id,
        seq_no=event.seq_no,
        opened_at=event.at,
        waiter=data.holder,
        agent=change.get("context", session.context).agent or FIRST_AGENT,
        suggestions=getattr(data, "permission_suggestions", []),
        **fields,
    )
    draft.put_request(request)
    change["waiting"] = {**session.waiting, data.request_id: kind}


def _stop_request(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: StopRequestData = event.data
    if data.scope == "root":
        change["background"] = data.background
    if data.scope == "root" and data.last_assistant_message:
        change |= {"last_text": shortened(data.last_assistant_message), "last_text_at": event.at}
    if data.held:
        _open_request(draft, session, event, change, "stop")
    elif data.scope == "root" and data.background == 0 and session.agent_state is not AgentState.ENDED:
        change["agent_state"] = _settled(session)


def _assessed(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: RequestAssessedData = event.data
    request = draft.requests.get(data.request_id)
    if request is not None:
        draft.put_request(replace(request, risk=Risk(data.risk, data.reasons)))


def _escalated(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: RequestEscalatedData = event.data
    request = draft.requests.get(data.request_id)
    if request is not None:
        draft.put_request(replace(request, escalated=tuple(data.channels), escalated_at=event.at))


def _settled(session: Session) -> AgentState:
    todos = session.todos.values()
    done = bool(todos) and all(t.status == "done" for t in todos)
    return AgentState.COMPLETE if done else AgentState.SETTLED


def _decision(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: DecisionData = event.data
    request = draft.requests.get(data.request_id)
    if data.late or request is None:
        return
    if data.overrides:
        draft.put_request(replace(request, delivery="overridden"))
        return
    is_sent = data.decision_type not in ("no_opinion", "ask") and data.source is not Source.ELSEWHERE
    draft.put_request(
        replace(
            request,
            status=data.status,
            decision=data,
            decided_at=event.at,
            delivery="sent" if is_sent else None,
        )
    )
    change["waiting"] = {k: v for k, v in session.waiting.items() if k != data.request_id}
    for rule_id in data.rule_ids:
        if rule_id in draft.rules:
            hits = draft.rule_hits.get(rule_id, RuleHits())
            draft.rule_hits = {**draft.rule_hits, rule_id: RuleHits(hits.count + 1, event.at)}
    if is_sent:  # a request that knows no tool call gets a key of its own, which no call's id can equal
        change["sent"] = {**session.sent, request.tool_use_id or f"?{data.request_id}": data.request_id}
    if data.decision_type in ("deny", "block") and is_sent:
        raise_counters(change, session, blocks=1)
    if data.interrupt and session.owned is not None:
        change["owned"] = replace(session.owned, interrupted=True)
    change["agent_state"] = _after_decision(session, request, data)


def _after_decision(session: Session, request: Request, data: DecisionData) -> AgentState:
    if session.agent_state is AgentState.ENDED or data.still_asks:
        return session.agent_state
    if request.kind == "stop":
        return AgentState.RUNNING if data.decision_type == "block" else _settled(session)
    if data.decision_type == "deny" and (data.interrupt or data.source is Source.RULE):
        return AgentState.BLOCKED
    return AgentState.RUNNING if session.agent_state in WAITING else session.agent_state


REQUEST_FOLDS: dict[str, Callable[[Draft, Session, FeedEvent, Change], None]] = {
    "permission.request": _permission_request,
    "permission.decision": _decision,
    "question.request": _question_request,
    "question.decision": _decision,
    "stop.request": _stop_request,
    "stop.decision": _decision,
    "request.assessed": _assessed,
    "request.escalated": _escalated,
}
