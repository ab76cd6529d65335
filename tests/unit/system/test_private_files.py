"""Files for this user only."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.system.private_files import write_private


def test_a_file_is_replaced_as_a_whole_and_only_its_user_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    path.write_text("old")
    write_private(path, "new", durable=True)
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "note.json").mkdir()
    with pytest.raises(OSError, match=r"note\.json"):
        write_private(tmp_path / "note.json", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["note.json"]
