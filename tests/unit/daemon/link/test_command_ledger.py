"""The ledger: a command runs at most once, also when the process dies between its beginning and its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.daemon.link.command_ledger import KEPT_SECONDS, CommandLedger, LedgerEntry
from quarterdeck.errors import StoreError


@pytest.mark.law("H8")
def test_a_command_begins_once_and_its_result_is_kept(tmp_path: Path) -> None:
    ledger = CommandLedger(tmp_path / "link.db")
    assert ledger.begin("c1", 1.0) is None
    ledger.finish("c1", 200, b'{"ok":true}')
    ledger.close()
    again = CommandLedger(tmp_path / "link.db")
    assert again.begin("c1", 2.0) == LedgerEntry(200, b'{"ok":true}')
    again.close()


@pytest.mark.law("H8")
def test_a_command_that_was_interrupted_does_not_begin_again(tmp_path: Path) -> None:
    ledger = CommandLedger(tmp_path / "link.db")
    ledger.begin("c1", 1.0)
    ledger.close()
    again = CommandLedger(tmp_path / "link.db")
    assert again.begin("c1", 2.0) == LedgerEntry(None, b"")
    again.close()


def test_old_commands_are_forgotten(tmp_path: Path) -> None:
    ledger = CommandLedger(tmp_path / "link.db")
    ledger.begin("old", 1.0)
    ledger.begin("new", KEPT_SECONDS + 2.0)
    assert ledger.begin("old", KEPT_SECONDS + 2.0) is None
    ledger.close()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "link.db").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"link\.db"):
        CommandLedger(tmp_path / "link.db")
