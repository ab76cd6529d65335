"""The log: durable, chained, without gaps, and open about damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.core.engine.fold import fold
from quarterdeck.core.model.decisions import Deny
from quarterdeck.core.model.state import Settings, State
from quarterdeck.daemon.setup.state_rebuild import recover
from quarterdeck.errors import StoreError
from quarterdeck.store.hash_chain import verify
from quarterdeck.store.log import RAW_LIMIT, Entry, Log
from quarterdeck.store.reader import FeedQuery, Reader
from quarterdeck.store.schema import APPLICATION_ID, VERSION, prepare
from tests.support.scene import Scene, bash


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    opened = Log.open(tmp_path / "events.db")
    yield opened
    opened.close()


def story() -> Scene:
    scene = Scene().receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="go")
    scene.receives("PreToolUse", **bash("rm x", "t1")).receives("PermissionRequest", id="r1", **bash("rm x"))
    scene.decides("r1", Deny("no")).receives("Stop").receives("SessionEnd", reason="other")
    return scene.receives("UserPromptSubmit", session="s2", prompt="second")


RAW = {"hook_event_name": "SessionStart", "source": "startup", "model": None, "more": [1]}


def append(log: Log, scene: Scene) -> None:
    log.append([Entry(scene.events, RAW)])


def test_what_is_appended_is_read_back_in_order(log: Log, tmp_path: Path) -> None:
    scene = story()
    append(log, scene)
    assert list(log.events_after(0)) == scene.events
    assert list(log.events_after(3)) == scene.events[3:]
    reader = Reader(tmp_path / "events.db")
    assert reader.feed(FeedQuery(limit=2)).events == scene.events[:2]
    assert reader.feed(FeedQuery(before=2**53, limit=2)).events == scene.events[-2:]
    assert [e.session_id for e in reader.feed(FeedQuery(session_id="s2")).events] == ["s2", "s2"]
    assert {e.kind for e in reader.feed(FeedQuery(kinds=("tool.pre", "stop.request"))).events} == {
        "tool.pre",
        "stop.request",
    }
    assert [e.kind for e in reader.feed(FeedQuery(search="RM X", tool="Bash")).events] == [
        "tool.pre",
        "permission.request",
    ]
    assert {e.actor_id for e in reader.feed(FeedQuery(actor_id="user")).events} == {"user"}
    assert reader.payload(scene.events[0]) == RAW
    reader.close()


@pytest.mark.law("E2")
def test_numbers_go_on_after_a_restart(log: Log, tmp_path: Path) -> None:
    scene = story()
    append(log, scene)
    log.close()
    again = Log.open(tmp_path / "events.db")
    assert again.seq_no == scene.state.seq_no
    assert again.damage is None
    again.close()


@pytest.mark.law("E2")
def test_a_number_cannot_be_used_twice(log: Log) -> None:
    scene = story()
    append(log, scene)
    with pytest.raises(StoreError):
        append(log, scene)
    assert log.seq_no == scene.state.seq_no


@pytest.mark.law("E4")
def test_a_batch_is_written_whole_or_not_at_all(log: Log) -> None:
    scene = story()
    with pytest.raises(StoreError):
        log.append([Entry(scene.events[:3]), Entry(scene.events[2:4])])
    assert (log.seq_no, list(log.events_after(0))) == (0, [])
    append(log, scene)


@pytest.mark.law("E11")
@pytest.mark.parametrize(
    ("damage", "row", "reason"),
    [
        ("UPDATE events SET body=replace(body,'rm x','rm y') WHERE seq_no=4", 4, "does not match"),
        ("DELETE FROM events WHERE seq_no=5", 5, "missing"),
        ("UPDATE events SET hash=zeroblob(32) WHERE seq_no=2", 2, "does not match"),
        ("UPDATE events SET raw=x'00' WHERE seq_no=1", 1, "does not match"),
    ],
)
def test_a_changed_or_missing_row_is_named(log: Log, tmp_path: Path, damage: str, row: int, reason: str) -> None:
    scene = story()
    append(log, scene)
    log.close()
    db = sqlite3.connect(tmp_path / "events.db")
    db.execute(damage)
    db.commit()
    found = verify(db)
    db.close()
    assert found is not None
    assert (found.seq_no, reason in found.reason) == (row, True)
    again = Log.open(tmp_path / "events.db")
    with pytest.raises(StoreError, match=f"row {row}: "):
        append(again, scene)
    again.close()


@pytest.mark.law("E12")
def test_a_newer_schema_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    newer = sqlite3.connect(tmp_path / "newer.db")
    newer.execute("CREATE TABLE x(y)")
    newer.execute(f"PRAGMA application_id={APPLICATION_ID}")
    newer.execute(f"PRAGMA user_version={VERSION + 1}")
    newer.close()
    with pytest.raises(StoreError, match="newer Quarterdeck"):
        Log.open(tmp_path / "newer.db")
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE x(y)")
    foreign.close()
    with pytest.raises(StoreError, match="not a Quarterdeck log"):
        Log.open(tmp_path / "foreign.db")
    (tmp_path / "text.db").write_text("hello" * 1000)
    with pytest.raises(StoreError, match="cannot be opened"):
        Log.open(tmp_path / "text.db")


@pytest.mark.law("E12")
def test_a_migration_is_one_transaction_with_a_backup(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    Log.open(path).close()
    db = sqlite3.connect(path, isolation_level=None)
    broken = {VERSION: "CREATE TABLE extra(a);\nCREATE TABLE extra(a);\n"}
    with pytest.raises(sqlite3.OperationalError):
        prepare(db, path, migrations=broken, to=VERSION + 1)
    assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
    prepare(db, path, migrations={VERSION: "CREATE TABLE extra(a);\n"}, to=VERSION + 1)
    assert db.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)
    db.close()
    assert (tmp_path / f"events.v{VERSION}.db").exists()


@pytest.mark.law("E13")
def test_the_state_is_the_same_from_the_log_and_from_a_snapshot(log: Log) -> None:
    scene = Scene()
    for n, hook in enumerate(
        ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "SessionStart", "UserPromptSubmit"]
    ):
        scene.receives(hook, id=f"x{n}")
        log.append([Entry(scene.last.events, None, scene.last.requests.values(), scene.last.sessions.values())])
        log.save_snapshot(scene.state)
        assert recover(log, "otter", Settings()) == scene.state
    assert fold(State(runner_id="otter"), log.events_after(0)) == scene.state


@pytest.mark.law("E13")
def test_a_session_that_ended_again_after_the_snapshot_is_rebuilt(log: Log) -> None:
    scene = Scene()
    for n, hook in enumerate(["UserPromptSubmit", "SessionEnd", "SessionStart", "UserPromptSubmit", "SessionEnd"]):
        scene.receives(hook, id=f"x{n}")
        log.append([Entry(scene.last.events, None, scene.last.requests.values(), scene.last.sessions.values())])
        if n == 2:
            log.save_snapshot(scene.state)
        if n == 1:
            log.save_snapshot(scene.state)
    assert recover(log, "otter", Settings()) == scene.state


def test_an_unreadable_snapshot_costs_only_time(log: Log, tmp_path: Path) -> None:
    scene = story()
    append(log, scene)
    log.save_snapshot(scene.state)
    db = sqlite3.connect(tmp_path / "events.db")
    db.execute("UPDATE snapshots SET body='{}'")
    db.commit()
    db.close()
    progress: list[tuple[int, int]] = []
    state = recover(log, "otter", Settings(), lambda done, total: progress.append((done, total)))
    assert state == scene.state
    assert progress == [(scene.state.seq_no, scene.state.seq_no)]


def test_a_large_payload_is_kept_once_and_behind_a_limit(log: Log, tmp_path: Path) -> None:
    scene = story()
    log.append([Entry(scene.events[:2], {"a": "x"}), Entry(scene.events[2:], {"a": "x" * RAW_LIMIT})])
    db = sqlite3.connect(tmp_path / "events.db")
    kept = db.execute("SELECT seq_no, length(raw) FROM events WHERE raw IS NOT NULL").fetchall()
    db.close()
    assert kept == [(1, len('{"a":"x"}'))]


@pytest.mark.law("E3")
def test_an_envelope_is_remembered_with_its_digest(log: Log) -> None:
    scene = story()
    log.append([Entry(scene.events, envelope=("e1", b"digest"))])
    assert (log.envelope("e1"), log.envelope("e2")) == (b"digest", None)


def test_the_log_is_private(log: Log) -> None:
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_the_runner_id_is_made_once(log: Log) -> None:
    assert log.meta("runner_id", "first") == "first"
    assert log.meta("runner_id", "second") == "first"
