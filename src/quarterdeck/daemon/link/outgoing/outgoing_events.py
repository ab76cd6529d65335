"""The rows of the log as they leave: without secrets, and as much as their project shares."""

from __future__ import annotations

import time
from typing import NamedTuple

import msgspec
from msgspec import Raw

from quarterdeck.core.model.events import OWN
from quarterdeck.core.text.titles import title_of
from quarterdeck.daemon.link.outgoing.share_policy import SharePolicy
from quarterdeck.link.codec import event_hash
from quarterdeck.link.messages import LinkEvent
from quarterdeck.link.redaction.share_levels import EVERYTHING, NO_OUTPUT, NOTHING, TITLES, gap_event, shared_event
from quarterdeck.link.runner_link import RowRange
from quarterdeck.store.reader import LogRow, Reader
from quarterdeck.wire import read_event, write_json

BATCH_BYTES = 4 * 1024 * 1024
MOST_EVENT = 8 * 1024 * 1024
"""A larger event leaves at the level of titles: a message of the link has a limit."""

_decode = msgspec.json.Decoder().decode


class EventBatch(NamedTuple):
    """Events that were read, and the last one that was trimmed."""

    events: list[LinkEvent]
    trimmed: int


class OutgoingEvents:
    """Reads the log for the hub, from any thread."""

    def __init__(self, reader: Reader, policy: SharePolicy, runner_id: str) -> None:
        self._reader, self._policy, self._runner_id = reader, policy, runner_id

    def read(self, rows: RowRange) -> EventBatch:
        """The events of these rows."""
        found = self._reader.rows_after(rows.after, rows.limit, BATCH_BYTES)
        return EventBatch([self.event(row) for row in found.rows], found.trimmed)

    def event(self, row: LogRow) -> LinkEvent:
        """One event as it leaves."""
        level = self._policy.of_session(row.session_id)
        if row.session_id == OWN and not self._policy.levels.shares_all:
            level = self._policy.of_data(level, _decode(row.body).get("data"))
        if level == EVERYTHING and len(row.body) > MOST_EVENT:
            level = TITLES
        if level == EVERYTHING:
            body = self._policy.secrets.body(row.body)
            return LinkEvent(seq_no=row.seq_no, hash=event_hash(row.body), event=Raw(body))
        title = title_of(read_event(row.body)) if level == TITLES else ""
        shared = self._policy.secrets.clean(shared_event(_decode(row.body), level, title))
        known = level if level in (NO_OUTPUT, TITLES) else NOTHING
        return LinkEvent(seq_no=row.seq_no, hash=event_hash(row.body), event=Raw(write_json(shared)), withheld=known)

    def gap(self, first: int, last: int) -> LinkEvent:
        """The event that stands for those that were trimmed before the hub had them."""
        body = write_json(gap_event(first, last, self._runner_id, time.time()))
        return LinkEvent(seq_no=last, first=first, hash=event_hash(body), event=Raw(body))
