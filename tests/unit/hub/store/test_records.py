"""The hub's own record: chained entries, and commands that have one result."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.hub.store.hub_schema import open_hub_store
from quarterdeck.hub.store.records import (
    HubRecord,
    RecordQuery,
    StoredCommand,
    add_command,
    add_record,
    command_named,
    finish_command,
    is_chain_sound,
    list_records,
)


def test_entries_are_chained_and_a_change_is_seen(tmp_path: Path) -> None:
    db = open_hub_store(tmp_path / "hub.db", "normal")
    for n in range(3):
        add_record(db, HubRecord(kind="hub.command", at=float(n), who=f"p{n}", about="decide", runner_id="a"))
    assert is_chain_sound(db)
    assert [one.record.who for one in list_records(db, RecordQuery(limit=2))] == ["p0", "p1"]
    assert [one.record.who for one in list_records(db, RecordQuery(before=3, limit=1))] == ["p1"]
    assert [one.place for one in list_records(db, RecordQuery(who="p2", runner_id="a"))] == [3]
    db.execute("UPDATE records SET body=replace(body,'p1','p9')")
    assert not is_chain_sound(db)


def test_a_command_gets_one_result_from_the_machine_it_was_sent_to(tmp_path: Path) -> None:
    db = open_hub_store(tmp_path / "hub.db", "normal")
    sent = StoredCommand(command_id="c1", machine=1, name="decide", by="ann", target="q1", at=1.0, expires_at=11.0)
    add_command(db, sent)
    assert command_named(db, "c1") == sent
    assert finish_command(db, "c1", 2, 200, b"{}", 2.0) is None
    found = finish_command(db, "c1", 1, 200, b'{"ok":true}', 2.0)
    assert found is not None
    assert (found.status, found.body, found.by) == (200, b'{"ok":true}', "ann")
    assert finish_command(db, "c1", 1, 409, b"{}", 3.0) is None
