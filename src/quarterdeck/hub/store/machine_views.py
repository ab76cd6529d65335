"""Sessions and requests as their machines last sent them, with the time of that."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from quarterdeck.link.messages import ViewMessage


class SessionColumns(Struct, frozen=True, gc=False):
    """The parts of a session by which the hub lists it."""

    session_id: str
    started_at: float
    agent_state: str
    ended_at: float | None = None
    state_source: str = ""
    project_id: str | None = None
    agent: str = ""

    @property
    def group(self) -> int:
        """0 for a live session, 1 for one that has ended, 2 for one of which only the transcript is left."""
        return 0 if self.ended_at is None else 2 if self.state_source == "transcript" else 1


class RequestColumns(Struct, frozen=True, gc=False):
    """The parts of a request by which the hub lists it."""

    request_id: str
    status: str


_read_session = msgspec.json.Decoder(SessionColumns).decode
_read_request = msgspec.json.Decoder(RequestColumns).decode


class StoredView(Struct, frozen=True, kw_only=True):
    """A session or request as its machine last sent it, at the hub's time `at`. `place` is its place in the list."""

    place: int
    machine: int
    at: float
    body: bytes


def store_view(db: sqlite3.Connection, machine: int, view: ViewMessage, at: float) -> None:
    """Store what a machine sent. A snapshot replaces what was still open there."""
    if view.snapshot:
        db.execute("DELETE FROM sessions WHERE machine=? AND grp=0", (machine,))
        kept = [_read_request(bytes(body)).request_id for body in view.requests]
        db.execute(
            "DELETE FROM requests WHERE machine=? AND status='pending'"
            " AND request_id NOT IN (SELECT value FROM json_each(?))",
            (machine, msgspec.json.encode(kept).decode()),
        )
    for body in view.sessions:
        _store_session(db, machine, bytes(body), at)
    for body in view.requests:
        _store_request(db, machine, bytes(body), at)
    for session_id in view.gone_sessions:
        db.execute("DELETE FROM sessions WHERE session_id=? AND machine=?", (session_id, machine))
    for request_id in view.gone_requests:
        db.execute("DELETE FROM requests WHERE request_id=? AND machine=?", (request_id, machine))


def _store_session(db: sqlite3.Connection, machine: int, body: bytes, at: float) -> None:
    columns = _read_session(body)
    started = max(0, int(columns.started_at * 1e6))
    db.execute(
        "INSERT INTO sessions(machine, session_id, grp, started, project_id, agent_state, at, body)"
        " VALUES(?,?,?,?,?,?,?,?) ON CONFLICT(session_id, machine) DO UPDATE SET grp=excluded.grp,"
        " started=excluded.started, project_id=excluded.project_id, agent_state=excluded.agent_state,"
        " at=excluded.at, body=excluded.body",
        (
            *(machine, columns.session_id, columns.group, started, columns.project_id, columns.agent_state, at),
            body.decode(),
        ),
    )


def _store_request(db: sqlite3.Connection, machine: int, body: bytes, at: float) -> None:
    columns = _read_request(body)
    db.execute(
        "INSERT INTO requests(machine, request_id, status, at, body) VALUES(?,?,?,?,?)"
        " ON CONFLICT(request_id, machine) DO UPDATE SET status=excluded.status, at=excluded.at, body=excluded.body",
        (machine, columns.request_id, columns.status, at, body.decode()),
    )


SessionPlace = tuple[int, int, str, int]
"""The place of a session in the list: its group, when it started, its id and its machine."""


class SessionQuery(Struct, frozen=True, kw_only=True):
    """Filters for sessions."""

    project_id: str | None = None
    agent_state: str | None = None
    machine: int | None = None
    after: SessionPlace | None = None
    limit: int = 200
    only_live: bool = False


def list_session_views(db: sqlite3.Connection, query: SessionQuery) -> tuple[list[StoredView], SessionPlace | None]:
    """Sessions of all machines: live ones, ended ones, then those with only a transcript; newest first in each group.
    Also the place of the last one, when there are more."""
    where, values = ["1"], list[Any]()
    for clause, value in (
        ("project_id = ?", query.project_id),
        ("agent_state = ?", query.agent_state),
        ("machine = ?", query.machine),
        ("grp = ?", 0 if query.only_live else None),
    ):
        if value is not None:
            where.append(clause)
            values.append(value)
    if query.after is not None:
        group, started, session_id, machine = query.after
        where.append("(grp > ? OR grp = ? AND (started < ? OR started = ? AND (session_id, machine) > (?, ?)))")
        values += [group, group, started, started, session_id, machine]
    rows = db.execute(
        "SELECT place, machine, at, body, grp, started, session_id FROM sessions"  # noqa: S608
        f" WHERE {' AND '.join(where)} ORDER BY grp, started DESC, session_id, machine LIMIT ?",
        (*values, query.limit + 1),
    ).fetchall()
    views = [_view(row) for row in rows[: query.limit]]
    last = rows[query.limit - 1] if len(rows) > query.limit else None
    return views, None if last is None else (last[4], last[5], _text(last[6]), last[1])


def list_request_views(
    db: sqlite3.Connection, statuses: Sequence[str], after: int, limit: int, machine: int | None = None
) -> list[StoredView]:
    """Requests with one of these statuses, in the order in which they came to the hub."""
    marks = ",".join("?" * len(statuses))
    rows = db.execute(
        f"SELECT place, machine, at, body FROM requests WHERE status IN ({marks}) AND place > ?"  # noqa: S608
        " AND (? IS NULL OR machine = ?) ORDER BY place LIMIT ?",
        (*statuses, after, machine, machine, limit),
    )
    return [_view(row) for row in rows]


def views_named(db: sqlite3.Connection, table: str, name: str) -> list[StoredView]:
    """The sessions or requests with this id, one of each machine that has it."""
    column = {"sessions": "session_id", "requests": "request_id"}[table]
    sql = f"SELECT place, machine, at, body FROM {table} WHERE {column} = ? ORDER BY machine"  # noqa: S608
    return [_view(row) for row in db.execute(sql, (name,))]


def agents_of(db: sqlite3.Connection, session_ids: Sequence[str]) -> dict[str, str]:
    """The agents of these sessions."""
    ids = msgspec.json.encode(sorted(set(session_ids))).decode()
    sql = (
        "SELECT session_id, json_extract(body,'$.agent') FROM sessions"
        " WHERE session_id IN (SELECT value FROM json_each(?))"
    )
    return {_text(name): _text(agent) for name, agent in db.execute(sql, (ids,)) if agent is not None}


def _view(row: Any) -> StoredView:
    body = row[3] if isinstance(row[3], bytes) else row[3].encode()
    return StoredView(place=row[0], machine=row[1], at=row[2], body=body)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def raw(view: StoredView) -> Raw:
    """The JSON of a view."""
    return Raw(view.body)
