"""Events as they leave: redacted, by level, and with the hash of what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.daemon.link.outgoing.outgoing_events import MOST_EVENT, OutgoingEvents
from quarterdeck.link.codec import event_hash
from quarterdeck.link.runner_link import RowRange
from quarterdeck.store.log import Entry, Log
from quarterdeck.store.reader import LogRow, Reader
from tests.support.scene import Scene, bash
from tests.support.share_policies import policy


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    log, scene = Log.open(tmp_path / "events.db"), Scene()
    for session in ("open", "titles", "closed"):
        scene.receives("PostToolUse", session=session, tool_response="SECRET=abc-123-def", **bash("cat plan"))
        log.append([Entry(scene.last.events, None, scene.last.requests.values(), scene.last.sessions.values())])
    opened = Reader(log.path)
    yield opened
    opened.close()
    log.close()


def test_events_leave_in_order_with_the_hash_of_what_is_stored(reader: Reader) -> None:
    batch = OutgoingEvents(reader, policy(folders=False), "box").read(RowRange(0, 100))
    stored = reader.rows_after(0, 100, 10**9).rows
    assert [event.seq_no for event in batch.events] == [row.seq_no for row in stored]
    assert [event.hash for event in batch.events] == [event_hash(row.body) for row in stored]
    assert all(event.withheld is None for event in batch.events)
    assert batch.trimmed == 0


def test_no_secret_leaves_and_levels_say_what_they_hold_back(reader: Reader) -> None:
    events = OutgoingEvents(reader, policy(), "box").read(RowRange(0, 100)).events
    found = {json.loads(bytes(e.event))["session_id"]: e for e in events}
    assert found["open"].withheld is None
    assert found["titles"].withheld == "titles"
    assert "closed" not in found
    assert {event.withheld for event in events} == {None, "titles", "nothing"}
    text = b"".join(bytes(event.event) for event in events)
    assert b"abc-123-def" not in text
    assert b"title" in bytes(found["titles"].event)


def test_a_huge_event_leaves_with_its_title_alone(reader: Reader) -> None:
    [row] = reader.rows_after(0, 1, 10**9).rows
    body = json.loads(row.body) | {"padding": "x" * MOST_EVENT}
    huge = LogRow(row.seq_no, "open", row.kind, json.dumps(body).encode())
    assert OutgoingEvents(reader, policy(folders=False), "box").event(huge).withheld == "titles"


def test_a_gap_stands_for_its_numbers(reader: Reader) -> None:
    gap = OutgoingEvents(reader, policy(), "box").gap(3, 9)
    assert (gap.begins, gap.seq_no) == (3, 9)
    assert json.loads(bytes(gap.event))["data"]["events"] == 7
