"""How the log reads outside: one JSON object a line, a table for a spreadsheet, or a page for people."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import body_of, title_of
from quarterdeck.store.dump import StoredRow
from quarterdeck.store.feed_query import sound
from quarterdeck.wire import write_json

COLUMNS = ("seq_no", "at", "session_id", "run_id", "kind", "level", "actor_id", "title", "data", "hash")
BODY_LINES = 20
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKS = re.compile(r"([\\`*_\[\]<>#|~])")


def ndjson(rows: Iterable[StoredRow]) -> Iterator[bytes]:
    """Events as they were recorded, with their hash; a damaged row says so."""
    for row in rows:
        if row.body is not None and sound(row.body) is not None:
            yield b'%b,"hash":"%b"}\n' % (row.body.rstrip()[:-1], row.hash.hex().encode())
        else:
            yield write_json(_damaged(row)) + b"\n"


def _damaged(row: StoredRow) -> dict[str, object]:
    body = None if row.body is None else row.body.decode(errors="replace")
    return {"seq_no": row.seq_no, "damaged": True, "body": body, "hash": row.hash.hex()}


def table(rows: Iterable[StoredRow]) -> Iterator[bytes]:
    """CSV. No cell is a formula."""
    yield _line(COLUMNS)
    for row in rows:
        event = None if row.body is None else sound(row.body)
        yield _line(_cells(event, row) if event else (row.seq_no, *[""] * 6, "damaged", "", row.hash.hex()))


def _cells(event: FeedEvent, row: StoredRow) -> tuple[object, ...]:
    data = write_json(event.data).decode()
    place = (event.session_id, event.run_id, event.kind, event.level, event.actor_id)
    return (event.seq_no, _when(event).isoformat(), *place, one_line(title_of(event)), data, row.hash.hex())


def _line(cells: Iterable[object]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow([_harmless(cell) for cell in cells])
    return out.getvalue().encode(errors="replace")


def _harmless(cell: object) -> object:
    """A spreadsheet takes a cell that begins so for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def page(rows: Iterable[StoredRow]) -> Iterator[bytes]:
    """Markdown: a heading per day, a line per event, what was said below it."""
    yield b"# Quarterdeck log\n"
    day: date | None = None
    for row in rows:
        event = None if row.body is None else sound(row.body)
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
