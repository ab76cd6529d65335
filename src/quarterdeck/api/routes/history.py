"""Routes that read one event with its causes, and the runs and actors of a session."""

from __future__ import annotations

from litestar.params import FromPath

from quarterdeck.api.backend import Backend, FeedBackend, SessionBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import invalid, not_found
from quarterdeck.api.routes.queries import Limit, Position, known_session
from quarterdeck.api.views.resources import agent_of
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.event_view import EventDetail, event_view
from quarterdeck.views.resources.run_view import ActorList, ActorView, RunList, run_view
from quarterdeck.views.run_history import actor_record, run_records


@endpoint("get_event")
async def get_event(feed: FeedBackend, sessions: SessionBackend, *, event_id: FromPath[str]) -> EventDetail:
    """Show one event, by its id or its seq_no: what caused it, what it caused, and the raw payload it was made from."""
    found = await feed.event(event_id)
    if found is None:
        raise not_found("event", event_id, "qd feed")
    event, lineage = found
    payload = await feed.payload(event)
    from_hook = event.cause is not None and event.cause.hook_request_id is not None
    return struct_of(
        EventDetail,
        event_view(event, agent_of(sessions, event.session_id)),
        causes=[event_view(one, agent_of(sessions, one.session_id)) for one in lineage.causes],
        effects=[event_view(one, agent_of(sessions, one.session_id)) for one in lineage.effects],
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
    runs = [run_view(run) for run in run_records(found.events, session)]
    return RunList(runs=runs, next=found.next, previous=found.previous)


@endpoint("list_actors")
async def list_actors(feed: FeedBackend, sessions: SessionBackend, *, session_id: FromPath[str]) -> ActorList:
    """List who acted in a session, each with the number of its events."""
    session = known_session(sessions, session_id)
    activity = await feed.activity(session_id)
    records = (actor_record(name, session, one.kinds, one.first_at, one.last_at) for name, one in activity.items())
    return ActorList(actors=[struct_of(ActorView, record) for record in sorted(records, key=lambda r: r.first_at)])
