"""Formats of `qd export`: NDJSON, CSV for spreadsheets, and Markdown for people."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path, PurePath

from quarterdeck.cli.output.session_folders import SessionFolders
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import body_of, title_of
from quarterdeck.store.dump import StoredRow
from quarterdeck.store.queries.feed_query import readable_event
from quarterdeck.wire import write_json

COLUMNS = ("seq_no", "at", "session_id", "run_id", "kind", "level", "actor_id", "title", "data", "hash")
BODY_LINES = 20
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKS = re.compile(r"([\\`*_\[\]<>#|~])")


class ExportFilter:
    """Chooses rows by their time and by the folder of their session: `project` is that folder or its name. A damaged
    row passes, as nothing is known of it."""

    def __init__(self, *, since: float | None = None, until: float | None = None, project: str | None = None) -> None:
        self._since, self._until = since or 0.0, float("inf") if until is None else until
        is_folder = project is not None and ("/" in project or project in (".", ".."))
        self._folder = str(Path(project).resolve()) if project is not None and is_folder else None
        self._name = None if is_folder else project
        self._folders = SessionFolders()

    def of(self, rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
        """The rows that pass."""
        return filter(self._passes, rows)

    def _passes(self, row: StoredRow) -> bool:
        event = None if row.body is None else readable_event(row.body)
        if event is None:
            return True
        folder = self._folders.of(event)
        in_project = folder == self._folder if self._folder else self._name in (None, PurePath(folder).name)
        return in_project and self._since <= event.at <= self._until


def ndjson(rows: Iterable[StoredRow]) -> Iterator[bytes]:
    """Events as recorded, with their hash, one JSON object per line. A damaged row is marked."""
    for row in rows:
        if row.body is not None and readable_event(row.body) is not None:
            yield b'%b,"hash":"%b"}\n' % (row.body.rstrip()[:-1], row.hash.hex().encode())
        else:
            yield write_json(_damaged(row)) + b"\n"


def _damaged(row: StoredRow) -> dict[str, object]:
    body = None if row.body is None else row.body.decode(errors="replace")
    return {"seq_no": row.seq_no, "damaged": True, "body": body, "hash": row.hash.hex()}


def table(rows: Iterable[StoredRow]) -> Iterator[bytes]:
    """Events as CSV. No cell can be read as a formula."""
    events = ((row, None if row.body is None else readable_event(row.body)) for row in rows)
    cells = (
        _cells(event, row) if event else (row.seq_no, *[""] * 6, "damaged", "", row.hash.hex()) for row, event in events
    )
    yield from (line.encode(errors="replace") for line in csv_lines(COLUMNS, cells))


def csv_lines(names: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """A table for spreadsheets, with the names of its columns. No cell can be read as a formula."""
    yield _line(names)
    yield from map(_line, rows)


def _cells(event: FeedEvent, row: StoredRow) -> tuple[object, ...]:
    data = write_json(event.data).decode()
    place = (event.session_id, event.run_id, event.kind, event.level, event.actor_id)
    return (event.seq_no, _when(event).isoformat(), *place, one_line(title_of(event)), data, row.hash.hex())


def _line(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow([_harmless(cell) for cell in cells])
    return out.getvalue()


def _harmless(cell: object) -> object:
    """Quote a cell that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def page(rows: Iterable[StoredRow]) -> Iterator[bytes]:
    """Events as Markdown: a heading per day, a line per event, with its text below."""
    yield b"# Quarterdeck log\n"
    day: date | None = None
    for row in rows:
        event = None if row.body is None else readable_event(row.body)
        if event is None:
            yield f"- {row.seq_no} **damaged**\n".encode()
            continue
        when = _when(event)
        if when.date() != day:
            day = when.date()
            yield f"\n## {day}\n\n".encode()
        session = _plain(event.session_id[:8])
        line = f"- {when:%H:%M:%S} · {session} · {event.kind} · {_plain(title_of(event))}\n"
        yield (line + "".join(_quoted(event))).encode(errors="replace")


def _quoted(event: FeedEvent) -> Iterator[str]:
    lines = (body_of(event) or "").splitlines()
    if len(lines) > 1:
        yield from (f"  > {_plain(line)}\n" for line in lines[:BODY_LINES])
    if len(lines) > BODY_LINES:
        yield f"  > … {len(lines) - BODY_LINES} more lines\n"


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\1", one_line(text))


def _when(event: FeedEvent) -> datetime:
    return datetime.fromtimestamp(event.at, UTC)


FORMATS: Mapping[str, Callable[[Iterable[StoredRow]], Iterator[bytes]]] = {"ndjson": ndjson, "csv": table, "md": page}
