"""Routes that read one event with its causes, and the runs and actors of a session."""

from __future__ import annotations

from typing import Any, Literal

from litestar.params import FromPath
from msgspec import Struct

from quarterdeck.api.backend import Backend, FeedBackend, SessionBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import invalid, not_found
from quarterdeck.api.http.resource import Resource
from quarterdeck.api.routes.queries import Limit, Position, known_session
from quarterdeck.api.views.projection import struct_of
from quarterdeck.api.views.resources import CountersView, EventView, event_view
from quarterdeck.core.model.event_data.session_data import Usage
from quarterdeck.core.model.state import Todo
from quarterdeck.views.run_history import actor_record, run_records

PayloadStatus = Literal["kept", "too_large", "none"]


class EventDetail(EventView, kw_only=True):
    """One event with the events that led to it, the nearest first, and those that it caused; `more_effects` when there
    are others. `payload` is what the agent's hook sent, as it was; it is null when it was `too_large` to keep, or when
    there is `none`, as the event was not made from a hook call."""

    causes: list[EventView]
    effects: list[EventView]
    more_effects: bool
    payload: Any
    payload_status: PayloadStatus


class UsageCount(Struct, kw_only=True):
    """Tokens and what they cost; `cost_usd` is null when a model has no known price."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None


class PastRunView(Resource, kw_only=True):
    """One prompt until its stop. `status` is running, blocked (it waits for a decision), completed, failed or aborted;
    `trigger` is what began it. `actors` are the agent and its sub-agents, `todos` those that the run added. `usage` is
    null until a transcript was read."""

    run_id: str
    session_id: str
    number: int
    seq_no: int
    status: Literal["running", "blocked", "completed", "failed", "aborted"]
    trigger: str
    prompt: str | None
    started_at: float
    ended_at: float | None
    counters: CountersView
    actors: list[str]
    todos: list[Todo]
    usage: UsageCount | None


class RunList(Struct, kw_only=True):
    runs: list[PastRunView]
    next: int | None
    previous: int | None


class ActorView(Resource, kw_only=True):
    """Who acts in a session: the user, the agent, a sub-agent or the system. `status` is running or ended, and null for
    the user and the system. The times are those of its first and its last event."""

    actor_id: str
    session_id: str
    kind: str
    display_name: str
    agent_type: str | None
    parent_actor_id: str | None
    status: str | None
    first_at: float
    last_at: float
    events: int
    tool_uses: int
    tool_failures: int
    requests: int


class ActorList(Struct, kw_only=True):
    actors: list[ActorView]
    next: None = None


@endpoint("get_event")
async def get_event(feed: FeedBackend, *, event_id: FromPath[str]) -> EventDetail:
    """Show one event, by its id or its seq_no: what caused it, what it caused, and the raw payload it was made from."""
    found = await feed.event(event_id)
    if found is None:
        raise not_found("event", event_id, "qd feed")
    event, lineage = found
    payload = await feed.payload(event)
    from_hook = event.cause is not None and event.cause.hook_request_id is not None
    return struct_of(
        EventDetail,
        event_view(event),
        causes=[event_view(one) for one in lineage.causes],
        effects=[event_view(one) for one in lineage.effects],
        more_effects=lineage.more,
        payload=payload,
        payload_status="kept" if payload is not None else "too_large" if from_hook else "none",
    )


@endpoint("list_runs")
async def list_runs(
    backend: Backend,
    *,
    session_id: FromPath[str],
    after: Position = None,
    before: Position = None,
    limit: Limit = 50,
) -> RunList:
    """List the runs of a session, oldest first; `next` continues the list. With `before` and no `after` it is the page
    that ends there, and `previous` is the next such position."""
    if after is not None and before is not None:
        raise invalid("before", "send either after or before")
    session = known_session(backend.sessions, session_id)
    found = await backend.feed.run_events(session_id, after, before, limit)
    runs = [
        struct_of(
            PastRunView,
            run,
            counters=struct_of(CountersView, run.counters),
            actors=list(run.actors),
            todos=list(run.todos),
            usage=None if run.usage is None else _usage(run.usage),
        )
        for run in run_records(found.events, session)
    ]
    return RunList(runs=runs, next=found.next, previous=found.previous)


def _usage(usage: Usage) -> UsageCount:
    cost = None if usage.cost_usd is None else round(usage.cost_usd, 6)
    return struct_of(UsageCount, usage, cost_usd=cost)


@endpoint("list_actors")
async def list_actors(feed: FeedBackend, sessions: SessionBackend, *, session_id: FromPath[str]) -> ActorList:
    """List who acted in a session, each with the number of its events."""
    session = known_session(sessions, session_id)
    activity = await feed.activity(session_id)
    records = (actor_record(name, session, one.kinds, one.first_at, one.last_at) for name, one in activity.items())
    return ActorList(actors=[struct_of(ActorView, record) for record in sorted(records, key=lambda r: r.first_at)])
