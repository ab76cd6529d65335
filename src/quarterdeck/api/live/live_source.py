"""The source of live updates: where events are read, and how events, sessions and requests are shown. This one is of
one machine; a hub has another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from quarterdeck.api.backend import Backend
from quarterdeck.api.live.ws_messages import Cursor, Snapshot
from quarterdeck.api.views.resources import agent_of, request_view, session_view
from quarterdeck.core.model.events import OWN, FeedEvent
from quarterdeck.core.model.state import Request, Session
from quarterdeck.store.reader import FeedQuery
from quarterdeck.views.resources.event_view import event_view
from quarterdeck.views.resources.request_view import RequestView
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.wire import write_json


class LivePage(Struct, frozen=True):
    """Events of the log with their places, and whether there are more."""

    places: Sequence[int]
    events: Sequence[Any]
    more: bool


class LiveSource(Protocol):
    """What a WebSocket serves. A place is a position in the log that is served, a cursor its form for clients."""

    @property
    def runner_id(self) -> str: ...

    @property
    def place(self) -> int:
        """The place of the last published event."""

    def cursor(self, place: int) -> Cursor: ...

    def place_of(self, cursor: Cursor) -> int | None:
        """The place of a cursor; None for one of another machine or version."""

    async def can_resume(self, after: int) -> bool:
        """True when every event after this place can still be read."""
        ...

    async def page(self, after: int, before: int, limit: int) -> LivePage: ...

    def event_message(self, event: Any) -> bytes:
        """An event as a message."""

    def request_view(self, request: Any) -> Any: ...

    def session_view(self, session: Any) -> Any: ...

    def sessions_of(self, events: Iterable[Any]) -> Iterable[Any]:
        """The sessions that these events have changed."""

    def snapshot(self, parts: frozenset[str]) -> bytes:
        """The sessions and requests as they are now, as a message."""


class MachineSource:
    """One machine: its events, live sessions and pending requests. The place of an event is its number."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._snapshots: dict[frozenset[str], tuple[int, bytes]] = {}

    @property
    def runner_id(self) -> str:
        return self._backend.runner_id

    @property
    def place(self) -> int:
        return self._backend.feed.seq_no

    def cursor(self, place: int) -> Cursor:
        return place

    def place_of(self, cursor: Cursor) -> int | None:
        return cursor if isinstance(cursor, int) else None

    async def can_resume(self, after: int) -> bool:
        return await self._backend.feed.can_resume(after)

    async def page(self, after: int, before: int, limit: int) -> LivePage:
        page = await self._backend.feed.events(FeedQuery(after=after, before=before, limit=limit))
        return LivePage([event.seq_no for event in page.events], page.events, page.more)

    def event_message(self, event: FeedEvent) -> bytes:
        view = event_view(event, agent_of(self._backend.sessions, event.session_id))
        return b'{"type":"event","event":%b,"cursor":%d}' % (write_json(view), event.seq_no)

    def request_view(self, request: Request) -> RequestView:
        return request_view(self._backend, request)

    def session_view(self, session: Session) -> SessionView:
        return session_view(session, self._backend)

    def sessions_of(self, events: Iterable[FeedEvent]) -> Iterable[Session]:
        ids = dict.fromkeys(e.session_id for e in events if e.session_id != OWN)
        found = (self._backend.sessions.get(session_id) for session_id in ids)
        return [session for session in found if session is not None]

    def snapshot(self, parts: frozenset[str]) -> bytes:
        """Encoded once per event, as many surfaces connect at the same time after a restart."""
        backend = self._backend
        seq_no, snapshot = self._snapshots.get(parts, (-1, b""))
        if seq_no != backend.feed.seq_no:
            message = Snapshot()
            if "sessions" in parts:
                message.sessions = [session_view(s, backend) for s in backend.sessions.live()]
            if "requests" in parts:
                message.requests = [request_view(backend, r) for r in backend.requests.pending()]
            snapshot = write_json(message)
            self._snapshots[parts] = (backend.feed.seq_no, snapshot)
        return snapshot
