"""The store of the hub: a file of another program or a newer version is refused, and kept as it is."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from quarterdeck.errors import StoreError
from quarterdeck.hub.store.hub_schema import VERSION, open_hub_store


def test_a_store_opens_again(tmp_path: Path) -> None:
    open_hub_store(tmp_path / "hub.db").close()
    db = open_hub_store(tmp_path / "hub.db")
    assert db.execute("SELECT count(*) FROM events").fetchone() == (0,)


@pytest.mark.parametrize("change", ["PRAGMA application_id=5", "PRAGMA user_version=99"])
def test_a_foreign_or_newer_file_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "hub.db"
    open_hub_store(path).close()
    with sqlite3.connect(path) as db:
        db.execute(change)
    with pytest.raises(StoreError):
        open_hub_store(path)


def test_a_store_of_the_first_version_gets_the_table_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    open_hub_store(path).close()
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE rules")
        db.execute("PRAGMA user_version=1")
    db = open_hub_store(path)
    assert db.execute("SELECT count(*) FROM rules").fetchone() == (0,)
    assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
