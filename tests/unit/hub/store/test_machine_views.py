"""Sessions and requests as machines sent them: the latest counts, and a snapshot replaces what was open."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from msgspec import Raw

from quarterdeck.hub.store.hub_schema import open_hub_store
from quarterdeck.hub.store.machine_views import (
    SessionQuery,
    list_request_views,
    list_session_views,
    store_view,
    views_named,
)
from quarterdeck.link.messages import ViewMessage
from quarterdeck.wire import write_json


def session(session_id: str, started_at: float, ended_at: float | None = None, **more: Any) -> Raw:
    body = {"session_id": session_id, "started_at": started_at, "ended_at": ended_at, "agent_state": "idle"}
    return Raw(write_json(body | more))


def request(request_id: str, status: str = "pending") -> Raw:
    return Raw(write_json({"request_id": request_id, "status": status}))


def ids(db: sqlite3.Connection, query: SessionQuery) -> list[tuple[int, bytes]]:
    return [(view.machine, view.body[15:17]) for view in list_session_views(db, query)[0]]


def new_store(path: Path) -> sqlite3.Connection:
    return open_hub_store(path / "hub.db", "normal")


def test_sessions_of_all_machines_are_listed_like_those_of_one(tmp_path: Path) -> None:
    db = new_store(tmp_path)
    store_view(db, 1, ViewMessage(sessions=[session("a1", 1.0), session("a2", 3.0, 9.0)]), 10.0)
    store_view(db, 2, ViewMessage(sessions=[session("a1", 2.0), session("b2", 4.0, 9.0)]), 11.0)
    assert ids(db, SessionQuery()) == [(2, b"a1"), (1, b"a1"), (2, b"b2"), (1, b"a2")]
    seen, place = [], None
    while True:
        views, place = list_session_views(db, SessionQuery(limit=1, after=place))
        seen += [(view.machine, view.body[15:17]) for view in views]
        if place is None:
            break
    assert seen == ids(db, SessionQuery())
    assert ids(db, SessionQuery(machine=1)) == [(1, b"a1"), (1, b"a2")]
    assert [view.at for view in views_named(db, "sessions", "a1")] == [10.0, 11.0]


def test_a_snapshot_replaces_what_was_open_and_keeps_what_has_ended(tmp_path: Path) -> None:
    db = new_store(tmp_path)
    first = ViewMessage(
        sessions=[session("a1", 1.0), session("a2", 2.0, 3.0)], requests=[request("q1"), request("q2", "decided")]
    )
    store_view(db, 1, first, 10.0)
    store_view(db, 2, ViewMessage(requests=[request("q1")]), 10.0)
    store_view(db, 1, ViewMessage(snapshot=True, sessions=[session("a3", 4.0)], requests=[request("q3")]), 11.0)
    assert ids(db, SessionQuery()) == [(1, b"a3"), (1, b"a2")]
    pending = list_request_views(db, ["pending"], 0, 10)
    assert [(view.machine, b"q3" in view.body) for view in pending] == [(2, False), (1, True)]
    assert len(list_request_views(db, ["decided"], 0, 10)) == 1
    store_view(db, 1, ViewMessage(requests=[request("q3", "decided")], gone_sessions=["a3"]), 12.0)
    assert len(list_request_views(db, ["pending"], 0, 10, machine=1)) == 0
    assert ids(db, SessionQuery()) == [(1, b"a2")]
