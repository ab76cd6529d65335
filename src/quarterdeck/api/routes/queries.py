"""Routes that read sessions, the feed, requests, the audit, and the daemon's health and numbers."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from litestar import Response
from litestar.params import FromPath, FromQuery, QueryParameter

from quarterdeck import __version__
from quarterdeck.api.backend import Backend, FeedBackend, HealthBackend, SessionBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import not_found
from quarterdeck.api.views.prometheus import MEDIA_TYPE, exposition
from quarterdeck.api.views.request_card import card_view
from quarterdeck.api.views.resources import agent_of, request_view, session_view
from quarterdeck.core.model.state import RequestStatus, Session
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.store.reader import AuditQuery, FeedQuery
from quarterdeck.views.health import daemon_checks
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.audit_view import AuditList, AuditView
from quarterdeck.views.resources.card_view import CardView
from quarterdeck.views.resources.daemon_view import FindingList, FindingView, HealthView, SettingList, SettingView
from quarterdeck.views.resources.event_view import FeedPage, event_view
from quarterdeck.views.resources.request_view import RequestList
from quarterdeck.views.resources.session_view import SessionList, SessionView
from quarterdeck.views.resources.stats_view import StatsView

CURSOR = r"^[012]\.[0-9]{1,17}\.[A-Za-z0-9_.:-]{1,128}$"
Limit = Annotated[int, QueryParameter(name="limit", ge=1, le=1000)]
Position = Annotated[int | None, QueryParameter(ge=0, le=2**63 - 1)]
Time = Annotated[float | None, QueryParameter(ge=0, le=1e12)]
Level = Literal["debug", "info", "warn", "error"]
Cursor = Annotated[str | None, QueryParameter(pattern=CURSOR)]


@endpoint("list_sessions")
async def list_sessions(
    backend: Backend,
    *,
    project_id: FromQuery[str | None] = None,
    agent_state: Annotated[str | None, QueryParameter(name="state")] = None,
    after: Cursor = None,
    limit: Limit = 200,
) -> SessionList:
    """List the sessions: live ones, ended ones, then those with only a transcript; newest first in each group.

    `next` stays valid when its session has moved to another group."""
    found = [
        s
        for s in backend.sessions.all()
        if (project_id is None or project_id_of(s.context.cwd) == project_id)
        and (agent_state is None or s.agent_state == agent_state)
    ]
    if after is not None:
        start = _place(*after.split(".", 2))
        found = [s for s in found if _place_of(s) > start]
    page = sorted(found, key=_place_of)[: limit + 1]
    views = await _views(page[:limit], backend)
    return SessionList(sessions=views, next=_cursor(page[limit - 1]) if len(page) > limit else None)


Place = tuple[int, int, str]


def _place(group: str, micros: str, session_id: str) -> Place:
    return int(group), -int(micros), session_id


def _place_of(session: Session) -> Place:
    group = 0 if session.ended_at is None else 2 if session.state_source == "transcript" else 1
    return group, -max(0, int(session.started_at * 1e6)), session.session_id


def _cursor(session: Session) -> str:
    group, micros, session_id = _place_of(session)
    return f"{group}.{-micros}.{session_id}"


@endpoint("get_session")
async def get_session(backend: Backend, *, session_id: FromPath[str]) -> SessionView:
    """Show one session."""
    return (await _views([known_session(backend.sessions, session_id)], backend))[0]


async def _views(found: list[Session], backend: Backend) -> list[SessionView]:
    panes = await backend.sessions.panes(found)
    return [session_view(s, backend, backend.sessions.memory(s), panes.get(s.session_id)) for s in found]


def known_session(sessions: SessionBackend, session_id: str) -> Session:
    """The session with this id; ApiError when there is none."""
    session = sessions.get(session_id)
    if session is None:
        raise not_found("session", session_id, "qd sessions")
    return session


@endpoint("get_feed")
async def get_feed(
    feed: FeedBackend,
    sessions: SessionBackend,
    *,
    after: Position = None,
    before: Position = None,
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
) -> FeedPage:
    """List the events of the feed, oldest first; `next` continues the list."""
    query = FeedQuery(
        after=after,
        before=before,
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
    )
    page = await feed.events(query)
    return struct_of(FeedPage, page, events=[event_view(e, agent_of(sessions, e.session_id)) for e in page.events])


@endpoint("list_requests")
async def list_requests(
    backend: Backend,
    *,
    status: FromQuery[RequestStatus | None] = None,
    after: Position = None,
    limit: Limit = 200,
) -> RequestList:
    """List requests, pending and ended, oldest first."""
    found = await backend.requests.page(status, after or 0, limit)
    await backend.requests.assess(found)
    return RequestList(
        requests=[request_view(backend, r) for r in found],
        next=found[-1].seq_no if len(found) == limit else None,
    )


@endpoint("get_request")
async def get_request(backend: Backend, *, request_id: FromPath[str]) -> CardView:
    """Show one request with everything needed to decide: the whole input, the diff against the file as it is now, the
    command broken down, the risk and its reasons, its run, and the number of other pending requests."""
    request = await backend.requests.get(request_id)
    if request is None:
        raise not_found("request", request_id, "qd requests")
    return await card_view(backend, request)


@endpoint("list_audit")
async def list_audit(
    feed: FeedBackend,
    sessions: SessionBackend,
    *,
    after: Position = None,
    before: Position = None,
    limit: Limit = 200,
    kind: FromQuery[list[str] | None] = None,
    who: FromQuery[str | None] = None,
    since: Time = None,
    until: Time = None,
    project_id: FromQuery[str | None] = None,
) -> AuditList:
    """List who did what and when, oldest first, each entry with its hash in the chain; `next` continues the list. With
    `before` and no `after` it is the page that ends there."""
    query = AuditQuery(
        after=after,
        before=before,
        limit=limit,
        kinds=tuple(kind or ()),
        who=who,
        since=since,
        until=until,
        project_id=project_id,
    )
    rows = await feed.audit(query)
    more = len(rows) == limit and not query.backwards
    audit = [struct_of(AuditView, row, agent=agent_of(sessions, row.session_id)) for row in rows]
    return AuditList(audit=audit, next=rows[-1].seq_no if more else None)


@endpoint("healthz")
async def healthz(health: HealthBackend) -> HealthView:
    """Show whether the daemon records events."""
    return HealthView(status=health.status)


@endpoint("list_settings")
async def list_settings(health: HealthBackend) -> SettingList:
    """List every setting in force and where its value comes from, as `qd config show` does. None of them is a secret:
    those are in files of their own."""
    return SettingList(settings=[struct_of(SettingView, one) for one in health.settings])


@endpoint("get_health")
async def get_health(health: HealthBackend) -> FindingList:
    """Show what `qd doctor` says of the daemon itself, with the fix of each problem."""
    facts = health.facts()
    checks = [struct_of(FindingView, one) for one in daemon_checks(facts, __version__)]
    return FindingList(status=facts.status, health=checks)


@endpoint("get_stats")
async def get_stats(health: HealthBackend) -> StatsView:
    """Show numbers about the daemon: events, latencies, queue, held requests, hook overhead per session, store."""
    return msgspec.convert(health.stats(), StatsView)


@endpoint("get_metrics", media_type="text/plain")
async def get_metrics(health: HealthBackend) -> Response[str]:
    """Show the same numbers in Prometheus format."""
    return Response(exposition(health.stats()), media_type=MEDIA_TYPE)
