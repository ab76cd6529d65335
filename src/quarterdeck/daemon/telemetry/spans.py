"""Feed events as spans: a run is a trace; its tool calls, requests and sub-agents are spans in it. Pure; bounded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import State
from quarterdeck.wire import write_json

MAX_RUNS = 2_000
MAX_OPEN = 1_000
MAX_CONTENT = 8_192
AGENT, PROVIDER = "claude-code", "anthropic"

Attributes = dict[str, str | int | float | bool]
T = TypeVar("T")


class Span(Struct, frozen=True, kw_only=True):
    """Something that has ended. `error` is what kind of failure it ended with."""

    name: str
    trace_id: int
    span_id: int
    parent_id: int | None
    started_at: float
    ended_at: float
    attributes: Attributes
    error: str | None = None


class _Open(Struct):
    """Something that has begun."""

    name: str
    span_id: int
    parent_id: int | None
    started_at: float
    attributes: Attributes


class _Run(Struct):
    """A run that goes on: its own span, and what has begun in it by `tool:`, `request:` or `agent:` and its id."""

    trace_id: int
    root: _Open
    open: dict[str, _Open]


class _Facts(Struct):
    """What is known of a session."""

    cwd: str = ""
    model: str = ""


def trace_id_of(run_id: str) -> int:
    """The same trace for the same run, so that a link to it can be made before it is sent."""
    return int.from_bytes(hashlib.sha256(f"trace {run_id}".encode()).digest()[:16]) or 1


def span_id_of(event_id: str) -> int:
    """The same span for the same event."""
    return int.from_bytes(hashlib.sha256(f"span {event_id}".encode()).digest()[:8]) or 1


class Spans:
    """Knows what is open. `take` gives the spans that an event ends. Content is what agents read and write."""

    def __init__(self, *, include_content: bool = False) -> None:
        self._content = include_content
        self._runs: dict[str, _Run] = {}
        self._facts: dict[str, _Facts] = {}

    def resume(self, state: State) -> None:
        """Runs that were open when we came back."""
        for session in state.sessions.values():
            self._facts[session.session_id] = _Facts(session.context.cwd, session.model or "")
            if session.run is not None:
                self._open_run(session.run.run_id, session.session_id, session.run.started_at, session.run.trigger)

    def take(self, event: FeedEvent) -> list[Span]:
        """The spans that end with this event."""
        facts = self._facts.get(event.session_id)
        if facts is None:
            facts = _bounded(self._facts, MAX_RUNS)[event.session_id] = _Facts()
        if event.context is not None and event.context.cwd:
            facts.cwd = event.context.cwd
        step = _STEPS.get(event.kind)
        return step(self, event, event.data) if step else []

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
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.agent.name": AGENT,
            "gen_ai.conversation.id": session_id,
            "quarterdeck.run.id": run_id,
            "quarterdeck.run.trigger": trigger,
        }
        root = _Open(f"invoke_agent {AGENT}", span_id_of(run_id), None, at, attributes)
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
            key = f"tool:{data.tool_use_id or event.event_id}"
            _bounded(run.open, MAX_OPEN)[key] = self._tool(run, event, data, event.at)
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
        """A call whose begin was not seen began as long ago as the agent says."""
        run = self._runs.get(event.run_id)
        if run is None:
            return []
        begun = run.open.pop(f"tool:{data.tool_use_id}", None)
        if begun is None:
            begun = self._tool(run, event, data, event.at - (data.duration_ms or 0) / 1000)
        if data.duration_ms is not None:
            more["quarterdeck.tool.duration_ms"] = data.duration_ms
        return [_ended(run, begun, event.at, more, error)]

    def _asked(self, event: FeedEvent, data: Any) -> list[Span]:
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
        _bounded(run.open, MAX_OPEN)[f"request:{data.request_id}"] = begun
        return []

    def _decided(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.get(event.run_id)
        begun = run.open.pop(f"request:{data.request_id}", None) if run is not None else None
        if run is None or begun is None:
            return []
        more: Attributes = {
            "quarterdeck.decision": data.decision_type,
            "quarterdeck.decision.source": str(data.source),
            "quarterdeck.decision.by": data.by,
            "quarterdeck.request.status": data.status,
        }
        return [_ended(run, begun, event.at, more)]

    def _agent_start(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.get(event.run_id)
        if run is not None:
            attributes: Attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": PROVIDER,
                "gen_ai.agent.name": data.agent_type,
                "gen_ai.agent.id": data.agent_id,
                "gen_ai.conversation.id": event.session_id,
            }
            name = f"invoke_agent {data.agent_type}"
            begun = _Open(name, span_id_of(event.event_id), run.root.span_id, event.at, attributes)
            _bounded(run.open, MAX_OPEN)[f"agent:{data.agent_id}"] = begun
        return []

    def _agent_stop(self, event: FeedEvent, data: Any) -> list[Span]:
        run = self._runs.get(event.run_id)
        begun = run.open.pop(f"agent:{data.agent_id}", None) if run is not None else None
        return [_ended(run, begun, event.at, {})] if run is not None and begun is not None else []


_STEPS: dict[str, Callable[[Spans, FeedEvent, Any], list[Span]]] = {
    "session.start": Spans._session_start,
    "session.end": Spans._session_end,
    "model.post": Spans._model_post,
    "run.start": Spans._run_start,
    "run.end": Spans._run_end,
    "tool.pre": Spans._tool_pre,
    "tool.post": Spans._tool_post,
    "tool.failure": Spans._tool_failure,
    "permission.request": Spans._asked,
    "permission.decision": Spans._decided,
    "question.request": Spans._asked,
    "question.decision": Spans._decided,
    "stop.request": Spans._asked,
    "stop.decision": Spans._decided,
    "subagent.start": Spans._agent_start,
    "subagent.stop": Spans._agent_stop,
}


def _bounded(things: dict[str, T], most: int) -> dict[str, T]:
    """Room for one more: the oldest goes."""
    if len(things) >= most:
        del things[next(iter(things))]
    return things


def _parent(run: _Run, event: FeedEvent) -> int:
    """The sub-agent that acts, or the run itself."""
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
