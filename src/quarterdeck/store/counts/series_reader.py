"""Reads series from counts.db, beside its writer."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from quarterdeck.errors import Refused
from quarterdeck.store.counts.calendar import bucket_of, start_of
from quarterdeck.store.counts.counts_file import counts_path
from quarterdeck.store.sqlite import read_only
from quarterdeck.views.counts.metrics import METRICS, PROJECT
from quarterdeck.views.counts.series import Cell, SeriesAnswer, SeriesQuery, series_of

NO_PROJECT = "no project"
UNKNOWN = "unknown"

_TABLES = {"hour": "hours", "day": "days"}
_CELLS = (
    "WITH chosen AS MATERIALIZED (SELECT set_id, {name} AS name FROM label_sets WHERE metric=?1"
    " AND (?2 IS NULL OR project_id=?2))"
    " SELECT name, bucket, sum(amount) FROM chosen CROSS JOIN {table} USING(set_id)"
    " WHERE bucket BETWEEN ?3 AND ?4 GROUP BY 1, 2"
)


def read_series(log: Path, query: SeriesQuery) -> SeriesAnswer:
    """The series of a query that fits. Raises `Refused` while there are no counts."""
    path = counts_path(log)
    if not path.is_file():
        return _nothing_yet(query)
    try:
        with contextlib.closing(read_only(path)) as db:
            return _read(db, query)
    except sqlite3.Error as error:
        raise Refused(f"{path}: the counts cannot be read ({error}); see log/daemon.log") from None


def _nothing_yet(query: SeriesQuery) -> SeriesAnswer:
    """The answer of a daemon that has just started and makes the file now."""
    return _answer(query, *_buckets(query), [], {}, 0, 1)


def _read(db: sqlite3.Connection, query: SeriesQuery) -> SeriesAnswer:
    if not db.execute("PRAGMA user_version").fetchone()[0]:
        return _nothing_yet(query)
    first, last = _buckets(query)
    sql = _CELLS.format(name=_name(query), table=_TABLES[query.by])
    rows = db.execute(sql, (query.metric, query.project_id, first, last)).fetchall()
    cells = [(_text(name), bucket - first, amount) for name, bucket, amount in rows]
    counted_upto, began = db.execute("SELECT seq_no, first FROM mark").fetchone()
    return _answer(query, first, last, cells, _labels(db, query.group), counted_upto, began)


def _buckets(query: SeriesQuery) -> tuple[int, int]:
    """The first and the last bucket of the period. One that begins at its end is not in it."""
    first, last = bucket_of(query.since, query.by), bucket_of(query.until, query.by)
    return first, max(first, last - 1 if start_of(last, query.by) >= query.until else last)


def _answer(
    query: SeriesQuery, first: int, last: int, cells: list[Cell], labels: dict[str, str], upto: int, began: int
) -> SeriesAnswer:
    return SeriesAnswer(
        times=[start_of(bucket, query.by) for bucket in range(first, last + 1)],
        until=start_of(last + 1, query.by),
        series=series_of(query.metric, cells, last - first + 1, labels),
        counted_upto=upto,
        first=began,
    )


def _name(query: SeriesQuery) -> str:
    """The column of the group's values."""
    if query.group is None:
        return "''"
    if query.group == PROJECT:
        return "project_id"
    groups = [group for group in METRICS[query.metric].groups if group != PROJECT]
    return f"labels ->> '$[{groups.index(query.group)}]'"


def _labels(db: sqlite3.Connection, group: str | None) -> dict[str, str]:
    """The names for people, where they differ from the values: of a project the folder."""
    if group is None:
        return {}
    if group != PROJECT:
        return {"": UNKNOWN}
    paths = db.execute("SELECT project_id, path FROM projects").fetchall()
    return {_text(project_id): _text(path) for project_id, path in paths} | {"": NO_PROJECT}


def _text(value: bytes | str | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""
