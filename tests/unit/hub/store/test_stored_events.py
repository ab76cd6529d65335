"""Events of machines: each stored once and in order, and another content under a known number is a conflict."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from quarterdeck.hub.store.enrolments import Machine, TakenIdentity, add_enrolment, machines, register_machine
from quarterdeck.hub.store.hub_reader import HubReader
from quarterdeck.hub.store.hub_schema import open_hub_store
from quarterdeck.hub.store.stored_events import FencedConnection, IncompleteEvents, index_sessions, store_events
from quarterdeck.link.codec import event_hash
from quarterdeck.link.messages import LinkEvent
from quarterdeck.store.queries.feed_query import FeedQuery
from quarterdeck.store.sqlite import transaction
from quarterdeck.wire import write_json


def body_of(runner_id: str, number: int, text: str = "") -> bytes:
    event = {"seq_no": number, "event_id": f"s:R1:E{number}", "seq": number, "run_id": "s:R1", "session_id": "s"}
    event |= {"runner_id": runner_id, "at": 100.0 + number, "kind": "user.prompt", "level": "info"}
    return write_json(event | {"actor_id": "user", "data": {"prompt": text or f"word{number}"}})


def link_event(runner_id: str, number: int, text: str = "") -> LinkEvent:
    body = body_of(runner_id, number, text)
    return LinkEvent(seq_no=number, hash=event_hash(body), event=Raw(body))


def new_store(path: Path) -> sqlite3.Connection:
    return open_hub_store(path / "hub.db", "normal")


def enrol(db: sqlite3.Connection, runner_id: str) -> Machine:
    add_enrolment(db, f"e-{runner_id}", f"token-{runner_id}", runner_id, "owner", 1.0)
    return register_machine(db, f"e-{runner_id}", runner_id, runner_id, "1", 2.0)


def stored(db: sqlite3.Connection, machine: int) -> list[tuple[int, int]]:
    """The numbers of a machine with their places."""
    sql = "SELECT number, seq_no FROM by_machine WHERE machine=? ORDER BY seq_no"
    return [(number, place) for number, place in db.execute(sql, (machine,))]


@pytest.mark.law("H1")
@pytest.mark.law("H2")
@given(st.lists(st.tuples(st.integers(1, 12), st.integers(1, 6)), max_size=20))
def test_any_doubles_and_holes_leave_one_contiguous_copy_in_order(sent: list[tuple[int, int]]) -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    _create(db)
    one = enrol(db, "a")
    have = 0
    for first, count in sent:
        batch = [link_event("a", number) for number in range(first, first + count)]
        try:
            with transaction(db):
                have = store_events(db, one.machine, one.epoch, batch, 5.0).last_number
        except IncompleteEvents:
            assert first > have + 1
    assert [number for number, _ in stored(db, one.machine)] == list(range(1, have + 1))
    assert machines(db)[0].last_number == have
    assert db.execute("SELECT count(*) FROM conflicts").fetchone() == (0,)


def _create(db: sqlite3.Connection) -> None:
    from quarterdeck.hub.store.hub_schema import TABLES

    for statement in filter(str.strip, TABLES.split(";\n")):
        db.execute(statement)


@pytest.mark.law("H1")
def test_another_content_under_a_known_number_is_kept_as_a_conflict_once(tmp_path: Path) -> None:
    db = new_store(tmp_path)
    one = enrol(db, "a")
    store_events(db, one.machine, one.epoch, [link_event("a", 1), link_event("a", 2)], 5.0)
    result = store_events(db, one.machine, one.epoch, [link_event("a", 2, "other"), link_event("a", 3)], 6.0)
    assert [one.number for one in result.conflicts] == [2]
    assert result.last_number == 3
    again = store_events(db, one.machine, one.epoch, [link_event("a", 2, "other")], 7.0)
    assert again.conflicts == []
    assert db.execute("SELECT number, json_extract(body,'$.data.prompt') FROM conflicts").fetchall() == [(2, "other")]
    bodies = db.execute("SELECT json_extract(body,'$.data.prompt') FROM events ORDER BY seq_no").fetchall()
    assert bodies == [("word1",), ("word2",), ("word3",)]


@pytest.mark.law("H6")
def test_events_of_an_earlier_epoch_are_refused(tmp_path: Path) -> None:
    db = new_store(tmp_path)
    first = enrol(db, "a")
    second = register_machine(db, "e-a", "a", "a", "1", 3.0)
    assert second.epoch > first.epoch
    with pytest.raises(FencedConnection):
        store_events(db, first.machine, first.epoch, [link_event("a", 1)], 5.0)
    assert stored(db, first.machine) == []
    assert store_events(db, second.machine, second.epoch, [link_event("a", 1)], 5.0).last_number == 1


def test_a_gap_stands_for_all_its_numbers(tmp_path: Path) -> None:
    db = new_store(tmp_path)
    one = enrol(db, "a")
    body = body_of("a", 9)
    gap = LinkEvent(seq_no=9, first=1, hash=event_hash(body), event=Raw(body))
    result = store_events(db, one.machine, one.epoch, [gap, link_event("a", 10)], 5.0)
    assert result.last_number == 10
    assert store_events(db, one.machine, one.epoch, [link_event("a", 4)], 6.0).conflicts == []
    assert [number for number, _ in stored(db, one.machine)] == [9, 10]


@pytest.mark.law("H5")
def test_a_credential_belongs_to_one_machine_and_a_machine_to_one_credential(tmp_path: Path) -> None:
    db = new_store(tmp_path)
    enrol(db, "a")
    with pytest.raises(TakenIdentity):
        register_machine(db, "e-a", "b", "b", "1", 3.0)
    add_enrolment(db, "e-2", "token-2", "copy", "owner", 4.0)
    with pytest.raises(TakenIdentity):
        register_machine(db, "e-2", "a", "a", "1", 5.0)
    db.execute("UPDATE enrolments SET expelled_at=6 WHERE enrolment_id='e-a'")
    assert register_machine(db, "e-2", "a", "a", "1", 7.0).runner_id == "a"


def test_the_feed_has_all_machines_in_the_order_of_arrival_and_each_by_itself(tmp_path: Path) -> None:
    db = new_store(tmp_path)
    a, b = enrol(db, "a"), enrol(db, "b")
    store_events(db, a.machine, a.epoch, [link_event("a", n) for n in (1, 2)], 5.0)
    store_events(db, b.machine, b.epoch, [link_event("b", n) for n in (1, 2, 3)], 6.0)
    store_events(db, a.machine, a.epoch, [link_event("a", 3)], 7.0)
    index_sessions(db)
    reader = HubReader(tmp_path / "hub.db")
    page = reader.feed(FeedQuery(limit=4))
    assert [(one.runner_id, one.seq_no) for one in page.events] == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    rest = reader.feed(FeedQuery(after=page.next, limit=4))
    assert [(one.runner_id, one.seq_no) for one in rest.events] == [("b", 3), ("a", 3)]
    only = reader.feed(FeedQuery(runner_id="a"))
    assert [one.seq_no for one in only.events] == [1, 2, 3]
    assert only.places == (1, 2, 6)
    found = reader.feed(FeedQuery(search="word2", runner_id="b"))
    assert [(one.runner_id, one.seq_no) for one in found.events] == [("b", 2)]
    last = reader.feed(FeedQuery(runner_id="a", before=7, limit=2))
    assert [one.seq_no for one in last.events] == [2, 3]
    assert [one.event.runner_id for one in reader.events_named("s:R1:E2", None)] == ["a", "b"]
    assert [one.place for one in reader.events_named("s:R1:E2", "b")] == [4]
    numbered = reader.event_numbered("a", 3)
    assert numbered is not None
    assert numbered.place == 6
    reader.close()
