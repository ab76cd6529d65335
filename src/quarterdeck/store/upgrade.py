"""Events and requests of version 0.1, which name a tool without its kind. They are completed from the agent's table
when they are read, and never rewritten."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.runtime_event import FIRST_AGENT
from quarterdeck.core.model.state import Request, State
from quarterdeck.core.model.tool_kinds import ToolKind

first_traits = AGENTS[FIRST_AGENT].tool_traits
"""The traits of a tool of version 0.1, by its name."""

WITH_TOOLS = frozenset(
    {"tool.pre", "tool.post", "tool.failure", "permission.request", "permission.denied", "question.request"}
)


def upgraded_event(event: FeedEvent) -> FeedEvent:
    """The event as this version would have recorded it."""
    if event.kind not in WITH_TOOLS or getattr(event.data, "tool_kind", None) != "":
        return event
    data = event.data
    return replace(event, data=replace(data, **_traits(data.tool_name, getattr(data, "form", None), data)))


def upgraded_request(request: Request) -> Request:
    """The request as this version would have recorded it."""
    if request.tool_kind:
        return request
    return replace(request, **_traits(request.tool_name, request.form or request.kind, request))


def upgraded_state(state: State) -> State:
    """The state with all its requests upgraded."""
    return replace(state, requests={key: upgraded_request(request) for key, request in state.requests.items()})


def _traits(tool_name: str, form: str | None, record: object) -> dict[str, Any]:
    """The kind of a tool and, for a record that has one, its stated risk."""
    tool = first_traits(tool_name)
    kind = {"elicitation": ToolKind.FORM, "stop": ToolKind.STOP}.get(form or "", tool.kind)
    return {"tool_kind": kind, **({"tool_risk": tool.risk} if hasattr(record, "tool_risk") else {})}
