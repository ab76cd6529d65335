"""The store of the hub: a file of another program or a newer version is refused, and kept as it is."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from quarterdeck.errors import StoreError
from quarterdeck.hub.store.hub_schema import open_hub_store


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
