"""How requests and decisions change the state: what waits, what was decided, and whether it came true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.draft import Draft
from quarterdeck.core.engine.fold_transcripts import beginning
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.agent_state import WAITING, AgentState
from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Hits, Request, Run, Session

Change = dict[str, Any]


def counted(change: Change, session: Session, **more: int) -> None:
    """So many more in the run that is going on."""
    run: Run | None = change.get("run", session.run)
    if run is not None:
        old = run.counters
        change["run"] = replace(run, counters=replace(old, **{k: getattr(old, k) + n for k, n in more.items()}))


def sent_about(
    draft: Draft, session: Session, tool_use_id: str | None, tool_name: str, tool_input: dict[str, Any]
) -> str | None:
    """Under which key the decision about this tool call was sent: the call's id, or where the request knew none, the
    request whose tool and input are these."""
    if tool_use_id in session.sent:
        return tool_use_id
    for key, request_id in session.sent.items():
        request = draft.requests.get(request_id)
        if request is None or request.tool_use_id is not None or request.decision is None:
            continue
        asked = request.decision.updated_input or request.tool_input
        if (request.tool_name, asked) == (tool_name, tool_input):
            return key
    return None


def confirm(draft: Draft, session: Session, tool_use_id: str | None, change: Change, *, ran: bool) -> None:
    """A tool that ran confirms an allow; a batch that lists a call which did not run confirms a deny."""
    sent = change.get("sent", session.sent)
    if tool_use_id not in sent:
        return
    request = draft.requests.get(sent[tool_use_id])
    change["sent"] = {k: r for k, r in sent.items() if k != tool_use_id}
    if request is not None and request.decision is not None and request.delivery == "sent":
        as_decided = (request.decision.decision_type != "deny") is ran
        draft.put_request(replace(request, delivery="confirmed" if as_decided else "overridden"))


def confirm_interrupts(draft: Draft, session: Session) -> None:
    """A turn that ended before its time confirms a deny that was to interrupt it."""
    for request_id in session.sent.values():
        request = draft.requests.get(request_id)
        if request is not None and request.decision is not None and request.decision.interrupt:
            draft.put_request(replace(request, delivery="confirmed"))


def _permission_request(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    counted(change, session, permission_requests=1)
    _open_request(draft, session, event, change, "permission")


def _question_request(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    _open_request(draft, session, event, change, "question")


def _open_request(draft: Draft, session: Session, event: FeedEvent, change: Change, kind: str) -> None:
    data = event.data
    known = draft.requests.get(data.request_id)
    told = known is not None and known.digest == data.digest
    request = Request(
        request_id=data.request_id,
        kind=kind,
        session_id=event.session_id,
        run_id=event.run_id,
        event_id=event.event_id,
        seq_no=event.seq_no,
        hook_name=data.hook_name,
        tool_name=getattr(data, "tool_name", data.hook_name),
        tool_input=data.tool_input if kind != "stop" else {"last_assistant_message": data.last_assistant_message},
        digest=data.digest,
        opened_at=event.at,
        held=data.held,
        holder=data.holder,
        enforced=getattr(data, "enforced", False),
        form=getattr(data, "form", None),
        tool_use_id=getattr(data, "tool_use_id", None),
        agent_id=data.agent_id,
        agent_type=data.agent_type,
        expires_at=data.expires_at,
        suggestions=getattr(data, "permission_suggestions", []),
        escalated=known.escalated if known and told else (),
        escalated_at=known.escalated_at if known and told else None,
        cwd=getattr(data, "cwd", ""),
        path=getattr(data, "path", None),
    )
    draft.put_request(request)
    change["waiting"] = {**session.waiting, data.request_id: kind}


def _stop_request(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.StopRequestData = event.data
    if data.scope == "root":
        change["background"] = data.background
    if data.scope == "root" and data.last_assistant_message:
        change |= {"last_text": beginning(data.last_assistant_message), "last_text_at": event.at}
    if data.held:
        _open_request(draft, session, event, change, "stop")
    elif data.scope == "root" and data.background == 0 and session.agent_state is not AgentState.ENDED:
        change["agent_state"] = _settled(session)


def _escalated(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.RequestEscalatedData = event.data
    request = draft.requests.get(data.request_id)
    if request is not None:
        draft.put_request(replace(request, escalated=tuple(data.channels), escalated_at=event.at))


def _settled(session: Session) -> AgentState:
    todos = session.todos.values()
    done = bool(todos) and all(t.status == "done" for t in todos)
    return AgentState.COMPLETE if done else AgentState.SETTLED


def _decision(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.DecisionData = event.data
    request = draft.requests.get(data.request_id)
    if data.late or request is None:
        return
    if data.overrides:
        draft.put_request(replace(request, delivery="overridden"))
        return
    told = data.decision_type not in ("no_opinion", "ask") and data.source is not Source.ELSEWHERE
    draft.put_request(
        replace(
            request,
            status=data.status,
            decision=data,
            decided_at=event.at,
            delivery="sent" if told else None,
        )
    )
    change["waiting"] = {k: v for k, v in session.waiting.items() if k != data.request_id}
    for rule_id in data.rule_ids:
        if rule_id in draft.rules:
            hits = draft.rule_hits.get(rule_id, Hits())
            draft.rule_hits = {**draft.rule_hits, rule_id: Hits(hits.count + 1, event.at)}
    if told:
        change["sent"] = {**session.sent, request.tool_use_id or f"?{data.request_id}": data.request_id}
    if data.decision_type in ("deny", "block") and told:
        counted(change, session, blocks=1)
    if data.interrupt and session.ours is not None:
        change["ours"] = replace(session.ours, interrupted=True)
    change["agent_state"] = _after_decision(session, request, data)


def _after_decision(session: Session, request: Request, data: d.DecisionData) -> AgentState:
    if session.agent_state is AgentState.ENDED or data.still_asks:
        return session.agent_state
    if request.kind == "stop":
        return AgentState.RUNNING if data.decision_type == "block" else _settled(session)
    if data.decision_type == "deny" and (data.interrupt or data.source is Source.RULE):
        return AgentState.BLOCKED
    return AgentState.RUNNING if session.agent_state in WAITING else session.agent_state


DESK: dict[str, Callable[[Draft, Session, FeedEvent, Change], None]] = {
    "permission.request": _permission_request,
    "permission.decision": _decision,
    "question.request": _question_request,
    "question.decision": _decision,
    "stop.request": _stop_request,
    "stop.decision": _decision,
    "request.escalated": _escalated,
}
