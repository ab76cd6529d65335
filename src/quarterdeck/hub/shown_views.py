"""The live sessions and the pending requests of all machines, as surfaces see them, and the source of live updates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from quarterdeck.api.live.live_source import LivePage
from quarterdeck.api.live.ws_messages import Cursor
from quarterdeck.hub.runners.machine_registry import MachineRegistry, MachineState
from quarterdeck.hub.store.hub_reader import HubReader
from quarterdeck.hub.store.machine_views import RequestColumns, SessionColumns, StoredView
from quarterdeck.link.messages import ViewMessage
from quarterdeck.store.queries.event_lookup import PlacedEvent
from quarterdeck.store.queries.feed_query import FeedQuery
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.event_view import EventView, event_view
from quarterdeck.wire import write_json

Json = dict[str, Any]
Key = tuple[int, str]
"""A session or request: the number of its machine, and its id."""

MOST_AGENTS = 20_000
"""Sessions whose agent is kept in memory, for events as they come."""
_session_columns = msgspec.json.Decoder(SessionColumns).decode
_request_columns = msgspec.json.Decoder(RequestColumns).decode


class HubEventView(EventView, kw_only=True):
    """One event of a machine. `seq_no` is its number in the log of the machine, `place` its place in the order of
    arrival at the hub, by which the events of several machines are ordered."""

    place: int


def cursor_of(place: int) -> str:
    """The cursor of a place in the order of arrival."""
    return f"p{place}"


def place_of(cursor: str | None) -> int | None:
    """The place of a cursor; None for none. The shape of a cursor was checked before."""
    return None if cursor is None else int(cursor.removeprefix("p"))


def hub_event_view(placed: PlacedEvent, agent: str | None) -> HubEventView:
    """An event as the hub shows it, with the agent of its session."""
    return struct_of(HubEventView, event_view(placed.event, agent), place=placed.place)


def shown_view(state: MachineState | None, view: StoredView) -> Raw:
    """A session or request as its machine sent it, with the time of that and the name of the machine. While the machine
    is away, nothing can be done with it."""
    if state is not None and state.is_connected:
        added = b',"seen_at":%b,"runner_name":%b}' % (write_json(view.at), write_json(state.name))
        return Raw(view.body.rstrip()[:-1] + added)
    body: Json = msgspec.json.decode(view.body)
    since = state.since if state is not None else None
    body |= {"seen_at": view.at, "away_since": since, "runner_name": state.name if state is not None else ""}
    if isinstance(body.get("decisions"), list):
        body |= {"decisions": [], "holder": "reconnecting"}
    if isinstance(body.get("actions"), list):
        reason = "its machine is away"
        body["actions"] = [{**one, "possible": False, "reason": reason} for one in body["actions"]]
    return Raw(write_json(body))


class ShownViews:
    """What is live now, in memory: surfaces get all of it when they connect. Filled from the store at the start."""

    def __init__(self) -> None:
        self.sessions: dict[Key, StoredView] = {}
        self.requests: dict[Key, StoredView] = {}
        self.agents: dict[str, str] = {}

    def load(self, sessions: Iterable[StoredView], requests: Iterable[StoredView]) -> None:
        """Begin with what is stored."""
        for view in sessions:
            self._learn(view.machine, view, _session_columns(view.body))
        for view in requests:
            self.requests[view.machine, _request_columns(view.body).request_id] = view

    def apply(self, machine: int, message: ViewMessage, at: float) -> tuple[list[StoredView], list[StoredView]]:
        """Take what a machine sent; returns its sessions and requests, for surfaces."""
        if message.snapshot:
            self.sessions = {key: view for key, view in self.sessions.items() if key[0] != machine}
            self.requests = {key: view for key, view in self.requests.items() if key[0] != machine}
        sessions = [StoredView(place=0, machine=machine, at=at, body=bytes(body)) for body in message.sessions]
        requests = [StoredView(place=0, machine=machine, at=at, body=bytes(body)) for body in message.requests]
        for view in sessions:
            self._learn(machine, view, _session_columns(view.body))
        for view in requests:
            request = _request_columns(view.body)
            _keep(self.requests, (machine, request.request_id), view, is_kept=request.status == "pending")
        for session_id in message.gone_sessions:
            self.sessions.pop((machine, session_id), None)
        for request_id in message.gone_requests:
            self.requests.pop((machine, request_id), None)
        return sessions, requests

    def _learn(self, machine: int, view: StoredView, columns: SessionColumns) -> None:
        _keep(self.sessions, (machine, columns.session_id), view, is_kept=columns.group == 0)
        if columns.agent:
            self.agents[columns.session_id] = columns.agent
        while len(self.agents) > MOST_AGENTS:
            del self.agents[next(iter(self.agents))]

    def of_machine(self, machine: int) -> tuple[list[StoredView], list[StoredView]]:
        """The live sessions and the pending requests of one machine."""
        sessions = [view for key, view in self.sessions.items() if key[0] == machine]
        return sessions, [view for key, view in self.requests.items() if key[0] == machine]


def _keep(views: dict[Key, StoredView], key: Key, view: StoredView, *, is_kept: bool) -> None:
    if is_kept:
        views[key] = view
    else:
        views.pop(key, None)


class HubSource:
    """The source of live updates for the surfaces of a hub."""

    def __init__(self, hub_id: str, reader: HubReader, registry: MachineRegistry, shown: ShownViews) -> None:
        self.runner_id = hub_id
        self.place = 0
        self._reader = reader
        self._registry = registry
        self._shown = shown

    def cursor(self, place: int) -> Cursor:
        return cursor_of(place)

    def place_of(self, cursor: Cursor) -> int | None:
        text = str(cursor).removeprefix("p")
        return int(text) if text.isdecimal() and len(text) < 19 else None

    async def can_resume(self, after: int) -> bool:
        return after <= self.place

    async def page(self, after: int, before: int, limit: int) -> LivePage:
        query = FeedQuery(after=after, before=before, limit=limit)
        page = await self._reader.in_thread(lambda: self._reader.feed(query))
        placed = [PlacedEvent(place, event) for place, event in zip(page.places, page.events, strict=True)]
        return LivePage(page.places, placed, page.more)

    def event_message(self, event: PlacedEvent) -> bytes:
        return b'{"type":"event","event":%b,"cursor":%b}' % (
            write_json(hub_event_view(event, self._shown.agents.get(event.session_id))),
            write_json(cursor_of(event.place)),
        )

    def request_view(self, request: StoredView) -> Raw:
        return shown_view(self._registry.by_number(request.machine), request)

    session_view = request_view

    def sessions_of(self, events: Iterable[Any]) -> Iterable[Any]:
        """None: machines send their sessions themselves."""
        return ()

    def snapshot(self, parts: frozenset[str]) -> bytes:
        message: Json = {"type": "snapshot"}
        if "sessions" in parts:
            message["sessions"] = [self.session_view(view) for view in self._shown.sessions.values()]
        if "requests" in parts:
            message["requests"] = [self.request_view(view) for view in self._shown.requests.values()]
        return write_json(message)
