"""A permission request that came over an agent's SDK, as the event that its hook would report."""

from __future__ import annotations

import time

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.model.payload import safe_id
from quarterdeck.core.model.runtime_event import FIRST_AGENT, Context, EventName, RuntimeEvent
from quarterdeck.core.model.state import Session
from quarterdeck.sessions.launcher import PermissionQuery


def event_of(query: PermissionQuery, session: Session | None, event_id: str) -> RuntimeEvent:
    """The event that the agent's permission hook would report."""
    agent = AGENTS[query.agent]
    payload = {
        "tool_name": query.tool_name,
        "tool_input": query.tool_input,
        "permission_suggestions": list(query.suggestions),
        "title": query.title,
        "decision_reason": query.reason,
        "blocked_path": query.blocked_path,
    }
    known = session.context if session else Context()
    return RuntimeEvent(
        id=event_id,
        at=time.time(),
        event=EventName.PERMISSION_ASKED,
        hook_name=agent.own_name(EventName.PERMISSION_ASKED),
        session_id=session.session_id if session else query.session_id,
        payload={key: value for key, value in payload.items() if value is not None},
        context=Context(
            cwd=known.cwd,
            permission_mode=known.permission_mode,
            entrypoint=query.entrypoint,
            tag=query.session_id,
            agent="" if agent.name == FIRST_AGENT else agent.name,
        ),
        tool_name=query.tool_name,
        tool=agent.tool_traits(query.tool_name),
        tool_use_id=safe_id(query.tool_use_id, "") or None,
        agent_id=safe_id(query.agent_id, "") or None,
    )
