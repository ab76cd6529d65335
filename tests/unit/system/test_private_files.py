"""Files for this user only."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.system.private_files import replace_file, write_private


def test_a_file_is_replaced_as_a_whole_and_only_its_user_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    path.write_text("old")
    write_private(path, "new", durable=True)
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_for_others_has_the_mode_it_is_given_whatever_it_had(tmp_path: Path) -> None:
    path = tmp_path / "x.service"
    for mode in (0o600, 0o644):
        replace_file(path, b"new", mode=mode)
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "note.json").mkdir()
    with pytest.raises(OSError, match=r"note\.json"):
        write_private(tmp_path / "note.json", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["note.json"]
