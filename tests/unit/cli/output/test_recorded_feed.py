"""Exported feeds that are played, and files that are none."""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.output.export_formats import ndjson
from quarterdeck.cli.output.recorded_feed import RecordedFeed, open_feed
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.errors import Refused
from quarterdeck.store.dump import StoredRow
from quarterdeck.views.resources.event_view import event_view
from quarterdeck.wire import write_json
from tests.support.scene import Scene

EVENTS = tuple(
    Scene()
    .receives("SessionStart", source="startup")
    .receives("UserPromptSubmit", prompt="build it")
    .receives("SessionStart", session="s2", source="startup", cwd="/w/other")
    .events
)


def exported(events: tuple[FeedEvent, ...] = EVENTS) -> bytes:
    return b"".join(ndjson(StoredRow(e.seq_no, write_json(e), bytes(32)) for e in events))


LINES = exported().splitlines(keepends=True)


def refusal_of(content: bytes) -> str:
    with pytest.raises(Refused) as refused:
        RecordedFeed("f", io.BytesIO(content)).check()
    return str(refused.value)


def test_an_export_is_read_as_it_was_recorded() -> None:
    feed = RecordedFeed("f", io.BytesIO(exported()))
    summary = feed.check()
    assert (summary.events, summary.damaged) == (len(EVENTS), 0)
    assert (summary.first, summary.last) == (EVENTS[0].at, EVENTS[-1].at)
    assert summary.folders == {"s1": "/w/app", "s2": "/w/other"}
    assert tuple(feed.events()) == EVENTS


def test_damaged_rows_are_left_out_and_counted() -> None:
    first = EVENTS[0].seq_no
    [damaged] = ndjson([StoredRow(first, b"{torn", bytes(32))])
    feed = RecordedFeed("f", io.BytesIO(damaged + b"".join(LINES[1:])))
    assert feed.check().damaged == 1
    assert tuple(feed.events()) == EVENTS[1:]
    assert "only damaged events" in refusal_of(damaged)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "f: has no events"),
        (b"\n", "not a feed from qd export"),
        (b"\x7fELF\x00\xff" * 100, "not a feed from qd export"),
        (b'{"seq_no":1,"title":"of qd feed --json"}\n', "not a feed from qd export"),
        (b'"seq_no","at"\n"1","now"\n', "not a feed from qd export"),
        (LINES[0][:40], "line 1 is cut short"),
        (exported()[:-3], f"line {len(LINES)} is cut short"),
        (LINES[0] + b"hello\n", "line 2 is not an event"),
        (LINES[0] + b'{"seq_no":99,"hash":"00"}\n', "line 2 is not an event"),
        (LINES[1] + LINES[0], "line 2: event 1 comes after event 2"),
        (exported() + exported(), f"line {len(LINES) + 1}: event 1 comes after"),
        (LINES[0].replace(b'"kind":"', b'"kind":"later.'), "an event of a kind (later."),
        (re.sub(rb'"data":{.*?}', b'"data":[]', LINES[0]), "a form of "),
        (LINES[0].replace(b'"at":1001.0', b'"at":9e11'), "line 1 is not an event"),
    ],
)
def test_a_file_that_cannot_be_played_is_refused_by_its_line(content: bytes, reason: str) -> None:
    assert reason in refusal_of(content)


def test_known_kinds_in_an_unknown_form_come_from_a_newer_version() -> None:
    prompt = next(line for line in LINES if b'"kind":"user.prompt"' in line)
    reason = refusal_of(prompt.replace(b'"build it"', b'{"parts":["build it"]}'))
    assert "a form of user.prompt that this Quarterdeck does not know" in reason


@given(st.integers(0, len(exported())), st.binary(max_size=8), st.integers(0, 8))
def test_a_changed_file_is_played_or_refused(place: int, new: bytes, gone: int) -> None:
    content = exported()
    feed = RecordedFeed("f", io.BytesIO(content[:place] + new + content[place + gone :]))
    with suppress(Refused):
        summary = feed.check()
        views = [event_view(event, None) for event in feed.events()]
        assert len(views) == summary.events


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.write(write, exported())
    os.close(write)
    feed = open_feed(Path("-"), os.fdopen(read, "rb"))
    assert feed.check().events == len(EVENTS)
    assert tuple(feed.events()) == EVENTS
    feed.close()


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for file in (tmp_path / "none", tmp_path):
        with pytest.raises(Refused, match=f"{file}: cannot be read"):
            open_feed(file, sys.stdin.buffer)
