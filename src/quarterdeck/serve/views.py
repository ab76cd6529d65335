"""What the API shows of sessions, events and requests: the core's words as plain JSON objects."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.data import TokenCreateData
from quarterdeck.core.feed import FeedEvent
from quarterdeck.core.risk import risk_of
from quarterdeck.core.state import Request, Session
from quarterdeck.core.titles import body_of, title_of, ui_of


def project_id_of(cwd: str) -> str | None:
    """The same id for the same folder."""
    return "p_" + hashlib.sha256(cwd.encode(errors="surrogatepass")).hexdigest()[:16] if cwd else None


def session_view(session: Session, runner_id: str) -> dict[str, Any]:
    """A session as the API shows it."""
    totals, run = session.totals, session.run
    active = run.counters if run else None
    counters = {
        name: getattr(totals, name) + (getattr(active, name) if active else 0)
        for name in ("tool_uses", "tool_failures", "permission_requests", "blocks")
    }
    return {
        "session_id": session.session_id,
        "agent_state": session.agent_state,
        "state_source": session.state_source,
        "mode": session.mode,
        "cwd": session.context.cwd,
        "project_id": project_id_of(session.context.cwd),
        "title": session.title,
        "model": session.model,
        "permission_mode": session.context.permission_mode or None,
        "entrypoint": session.context.entrypoint or None,
        "tag": session.context.tag or None,
        "started_at": session.started_at,
        "last_event_at": session.last_event_at,
        "ended_at": session.ended_at,
        "run_id": run.run_id if run else None,
        "runs": session.runs,
        "pending": len(session.waiting),
        "counters": counters,
        "usage": None,
        "todos": [{"todo_id": t.todo_id, "text": t.text, "status": t.status} for t in session.todos.values()],
        "runner_id": runner_id,
    }


def event_view(event: FeedEvent) -> dict[str, Any]:
    """A feed event with what is computed when it is shown."""
    view = {
        "seq_no": event.seq_no,
        "event_id": event.event_id,
        "seq": event.seq,
        "run_id": event.run_id,
        "session_id": event.session_id,
        "runner_id": event.runner_id,
        "at": event.at,
        "kind": event.kind,
        "level": event.level,
        "actor_id": event.actor_id,
        "cause": event.cause,
        "data": replace(event.data, verifier="") if isinstance(event.data, TokenCreateData) else event.data,
        "title": title_of(event),
        "ui": ui_of(event),
    }
    body = body_of(event)
    if body is not None:
        view["body"] = body
    return view


def request_view(request: Request, runner_id: str) -> dict[str, Any]:
    """A request as the API shows it."""
    risk = risk_of(request.tool_name)
    return {
        "request_id": request.request_id,
        "kind": request.kind,
        "form": request.form,
        "session_id": request.session_id,
        "run_id": request.run_id,
        "event_id": request.event_id,
        "runner_id": runner_id,
        "agent_id": request.agent_id,
        "agent_type": request.agent_type,
        "tool_name": request.tool_name,
        "tool_input": request.tool_input,
        "tool_use_id": request.tool_use_id,
        "digest": request.digest,
        "risk": {"level": risk.level, "reasons": risk.reasons},
        "suggestions": request.suggestions,
        "held": request.held,
        "opened_at": request.opened_at,
        "expires_at": request.expires_at,
        "status": request.status,
        "decision": decision_view(request),
    }


def decision_view(request: Request) -> dict[str, Any] | None:
    """How a request was decided; None while it waits."""
    data = request.decision
    if data is None:
        return None
    return {
        "request_id": request.request_id,
        "decision": "pass" if data.decision_type == "no_opinion" else data.decision_type,
        "source": data.source,
        "by": data.by,
        "at": request.decided_at,
        "note": data.note,
        "message": data.message,
        "reason": data.reason,
        "interrupt": bool(data.interrupt),
        "updated_input": data.updated_input,
        "updated_digest": data.updated_digest,
        "answers": data.answers,
        "digest": data.digest,
        "status": data.status,
        "delivery": request.delivery,
    }
