"""Lists that the hub has itself: sessions, requests, the feed and the audit of all machines."""

from __future__ import annotations

from typing import Annotated, Any

from litestar.params import FromPath, FromQuery, QueryParameter
from msgspec import Raw, Struct

from quarterdeck.api.http.resource import one_of
from quarterdeck.api.routes.queries import Level, Limit, Time
from quarterdeck.core.model.state import REQUEST_STATUSES, RequestStatus
from quarterdeck.hub.hub_backend import HubBackend
from quarterdeck.hub.routes.hub_endpoint import hub_endpoint
from quarterdeck.hub.runners.machine_registry import MachineState
from quarterdeck.hub.shown_views import HubEventView, cursor_of, hub_event_view, place_of, shown_view
from quarterdeck.hub.store.machine_views import (
    SessionPlace,
    SessionQuery,
    StoredView,
    agents_of,
    list_request_views,
    list_session_views,
)
from quarterdeck.hub.store.records import RecordQuery, StoredRecord, list_records
from quarterdeck.store.queries.audit_query import AuditQuery
from quarterdeck.store.queries.event_lookup import PlacedEvent
from quarterdeck.store.queries.feed_query import FeedQuery
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.audit_view import AuditView
from quarterdeck.views.resources.event_view import EventDetail, event_view
from quarterdeck.views.resources.session_view import SessionView

FEED_SECONDS = 2.0
SESSION_CURSOR = r"^[012]\.[0-9]{1,17}\.[0-9]{1,9}\.[A-Za-z0-9_.:-]{1,128}$"
Place = Annotated[str | None, QueryParameter(pattern=r"^p?[0-9]{1,18}$")]
"""A cursor: `next` of a list, or the place of an event."""


class HubSessionList(Struct, kw_only=True):
    """Sessions of all machines, as they sent them; `seen_at` is when."""

    sessions: list[Raw]
    next: str | None


class HubRequestList(Struct, kw_only=True):
    """Requests of all machines, as they sent them; `seen_at` is when."""

    requests: list[Raw]
    next: str | None


class HubFeedPage(Struct, kw_only=True):
    """Events of all machines in the order of their arrival."""

    events: list[HubEventView]
    next: str | None
    previous: str | None
    partial: bool


class HubAuditList(Struct, kw_only=True):
    """The audit of all machines, with the hub's own entries."""

    audit: list[AuditView]
    next: str | None


@hub_endpoint("list_sessions")
async def list_sessions(
    hub: HubBackend,
    runner: MachineState | None,
    *,
    project_id: FromQuery[str | None] = None,
    agent_state: Annotated[str | None, QueryParameter(name="state")] = None,
    after: Annotated[str | None, QueryParameter(pattern=SESSION_CURSOR)] = None,
    limit: Limit = 200,
) -> HubSessionList:
    """List the sessions of all machines: live ones, ended ones, then those with only a transcript; newest first in each
    group."""
    query = SessionQuery(
        project_id=project_id,
        agent_state=agent_state,
        machine=None if runner is None else number_of(runner),
        after=_session_place(after),
        limit=limit,
    )
    views, place = await hub.reader.in_thread(lambda: hub.reader.ask(lambda db: list_session_views(db, query)))
    return HubSessionList(sessions=_shown(hub, views), next=None if place is None else _session_cursor(place))


def number_of(state: MachineState) -> int:
    """The number of a machine in the store; one that has never connected has nothing there."""
    return -1 if state.machine is None else state.machine


def _session_place(cursor: str | None) -> SessionPlace | None:
    if cursor is None:
        return None
    group, started, machine, session_id = cursor.split(".", 3)
    return int(group), int(started), session_id, int(machine)


def _session_cursor(place: SessionPlace) -> str:
    group, started, session_id, machine = place
    return f"{group}.{started}.{machine}.{session_id}"


def _shown(hub: HubBackend, views: list[StoredView]) -> list[Raw]:
    return [shown_view(hub.registry.by_number(view.machine), view) for view in views]


@hub_endpoint("list_requests")
async def list_requests(
    hub: HubBackend,
    runner: MachineState | None,
    *,
    status: FromQuery[RequestStatus | None] = None,
    after: Place = None,
    limit: Limit = 200,
) -> HubRequestList:
    """List the requests of all machines, in the order in which they came to the hub."""
    statuses = REQUEST_STATUSES if status is None else (status,)
    machine, start = None if runner is None else number_of(runner), place_of(after) or 0
    views = await hub.reader.in_thread(
        lambda: hub.reader.ask(lambda db: list_request_views(db, statuses, start, limit, machine))
    )
    return HubRequestList(requests=_shown(hub, views), next=cursor_of(views[-1].place) if len(views) == limit else None)


@hub_endpoint("get_session")
async def get_session(hub: HubBackend, runner: MachineState | None, *, session_id: FromPath[str]) -> SessionView:
    """Show one session, as its machine last sent it."""
    named = runner.runner_id if runner is not None else None
    state, view = await hub.view_named("sessions", session_id, named)
    return shown_view(state, view)  # type: ignore[return-value]


@hub_endpoint("get_feed")
async def get_feed(
    hub: HubBackend,
    runner: MachineState | None,
    *,
    after: Place = None,
    before: Place = None,
    limit: Limit = 200,
    session_id: FromQuery[str | None] = None,
    run_id: FromQuery[str | None] = None,
    kind: FromQuery[list[str] | None] = None,
    level: FromQuery[list[Level] | None] = None,
    actor_id: FromQuery[str | None] = None,
    tool: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
    since: Time = None,
    until: Time = None,
    project_id: FromQuery[str | None] = None,
) -> HubFeedPage:
    """List the events of all machines in the order of their arrival; `next` continues the list."""
    query = FeedQuery(
        after=place_of(after),
        before=place_of(before),
        limit=limit,
        session_id=session_id,
        run_id=run_id,
        kinds=tuple(kind or ()),
        levels=tuple(level or ()),
        actor_id=actor_id,
        tool=tool,
        search=q,
        since=since,
        until=until,
        project_id=project_id,
        sessions=await _sessions_of(hub, project_id),
        runner_id=None if runner is None else runner.runner_id,
        seconds=FEED_SECONDS,
    )
    page = await hub.reader.in_thread(lambda: hub.reader.feed(query))
    agents = await _agents(hub, [event.session_id for event in page.events])
    return HubFeedPage(
        events=[
            hub_event_view(PlacedEvent(place, event), agents.get(event.session_id))
            for place, event in zip(page.places, page.events, strict=True)
        ],
        next=None if page.next is None else cursor_of(page.next),
        previous=None if page.previous is None else cursor_of(page.previous),
        partial=page.partial,
    )


async def _agents(hub: HubBackend, session_ids: list[str]) -> dict[str, str]:
    return await hub.reader.in_thread(lambda: hub.reader.ask(lambda db: agents_of(db, session_ids)))


async def _sessions_of(hub: HubBackend, project_id: str | None) -> tuple[str, ...] | None:
    if project_id is None:
        return None
    sql = "SELECT session_id FROM sessions WHERE project_id = ? ORDER BY grp, started DESC LIMIT 1000"
    rows = await hub.reader.in_thread(lambda: hub.reader.ask(lambda db: db.execute(sql, (project_id,)).fetchall()))
    return tuple(name.decode() for (name,) in rows)


@hub_endpoint("get_event")
async def get_event(hub: HubBackend, runner: MachineState | None, *, event_id: FromPath[str]) -> EventDetail:
    """Show one event, by its id, or by its seq_no and the machine: what caused it and what it caused. The payload that
    it was made from stays on its machine."""
    reader, named = hub.reader, runner.runner_id if runner is not None else None
    if event_id.isdecimal() and len(event_id) < 19:
        machine = named or hub.only_machine().runner_id
        numbered = await reader.in_thread(lambda: reader.event_numbered(machine, int(event_id)))
        found = [] if numbered is None else [numbered]
    else:
        found = await reader.in_thread(lambda: reader.events_named(event_id, named))
    placed = one_of({one.event.runner_id: one for one in found}, "event", event_id, "qd feed")
    lineage = await reader.in_thread(lambda: reader.lineage(placed))
    agent = (await _agents(hub, [placed.event.session_id])).get(placed.event.session_id)
    return struct_of(
        EventDetail,
        event_view(placed.event, agent),
        causes=[event_view(one, agent) for one in lineage.causes],
        effects=[event_view(one, agent) for one in lineage.effects],
        more_effects=lineage.more,
        payload=None,
        payload_status="elsewhere",
    )


@hub_endpoint("list_audit")
async def list_audit(
    hub: HubBackend,
    runner: MachineState | None,
    *,
    after: Place = None,
    before: Place = None,
    limit: Limit = 200,
    kind: FromQuery[list[str] | None] = None,
    who: FromQuery[str | None] = None,
    since: Time = None,
    until: Time = None,
    project_id: FromQuery[str | None] = None,
) -> HubAuditList:
    """List who did what and when on all machines and at the hub, in the order of arrival. The hub's own entries name
    the command, and its result on the machine."""
    shared: dict[str, Any] = {"after": place_of(after), "before": place_of(before), "limit": limit, "who": who}
    shared |= {"kinds": tuple(kind or ()), "since": since, "until": until}
    shared["runner_id"] = None if runner is None else runner.runner_id
    sessions = await _sessions_of(hub, project_id)
    query = AuditQuery(**shared, project_id=project_id, sessions=sessions)
    found = await hub.reader.in_thread(lambda: hub.reader.audit_places(query))
    agents = await _agents(hub, [one.row.session_id for one in found])
    rows = [
        (one.place, struct_of(AuditView, one.row, runner_id=one.runner_id, agent=agents.get(one.row.session_id)))
        for one in found
    ]
    if project_id is None:
        records = await hub.reader.in_thread(lambda: hub.reader.ask(lambda db: list_records(db, RecordQuery(**shared))))
        rows += [(one.place, record_view(hub, one)) for one in records]
    rows.sort(key=lambda row: row[0])
    page = rows[-limit:] if query.backwards else rows[:limit]
    more = len(page) == limit and not query.backwards
    return HubAuditList(audit=[row for _, row in page], next=cursor_of(page[-1][0]) if more else None)


def record_view(hub: HubBackend, stored: StoredRecord) -> AuditView:
    """An entry of the hub as the audit shows it."""
    record = stored.record
    return AuditView(
        seq_no=stored.place,
        at=record.at,
        kind=record.kind,
        session_id=record.session_id,
        agent=None,
        who=record.who,
        surface=record.surface,
        source="system" if record.who == "system" else "user",
        about=record.about,
        what=record.what,
        digest=None,
        hash=stored.hash.hex(),
        runner_id=record.runner_id or hub.runner_id,
    )
