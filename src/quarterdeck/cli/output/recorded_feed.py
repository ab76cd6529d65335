"""A feed that `qd export` wrote: checked as a whole, then read event by event."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from quarterdeck.cli.output.session_folders import SessionFolders
from quarterdeck.core.model.events import KINDS, FeedEvent
from quarterdeck.errors import Refused
from quarterdeck.store.queries.feed_query import readable_event

LONGEST_LINE = 64 * 1024 * 1024
LATEST = 4_102_444_800.0
"""The year 2100: a later time is none that an event was recorded at."""
_START = b'{"seq_no":'


class ExportMarks(Struct, frozen=True):
    """What `qd export` adds to a row: its hash, and whether the row was damaged."""

    seq_no: int
    hash: str
    damaged: bool = False


_marks_of = msgspec.json.Decoder(ExportMarks).decode


class FeedSummary(Struct):
    """What an exported feed holds. `folders` are those of its sessions."""

    events: int = 0
    damaged: int = 0
    first: float = 0.0
    last: float = 0.0
    folders: dict[str, str] = {}


class RecordedFeed:
    """An exported feed. `name` is what errors call it."""

    def __init__(self, name: str, source: BinaryIO) -> None:
        self._name = name
        self._source = source if source.seekable() else _copy(source)
        self._start = self._source.tell()

    def check(self) -> FeedSummary:
        """Read all of it. Raises `Refused` that names the first line that cannot be played."""
        summary, folders = FeedSummary(), SessionFolders()
        for event in self._read():
            if event is None:
                summary.damaged += 1
                continue
            folders.of(event)
            summary.first = summary.first if summary.events else event.at
            summary.last = event.at
            summary.events += 1
        summary.folders = folders.known
        if not summary.events:
            what = "only damaged events" if summary.damaged else "no events"
            raise Refused(f"{self._name}: has {what}; write a feed with: qd export --output FILE")
        return summary

    def events(self) -> Iterator[FeedEvent]:
        """The events in their order, without those that were damaged."""
        return (event for event in self._read() if event is not None)

    def _read(self) -> Iterator[FeedEvent | None]:
        self._source.seek(self._start)
        number = seq_no = 0
        while line := self._source.readline(LONGEST_LINE):
            number += 1
            try:
                marks = _marks_of(line)
            except (ValueError, msgspec.MsgspecError):
                raise self._unread(line, number) from None
            if marks.seq_no <= seq_no:
                raise Refused(f"{self._name}: line {number}: event {marks.seq_no} comes after event {seq_no}")
            seq_no = marks.seq_no
            yield None if marks.damaged else self._event(line, number)

    def _unread(self, line: bytes, number: int) -> Refused:
        if len(line) == LONGEST_LINE:
            return Refused(f"{self._name}: line {number} is longer than any event")
        if not line.endswith(b"\n") and line.startswith(_START[: len(line)]):
            return Refused(f"{self._name}: line {number} is cut short; export the feed again")
        if number == 1:
            return Refused(
                f"{self._name}: is not a feed from qd export (ndjson); write one with: qd export --output FILE"
            )
        return Refused(f"{self._name}: line {number} is not an event from qd export")

    def _event(self, line: bytes, number: int) -> FeedEvent:
        event = readable_event(line)
        if event is None or not 0 <= event.at < LATEST:
            raise Refused(f"{self._name}: line {number} is not an event from qd export")
        shape = KINDS.get(event.kind)
        if shape is None or not isinstance(event.data, shape):
            what = f"an event of a kind ({event.kind})" if shape is None else f"a form of {event.kind}"
            raise Refused(
                f"{self._name}: line {number}: {what} that this Quarterdeck does not know; play the feed with the"
                " version that exported it, or a newer one"
            )
        return event

    def close(self) -> None:
        self._source.close()


def _copy(source: BinaryIO) -> BinaryIO:
    """What comes through a pipe, in a file without a name that goes with this process."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - the feed closes it
    with source:
        shutil.copyfileobj(source, copy)
    copy.seek(0)
    return copy


def open_feed(file: Path, stdin: BinaryIO) -> RecordedFeed:
    """The feed in a file, or from standard input for `-`."""
    if str(file) == "-":
        return RecordedFeed("standard input", stdin)
    try:
        return RecordedFeed(str(file), file.open("rb"))
    except OSError as error:
        raise Refused(f"{file}: cannot be read ({error.strerror})") from None
