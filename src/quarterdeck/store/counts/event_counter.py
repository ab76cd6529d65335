"""Counts the events of the log into counts.db, behind the writer."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from quarterdeck.core.model.event_data.request_data import DecisionData
from quarterdeck.core.model.event_data.session_data import MessageUsage, SessionUsageData
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.errors import StoreError
from quarterdeck.store.counts.calendar import day_of
from quarterdeck.store.counts.counts_file import counts_path, open_counts
from quarterdeck.store.hash_chain import anchor_of
from quarterdeck.store.queries.feed_query import readable_event
from quarterdeck.store.sqlite import read_only, transaction
from quarterdeck.views.counts.tally import (
    COUNTED_KINDS,
    CountKey,
    CountLedger,
    CountTally,
    MessageKey,
    OpenedRequest,
    SessionPlace,
    count_events,
    hour_of,
)

# Larger parts would hold the processor longer, and the loop would wait for it.
CHUNK = 250
HOOK_CALLS_SECONDS = 10.0
"""How often the hook calls are added. A crash loses those since the last time."""
MOST_SETS = 10_000
"""Sets of labels whose numbers are remembered; there are far fewer, unless an agent invents names."""

_KINDS = ",".join(f"'{kind}'" for kind in COUNTED_KINDS)
_ROWS = (
    "SELECT body FROM events WHERE seq_no > ?1 AND seq_no <= ?2"  # noqa: S608
    f" AND (kind IN ({_KINDS}) OR instr(body, '\"context\":') OR seq_no IN"
    " (SELECT min(seq_no) FROM events WHERE seq_no > ?1 AND seq_no <= ?2 GROUP BY session_id)) ORDER BY seq_no"
)
"""The events that matter for counts: most of the others are not even decoded. The first of each session may be one of
a new session."""

_ADD = "INSERT INTO {} VALUES(?,?,?) ON CONFLICT(set_id, bucket) DO UPDATE SET amount = amount + excluded.amount"

_read_request = msgspec.msgpack.Decoder(OpenedRequest).decode
_read_message = msgspec.msgpack.Decoder(MessageUsage).decode
_write = msgspec.msgpack.Encoder().encode


K = TypeVar("K")
V = TypeVar("V")


class EventCounter:
    """The only writer of counts.db, used by one thread at a time. Reads the log on a connection of its own.
    `take_hook_calls` returns the number of hook calls since it was last called, and the seconds that they took."""

    def __init__(
        self, log: Path, take_hook_calls: Callable[[], tuple[int, float]] = lambda: (0, 0.0), *, chunk: int = CHUNK
    ) -> None:
        self._chunk = chunk
        self._take_hook_calls = take_hook_calls
        self._hook_calls_due = 0.0
        self._path = counts_path(log)
        self._db = open_counts(log)
        self._log = read_only(log)
        self.seq_no = int(self._db.execute("SELECT seq_no FROM mark").fetchone()[0])
        self._sets: dict[tuple[str, str, bytes], int] = {}

    def add(self) -> int:
        """Count the next events and move the mark, in one transaction. Returns how many; 0 when none is left. A crash
        leaves the counts as they were before or after it."""
        anchor = anchor_of(self._log).seq_no
        first = max(self.seq_no, anchor)
        last, row_hash = self._last(first)
        if last <= self.seq_no:
            return 0
        rows = self._log.execute(_ROWS, (first, last)).fetchall()
        events = [event for (body,) in rows if (event := readable_event(body)) is not None]
        with self._writing():
            ledger = self._ledger(events)
            before = CountLedger(dict(ledger.sessions), dict(ledger.requests), dict(ledger.messages))
            self._put(count_events(events, ledger, day_of))
            self._keep(before, ledger)
            begins_after_gap = first > self.seq_no
            self._db.execute(
                "UPDATE mark SET seq_no=?, hash=?, first=iif(?, ?, first)",
                (last, row_hash, begins_after_gap, first + 1),
            )
        counted, self.seq_no = last - first, last
        return counted

    def _last(self, first: int) -> tuple[int, bytes | None]:
        """The last event of the next chunk, with its hash."""
        row = self._log.execute(
            "SELECT seq_no, hash FROM events WHERE seq_no > ? AND seq_no <= ? ORDER BY seq_no DESC LIMIT 1",
            (first, first + self._chunk),
        ).fetchone()
        return (int(row[0]), row[1]) if row else (first, None)

    def add_hook_calls(self, calls: int, seconds: float, at: float) -> None:
        """Add hook calls that were answered since the last time."""
        tally = CountTally()
        for metric, amount in (("hook_calls", calls), ("hook_seconds", round(seconds * 1_000_000))):
            tally.hours[CountKey(metric, hour_of(at), "", ())] = amount
            tally.days[CountKey(metric, day_of(at), "", ())] = amount
        with self._writing():
            self._put(tally)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with transaction(self._db):
                yield
        except sqlite3.Error as error:
            self._sets.clear()  # some of them may have been taken back
            raise StoreError(f"{self._path}: cannot be written ({error})") from None

    def _ledger(self, events: Iterable[FeedEvent]) -> CountLedger:
        """What is remembered about these events."""
        sessions, requests, messages = set[str](), set[str](), set[MessageKey]()
        for event in events:
            sessions.add(event.session_id)
            match event.data:
                case DecisionData(request_id=request_id):
                    requests.add(request_id)
                case SessionUsageData(spent=spent):
                    messages.update((event.session_id, message.message_id) for message in spent)
                case _:
                    pass
        ledger, read = CountLedger(), self._db.execute
        for session_id in sessions:
            row = read("SELECT cwd, agent FROM sessions WHERE session_id=?", (session_id,)).fetchone()
            if row is not None:
                ledger.sessions[session_id] = SessionPlace(*row)
        for request_id in requests:
            row = read("SELECT body FROM requests WHERE request_id=?", (request_id,)).fetchone()
            if row is not None:
                ledger.requests[request_id] = _read_request(row[0])
        for key in messages:
            row = read("SELECT body FROM messages WHERE session_id=? AND message_id=?", key).fetchone()
            if row is not None:
                ledger.messages[key] = _read_message(row[0])
        return ledger

    def _keep(self, before: CountLedger, now: CountLedger) -> None:
        write = self._db.executemany
        places = _changed(before.sessions, now.sessions)
        write("INSERT OR REPLACE INTO sessions VALUES(?,?,?)", ((key, one.cwd, one.agent) for key, one in places))
        write("DELETE FROM requests WHERE request_id=?", ((key,) for key in before.requests.keys() - now.requests))
        opened = _changed(before.requests, now.requests)
        write("INSERT OR REPLACE INTO requests VALUES(?,?)", ((key, _write(one)) for key, one in opened))
        spent = _changed(before.messages, now.messages)
        write("INSERT OR REPLACE INTO messages VALUES(?,?,?)", ((*key, _write(one)) for key, one in spent))

    def _put(self, tally: CountTally) -> None:
        for table, counts in (("hours", tally.hours), ("days", tally.days)):
            rows = [(self._set_id(key), key.bucket, amount) for key, amount in counts.items()]
            self._db.executemany(_ADD.format(table), rows)

    def _set_id(self, key: CountKey) -> int:
        project_id = project_id_of(key.cwd) or ""
        name = (key.metric, project_id, msgspec.json.encode(key.labels))
        known = self._sets.get(name)
        if known is None:
            if len(self._sets) >= MOST_SETS:
                self._sets.clear()
            values = (*name[:2], name[2].decode())
            self._db.execute("INSERT OR IGNORE INTO projects VALUES(?,?)", (project_id, key.cwd))
            self._db.execute("INSERT OR IGNORE INTO label_sets(metric, project_id, labels) VALUES(?,?,?)", values)
            row = self._db.execute(
                "SELECT set_id FROM label_sets WHERE metric=? AND project_id=? AND labels=?", values
            ).fetchone()
            self._sets[name] = known = int(row[0])
        return known

    def tidy(self) -> bool:
        """Add the hook calls now and then."""
        if time.monotonic() >= self._hook_calls_due:
            self._hook_calls_due = time.monotonic() + HOOK_CALLS_SECONDS
            self._add_taken()
        return False

    def _add_taken(self) -> None:
        calls, seconds = self._take_hook_calls()
        if calls:
            self.add_hook_calls(calls, seconds, time.time())

    def close(self) -> None:
        with contextlib.suppress(StoreError):
            self._add_taken()
        self._db.close()
        self._log.close()


def _changed(before: Mapping[K, V], now: Mapping[K, V]) -> list[tuple[K, V]]:
    return [(key, value) for key, value in now.items() if before.get(key) != value]
