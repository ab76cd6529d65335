"""Sessions and requests of a backend as views: the facts that the core does not hold come from the backend."""

from __future__ import annotations

from quarterdeck.api.backend import Backend, SessionBackend
from quarterdeck.core.model.state import Request, Session
from quarterdeck.views.resources import request_view as requests
from quarterdeck.views.resources import session_view as sessions


def agent_of(sessions: SessionBackend, session_id: str) -> str | None:
    """The name of a session's agent; None for an id that no agent's session has."""
    session = sessions.get(session_id)
    return session.agent if session is not None else None


def session_view(
    session: Session, backend: Backend, memory_bytes: int | None = None, where: str | None = None
) -> sessions.SessionView:
    """A session of this backend, with its memory use and the command that shows its pane."""
    return sessions.session_view(
        session,
        runner_id=backend.runner_id,
        can=backend.sessions.capabilities(session),
        resume=backend.sessions.resume_command(session),
        memory_bytes=memory_bytes,
        where=where,
    )


def request_view(backend: Backend, request: Request) -> requests.RequestView:
    """A request of this backend, as in lists."""
    return requests.request_view(request, request_facts(backend, request))


def request_facts(backend: Backend, request: Request) -> requests.RequestFacts:
    """The facts about a request that the backend knows now."""
    session = backend.sessions.get(request.session_id)
    risk = backend.requests.risk(request)
    return requests.RequestFacts(
        runner_id=backend.runner_id,
        risk=risk,
        needs_second_key=backend.requests.needs_second_key(risk.level),
        suggested=backend.requests.agent_suggestions(request),
        holder=backend.requests.holder(request),
        has_terminal=session is None or session.has_terminal,
    )
