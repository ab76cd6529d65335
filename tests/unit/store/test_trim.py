"""Trimming: the oldest events are deleted, the chain and the state stay whole, and no number is used twice."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.engine.messages import TrimLog
from quarterdeck.core.model.decisions import Allow, Deny
from quarterdeck.core.model.state import Settings
from quarterdeck.daemon.setup.state_rebuild import recover
from quarterdeck.errors import StoreError
from quarterdeck.store.hash_chain import anchor_of, unrecorded_trim, verify
from quarterdeck.store.log import TRIM_CHUNK, Entry, Log
from quarterdeck.store.reader import AuditQuery, FeedQuery, Reader
from quarterdeck.store.search_index import CHUNK, SearchIndex
from quarterdeck.wire import write_json
from tests.support.scene import Scene, bash


def write(log: Log, scene: Scene) -> None:
    log.append([Entry(scene.last.events, None, scene.last.requests.values(), scene.last.sessions.values())])


def story(log: Log, prompts: int = 20) -> Scene:
    """Two sessions, one of which ends; a decision; nothing waits."""
    scene = Scene()
    for n in range(prompts):
        write(log, scene.receives("UserPromptSubmit", session=f"s{n % 2}", prompt=f"prompt {n}"))
    write(log, scene.receives("PermissionRequest", session="s0", id="r1", **bash("rm x")))
    write(log, scene.decides("r1", Deny("no")))
    write(log, scene.receives("SessionEnd", session="s1", reason="other"))
    return scene


def trim(log: Log, upto: int) -> int:
    went = 0
    while step := log.trim(upto, at=5.0, why="store.retention_days"):
        went += step
    return went


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    opened = Log.open(tmp_path / "events.db")
    yield opened
    opened.close()


@pytest.mark.law("E2")
def test_numbers_go_on_when_every_event_is_trimmed(log: Log) -> None:
    scene = story(log)
    log.save_snapshot(scene.state)
    last = log.seq_no
    assert trim(log, last) == last
    assert list(log.events_after(0)) == []
    log.close()
    again = Log.open(log.path)
    assert (again.seq_no, again.trimmed, again.damage) == (last, last, None)
    scene.state = recover(again, "otter", Settings())
    write(again, scene.receives("UserPromptSubmit", prompt="next"))
    assert [e.seq_no for e in again.events_after(0)] == [last + 1, last + 2]
    again.close()


@given(st.lists(st.integers(1, 90), max_size=4), st.integers(1, 30))
@pytest.mark.law("E13")
@pytest.mark.law("A11")
def test_trimming_leaves_the_chain_and_the_state_as_they_were(places: list[int], prompts: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Log.open(Path(folder) / "events.db", durability="normal")
        scene = story(log, prompts)
        log.save_snapshot(scene.state)
        log.index_sessions()
        kept = scene.events
        for upto in places:
            trim(log, upto)
            kept = [e for e in kept if e.seq_no > upto]
            db = sqlite3.connect(log.path)
            assert verify(db) is None
            db.close()
            assert list(log.events_after(0)) == kept
        log.close()
        again = Log.open(log.path)
        assert again.damage is None
        assert write_json(recover(again, "otter", Settings())) == write_json(scene.state)
        again.close()


@pytest.mark.law("E13")
def test_the_rows_that_belong_to_an_event_are_trimmed_with_it(log: Log) -> None:
    scene = story(log)
    log.append([Entry([], envelope=("e1", b"digest"))])
    log.index_sessions()
    log.save_snapshot(scene.state)
    trim(log, log.seq_no)
    db = sqlite3.connect(log.path)
    tables = ("events", "by_session", "envelopes", "requests")
    assert [db.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables] == [(0,)] * 4
    assert db.execute("SELECT seq_no, at, why FROM trims").fetchall() == [(log.seq_no, 5.0, "store.retention_days")]
    db.close()
    assert write_json(recover(log, "otter", Settings())) == write_json(scene.state)


def test_nothing_is_trimmed_that_is_still_needed(log: Log) -> None:
    scene = story(log)
    assert trim(log, log.seq_no) == 0, "there is no snapshot"
    log.save_snapshot(scene.state)
    saved = log.seq_no
    write(log, scene.receives("PermissionRequest", session="s0", id="r2", **bash("make")))
    opened_at = scene.request("r2").seq_no
    log.save_snapshot(scene.state)
    assert log.trimmable() == opened_at - 1
    write(log, scene.decides("r2", Allow()))
    log.save_snapshot(scene.state)
    assert log.trimmable() == log.seq_no
    db = sqlite3.connect(log.path)
    db.execute("INSERT INTO cursors VALUES('hub', 7)")
    db.commit()
    assert trim(log, saved) == 7
    db.execute("UPDATE cursors SET seq_no=9")
    db.commit()
    db.close()
    assert (trim(log, saved), log.trimmed) == (2, 9)


def test_a_long_trim_goes_in_steps(log: Log) -> None:
    scene = story(log, TRIM_CHUNK)
    log.save_snapshot(scene.state)
    assert log.trim(log.seq_no, at=0.0, why="x") == TRIM_CHUNK
    assert trim(log, TRIM_CHUNK + 10) == 10


@pytest.mark.law("E6")
def test_a_reader_knows_where_the_log_begins(log: Log) -> None:
    scene = story(log)
    log.save_snapshot(scene.state)
    reader = Reader(log.path)
    assert reader.first_seq_no() == 1
    assert reader.last_before(scene.events[10].at) == next(
        e.seq_no - 1 for e in scene.events if e.at >= scene.events[10].at
    )
    assert (reader.last_before(0.0), reader.last_before(1e12)) == (0, log.seq_no)
    trim(log, 12)
    assert reader.first_seq_no() == 13
    assert reader.feed(FeedQuery(after=3, limit=1)).events == scene.events[12:13]
    assert reader.feed(FeedQuery(session_id="s0", limit=1)).events[0].seq_no > 12
    reader.close()


@pytest.mark.law("A11")
def test_a_trimmed_row_that_is_put_back_is_named(log: Log) -> None:
    scene = story(log)
    log.save_snapshot(scene.state)
    db = sqlite3.connect(log.path)
    row = db.execute("SELECT * FROM events WHERE seq_no=3").fetchone()
    trim(log, 10)
    db.execute("INSERT INTO events VALUES(?,?,?,?,?,?,?)", row)
    db.commit()
    found = verify(db)
    db.close()
    assert found is not None
    assert found.seq_no == 3


@given(st.data())
@pytest.mark.law("A11")
@pytest.mark.law("E11")
def test_any_one_row_that_is_changed_or_missing_is_named(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Log.open(Path(folder) / "events.db", durability="normal")
        scene = story(log, 10)
        log.save_snapshot(scene.state)
        trim(log, data.draw(st.sampled_from([0, 6])))
        row = data.draw(st.integers(log.trimmed + 1, log.seq_no))
        column = data.draw(st.sampled_from(["body", "raw", "hash", "session_id", "kind", "at", None]))
        change = f"UPDATE events SET {column} = coalesce({column}, '') || 'x'" if column else "DELETE FROM events"
        db = sqlite3.connect(log.path)
        db.execute(f"{change} WHERE seq_no=?", (row,))
        db.commit()
        found = verify(db)
        db.close()
        log.close()
        assert found is not None
        assert found.seq_no == row
        again = Log.open(log.path)
        assert again.damage == found
        with pytest.raises(StoreError, match=f"row {row}: "):
            write(again, scene.receives("UserPromptSubmit", prompt="more"))
        again.close()


@pytest.mark.law("A11")
def test_the_audit_shows_who_decided_what_and_that_the_log_was_trimmed(log: Log) -> None:
    scene = story(log)
    write(log, scene.submits(TrimLog(upto=4, events=4, why="store.max_bytes", at=9.0)))
    with sqlite3.connect(log.path) as db:
        hashes = dict(db.execute("SELECT seq_no, hash FROM events"))
    db.close()
    reader = Reader(log.path)
    rows = reader.audit(AuditQuery())
    assert reader.audit(AuditQuery(after=rows[0].seq_no)) == rows[1:]
    assert reader.audit(AuditQuery(limit=1)) == rows[:1]
    reader.close()
    decided, trimmed = rows
    assert (decided.kind, decided.who, decided.source) == ("permission.decision", "ann", "user")
    assert decided.what["request_id"] == "r1"
    assert decided.what["tool_name"] == "Bash"
    assert decided.what["decision_type"] == "deny"
    assert decided.digest == scene.request("r1").digest
    assert decided.hash == hashes[decided.seq_no].hex()
    assert (trimmed.kind, trimmed.source, trimmed.what) == (
        "log.trim",
        "system",
        {"upto": 4, "events": 4, "why": "store.max_bytes"},
    )


def test_the_search_index_forgets_trimmed_events(tmp_path: Path) -> None:
    log = Log.open(tmp_path / "events.db")
    scene = story(log, CHUNK)
    log.save_snapshot(scene.state)
    index = SearchIndex(log.path)
    while index.add():
        pass
    assert index.tidy() is False
    trim(log, log.seq_no - 3)
    assert index.tidy() is True
    assert index.add() == 3
    assert index.tidy() is False
    index.close()
    reader = Reader(log.path)
    assert reader.feed(FeedQuery(search="prompt", before=2**53)).events == []
    assert reader.feed(FeedQuery(search="ended")).events == scene.events[-1:]
    reader.close()
    log.close()


def test_a_log_of_the_first_schema_is_migrated(tmp_path: Path) -> None:
    log = Log.open(tmp_path / "events.db")
    scene = story(log)
    log.close()
    db = sqlite3.connect(log.path)
    for part in ("TABLE trims", "TABLE cursors", "INDEX envelopes_by_seq_no", "INDEX audited"):
        db.execute(f"DROP {part}")
    db.execute("PRAGMA user_version=1")
    db.commit()
    assert (anchor_of(db).seq_no, verify(db)) == (0, None)
    db.close()
    again = Log.open(log.path)
    again.save_snapshot(scene.state)
    assert trim(again, 5) == 5
    again.close()
    assert (tmp_path / "events.v1.db").exists()
    reader = Reader(log.path)
    assert [row.kind for row in reader.audit(AuditQuery())] == ["permission.decision"]
    reader.close()


@pytest.mark.law("A11")
def test_rows_removed_without_a_record_are_damage(tmp_path: Path) -> None:
    log = Log.open(tmp_path / "events.db")
    scene = story(log)
    write(log, scene.submits(TrimLog(upto=5, events=5, why="store.max_bytes", at=1.0)))
    log.save_snapshot(scene.state)
    log.trim(5, at=1.0, why="store.max_bytes")
    db = sqlite3.connect(tmp_path / "events.db")
    assert unrecorded_trim(db) is None
    with db:
        db.execute("INSERT INTO trims SELECT seq_no, hash, at, 'store.max_bytes' FROM events WHERE seq_no=9")
        db.execute("DELETE FROM events WHERE seq_no <= 9")
    assert verify(db) is None
    missed = unrecorded_trim(db)
    assert missed is not None
    assert missed.seq_no == 9
    db.close()
    log.close()
