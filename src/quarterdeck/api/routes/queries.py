"""Routes that read: sessions, the feed, requests."""

from __future__ import annotations

from typing import Annotated, Literal

from litestar import get
from litestar.datastructures import State as AppState
from litestar.params import FromPath, FromQuery, QueryParameter
from msgspec import Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.views.request_card import CardView, card_view
from quarterdeck.api.views.resources import EventView, RequestView, SessionView, event_view, request_view, session_view
from quarterdeck.core.model.state import Session
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.store.reader import FeedQuery

CURSOR = r"^[012]\.[0-9]{1,17}\.[A-Za-z0-9_.:-]{1,128}$"
Limit = Annotated[int, QueryParameter(name="limit", ge=1, le=1000)]
Position = Annotated[int | None, QueryParameter(ge=0, le=2**63 - 1)]
Time = Annotated[float | None, QueryParameter(ge=0, le=1e12)]
Cursor = Annotated[str | None, QueryParameter(pattern=CURSOR)]
OBSERVE = {"scope": "observe"}


class Health(Struct, kw_only=True):
    status: str


class Sessions(Struct, kw_only=True):
    sessions: list[SessionView]
    next: str | None


class Feed(Struct, kw_only=True):
    events: list[EventView]
    next: int | None


class Requests(Struct, kw_only=True):
    requests: list[RequestView]
    next: int | None


@get("/healthz", opt={"scope": "none"}, sync_to_thread=False)
def healthz(state: AppState) -> Health:
    """Whether the daemon takes events."""
    desk: Desk = state.desk
    return Health(status=desk.health)


@get("/sessions", opt=OBSERVE)
async def list_sessions(
    state: AppState,
    project_id: FromQuery[str | None] = None,
    agent_state: Annotated[str | None, QueryParameter(name="state")] = None,
    after: Cursor = None,
    limit: Limit = 200,
) -> Sessions:
    """Every session: live ones, ended ones, those of which only a transcript is left, each newest first.

    A `next` stays good when its session has moved."""
    desk: Desk = state.desk
    found = [
        s
        for s in desk.sessions()
        if (project_id is None or project_id_of(s.context.cwd) == project_id)
        and (agent_state is None or s.agent_state == agent_state)
    ]
    if after is not None:
        start = _place(*after.split(".", 2))
        found = [s for s in found if _place_of(s) > start]
    page = sorted(found, key=_place_of)[: limit + 1]
    panes = await desk.panes(page[:limit])
    views = [session_view(s, desk.runner_id, desk.memory(s), panes.get(s.session_id)) for s in page[:limit]]
    return Sessions(sessions=views, next=_cursor(page[limit - 1]) if len(page) > limit else None)


Place = tuple[int, int, str]


def _place(group: str, micros: str, session_id: str) -> Place:
    return int(group), -int(micros), session_id


def _place_of(session: Session) -> Place:
    group = 0 if session.ended_at is None else 2 if session.state_source == "transcript" else 1
    return group, -max(0, int(session.started_at * 1e6)), session.session_id


def _cursor(session: Session) -> str:
    group, micros, session_id = _place_of(session)
    return f"{group}.{-micros}.{session_id}"


@get("/sessions/{session_id:str}", opt=OBSERVE)
async def get_session(state: AppState, session_id: FromPath[str]) -> SessionView:
    """One session."""
    desk: Desk = state.desk
    session = desk.session(session_id)
    if session is None:
        raise ApiError(404, "not_found", f"no such session: {session_id}")
    panes = await desk.panes([session])
    return session_view(session, desk.runner_id, desk.memory(session), panes.get(session_id))


@get("/feed", opt=OBSERVE)
async def get_feed(
    state: AppState,
    after: Position = None,
    before: Position = None,
    limit: Limit = 200,
    session_id: FromQuery[str | None] = None,
    kind: FromQuery[list[str] | None] = None,
    actor_id: FromQuery[str | None] = None,
    tool: FromQuery[str | None] = None,
    q: FromQuery[str | None] = None,
    since: Time = None,
    until: Time = None,
    project_id: FromQuery[str | None] = None,
) -> Feed:
    """A page of what happened, oldest first; `next` continues it."""
    desk: Desk = state.desk
    query = FeedQuery(
        after=after,
        before=before,
        limit=limit,
        session_id=session_id,
        kinds=tuple(kind or ()),
        actor_id=actor_id,
        tool=tool,
        search=q,
        since=since,
        until=until,
        project_id=project_id,
    )
    page = await desk.feed(query)
    return Feed(events=[event_view(e) for e in page.events], next=page.next)


@get("/requests", opt=OBSERVE)
async def list_requests(
    state: AppState,
    status: FromQuery[Literal["pending", "decided", "withdrawn", "expired"] | None] = None,
    after: Position = None,
    limit: Limit = 200,
) -> Requests:
    """Requests, oldest first: what waits, or how it ended."""
    desk: Desk = state.desk
    found = await desk.requests(status, after or 0, limit)
    await desk.judge(found)
    return Requests(
        requests=[request_view(desk, r) for r in found],
        next=found[-1].seq_no if len(found) == limit else None,
    )


@get("/requests/{request_id:str}", opt=OBSERVE)
async def get_request(state: AppState, request_id: FromPath[str]) -> CardView:
    """One request with everything a decision needs: the whole input, the change to the file as it is now, the command
    taken apart, the risk in words, the run it belongs to, and how many others wait."""
    desk: Desk = state.desk
    request = await desk.request(request_id)
    if request is None:
        raise ApiError(404, "not_found", f"no such request: {request_id}; see: qd requests")
    return await card_view(desk, request)


READING_ROUTES = [list_sessions, get_session, get_feed, list_requests, get_request]
