"""Feed events as spans: a run is a trace; its tool calls, requests and sub-agents are spans in it. Pure and bounded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from quarterdeck.agents.base import Agent
from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.runtime_event import FIRST_AGENT
from quarterdeck.core.model.state import State
from quarterdeck.wire import write_json

# A run whose end was lost must not stay in memory forever.
MAX_RUNS = 2_000
MAX_OPEN = 1_000
# Hundreds of spans are sent in one call, and collectors limit its size.
MAX_CONTENT = 8_192

Attributes = dict[str, str | int | float | bool]
T = TypeVar("T")


class Span(Struct, frozen=True, kw_only=True):
    """A span that has ended. `error` is the kind of failure it ended with."""

    name: str
    trace_id: int
    span_id: int
    parent_id: int | None
    started_at: float
    ended_at: float
    attributes: Attributes
    error: str | None = None


class _Open(Struct):
    """A span that has begun."""

    name: str
    span_id: int
    parent_id: int | None
    started_at: float
    attributes: Attributes


class _Run(Struct):
    """A run that goes on: its own span, and open spans by `tool:`, `request:` or `agent:` with an id."""

    trace_id: int
    root: _Open
    open: dict[str, _Open]

    def begin(self, key: str, span: _Open) -> None:
        _bounded(self.open, MAX_OPEN)[key] = span

    def end(self, key: str, at: float, more: Attributes) -> list[Span]:
        begun = self.open.pop(key, None)
        return [_ended(self, begun, at, more)] if begun is not None else []


class _Facts(Struct):
    """Known facts of a session."""

    cwd: str = ""
    model: str = ""
    agent: str = FIRST_AGENT


def trace_id_of(run_id: str) -> int:
    """The trace of a run, always the same, so that a link to it can be made before it is sent."""
    return int.from_bytes(hashlib.sha256(f"trace {run_id}".encode()).digest()[:16]) or 1


def span_id_of(event_id: str) -> int:
    """The span of an event, always the same."""
    return int.from_bytes(hashlib.sha256(f"span {event_id}".encode()).digest()[:8]) or 1


class SpanBuilder:
    """Keeps the open spans; `take` returns the spans that an event ends. Content is text that agents read and write."""

    def __init__(self, *, include_content: bool = False, agents: Mapping[str, Agent] = AGENTS) -> None:
        self._content = include_content
        self._agents = agents
        self._runs: dict[str, _Run] = {}
        self._facts: dict[str, _Facts] = {}

    def resume(self, state: State) -> None:
        """Open the runs that were open at the last stop."""
        for session in state.sessions.values():
            self._facts[session.session_id] = _Facts(session.context.cwd, session.model or "", session.agent)
            if session.run is not None:
                self._open_run(session.run.run_id, session.session_id, session.run.started_at, session.run.trigger)

    def take(self, event: FeedEvent) -> list[Span]:
        """The spans that end with this event."""
        facts = self._facts.get(event.session_id)
        if facts is None:
            facts = _bounded(self._facts, MAX_RUNS)[event.session_id] = _Facts()
        if event.context is not None:
            facts.cwd = event.context.cwd or facts.cwd
            facts.agent = event.context.agent or facts.agent
        step = _STEPS.get(event.kind)
        return step(self, event, event.data) if step else []

    def _agent_names(self, session_id: str) -> tuple[str, str]:
        """The names of a session's agent and of the provider of its models."""
        named = self._facts[session_id].agent
        agent = self._agents.get(named)
        return (agent.telemetry_name, agent.provider) if agent else (named, named)

    def _session_start(self, event: FeedEvent, data: Any) -> list[Span]:
        self._facts[event.session_id].model = data.model or self._facts[event.session_id].model
        return []

    def _model_post(self, event: FeedEvent, data: Any) -> list[Span]:
        self._facts[event.session_id].model = data.to_model
        return []

    def _session_end(self, event: FeedEvent, data: Any) -> list[Span]:
        self._facts.pop(event.session_id, None)
        return []

    def _run_start(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._open_run(event.run_id, event.session_id, event.at, data.trigger.type)
        if self._content and data.trigger.prompt_preview:
            run.root.attributes["quarterdeck.run.prompt"] = data.trigger.prompt_preview
        return []

    def _open_run(self, run_id: str, session_id: str, at: float, trigger: str) -> _Run:
        name, provider = self._agent_names(session_id)
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": provider,
            "gen_ai.agent.name": name,
            "gen_ai.conversation.id": session_id,
            "quarterdeck.run.id": run_id,
            "quarterdeck.run.trigger": trigger,
        }
        root = _Open(f"invoke_agent {name}", span_id_of(run_id), None, at, attributes)
        run = _bounded(self._runs, MAX_RUNS)[run_id] = _Run(trace_id_of(run_id), root, {})
        return run

    def _run_end(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.pop(event.run_id, None)
        if run is None:
            return []
        facts = self._facts[event.session_id]
        run.root.attributes |= {"quarterdeck.run.status": data.status, "quarterdeck.project.path": facts.cwd}
        if facts.model:
            run.root.attributes["gen_ai.request.model"] = facts.model
        for name in ("tool_uses", "tool_failures", "permission_requests", "blocks"):
            run.root.attributes[f"quarterdeck.run.{name}"] = getattr(data.counters, name)
        unfinished = [_ended(run, one, event.at, {"quarterdeck.unfinished": True}) for one in run.open.values()]
        error = data.status if data.status != "completed" else None
        return [*unfinished, _ended(run, run.root, event.at, {}, error)]

    def _tool_pre(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.get(event.run_id)
        if run is not None:
            run.begin(f"tool:{data.tool_use_id or event.event_id}", self._tool(run, event, data, event.at))
        return []

    def _tool(self, run: _Run, event: FeedEvent, data: Any, at: float) -> _Open:
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": data.tool_name,
            "gen_ai.tool.type": "function",
            "gen_ai.conversation.id": event.session_id,
        }
        if data.tool_use_id:
            attributes["gen_ai.tool.call.id"] = data.tool_use_id
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = _text(data.tool_input)
        return _Open(f"execute_tool {data.tool_name}", span_id_of(event.event_id), _parent(run, event), at, attributes)

    def _tool_post(self, event: FeedEvent, data: Any) -> list[Span]:
        more: Attributes = {"gen_ai.tool.call.result": _text(data.tool_response)} if self._content else {}
        return self._tool_ended(event, data, more, None)

    def _tool_failure(self, event: FeedEvent, data: Any) -> list[Span]:
        kind = "interrupted" if data.is_interrupt else "tool_error"
        more: Attributes = {"error.type": kind}
        if self._content:
            more["gen_ai.tool.call.result"] = _text(data.error)
        return self._tool_ended(event, data, more, kind)

    def _tool_ended(self, event: FeedEvent, data: Any, more: Attributes, error: str | None) -> list[Span]:
        """End a tool call. The begin of one that was not seen is computed from the duration that the agent gives."""
        run = self._runs.get(event.run_id)
        if run is None:
            return []
        begun = run.open.pop(f"tool:{data.tool_use_id}", None)
        if begun is None:
            begun = self._tool(run, event, data, event.at - (data.duration_ms or 0) / 1000)
        if data.duration_ms is not None:
            more["quarterdeck.tool.duration_ms"] = data.duration_ms
        return [_ended(run, begun, event.at, more, error)]

    def _request_opened(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.get(event.run_id)
        if run is None or data.request_id is None:
            return []
        kind = event.kind.partition(".")[0]
        tool = getattr(data, "tool_name", "")
        use = run.open.get(f"tool:{getattr(data, 'tool_use_id', None)}")
        parent = use.span_id if use is not None else _parent(run, event)
        attributes: Attributes = {
            "gen_ai.conversation.id": event.session_id,
            "quarterdeck.request.id": data.request_id,
            "quarterdeck.request.kind": kind,
            "quarterdeck.request.held": data.held,
        }
        if tool:
            attributes["gen_ai.tool.name"] = tool
        begun = _Open(f"{kind} {tool}".rstrip(), span_id_of(event.event_id), parent, event.at, attributes)
        run.begin(f"request:{data.request_id}", begun)
        return []

    def _request_decided(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.get(event.run_id)
        more: Attributes = {
            "quarterdeck.decision": data.decision_type,
            "quarterdeck.decision.source": str(data.source),
            "quarterdeck.decision.by": data.by,
            "quarterdeck.request.status": data.status,
        }
        return run.end(f"request:{data.request_id}", event.at, more) if run is not None else []

    def _agent_start(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.get(event.run_id)
        if run is not None:
            attributes: Attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": self._agent_names(event.session_id)[1],
                "gen_ai.agent.name": data.agent_type,
                "gen_ai.agent.id": data.agent_id,
                "gen_ai.conversation.id": event.session_id,
            }
            name = f"invoke_agent {data.agent_type}"
            begun = _Open(name, span_id_of(event.event_id), run.root.span_id, event.at, attributes)
            run.begin(f"agent:{data.agent_id}", begun)
        return []

    def _agent_stop(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.get(event.run_id)
        return run.end(f"agent:{data.agent_id}", event.at, {}) if run is not None else []


_STEPS: dict[str, Callable[[SpanBuilder, FeedEvent, Any], list[Span]]] = {
    "session.start": SpanBuilder._session_start,
    "session.end": SpanBuilder._session_end,
    "model.post": SpanBuilder._model_post,
    "run.start": SpanBuilder._run_start,
    "run.end": SpanBuilder._run_end,
    "tool.pre": SpanBuilder._tool_pre,
    "tool.post": SpanBuilder._tool_post,
    "tool.failure": SpanBuilder._tool_failure,
    "permission.request": SpanBuilder._request_opened,
    "permission.decision": SpanBuilder._request_decided,
    "question.request": SpanBuilder._request_opened,
    "question.decision": SpanBuilder._request_decided,
    "stop.request": SpanBuilder._request_opened,
    "stop.decision": SpanBuilder._request_decided,
    "subagent.start": SpanBuilder._agent_start,
    "subagent.stop": SpanBuilder._agent_stop,
}


def _bounded(things: dict[str, T], most: int) -> dict[str, T]:
    """Make room for one more: the oldest goes."""
    if len(things) >= most:
        del things[next(iter(things))]
    return things


def _parent(run: _Run, event: FeedEvent) -> int:
    """The span of the sub-agent that acts, or of the run itself."""
    kind, _, agent_id = event.actor_id.partition(":")
    agent = run.open.get(f"agent:{agent_id}") if kind == "subagent" else None
    return agent.span_id if agent is not None else run.root.span_id


def _ended(run: _Run, begun: _Open, at: float, more: Attributes, error: str | None = None) -> Span:
    return Span(
        name=begun.name,
        trace_id=run.trace_id,
        span_id=begun.span_id,
        parent_id=begun.parent_id,
        started_at=begun.started_at,
        ended_at=max(begun.started_at, at),
        attributes=begun.attributes | more,
        error=error,
    )


def _text(value: Any) -> str:
    return write_json(value)[:MAX_CONTENT].decode(errors="replace")
