"""The agent's own status file is read if it is whole, and never through a link."""

from pathlib import Path

import pytest

from quarterdeck.sessions.host.status_file import read_status


def test_the_status_and_the_time_of_its_change_are_read(tmp_path: Path) -> None:
    file = tmp_path / "7.json"
    file.write_text('{"status": "busy", "statusUpdatedAt": 5}')
    assert read_status(str(file)) == ("busy", "5")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"status"'])
def test_a_broken_file_has_no_status(tmp_path: Path, content: str) -> None:
    file = tmp_path / "7.json"
    file.write_text(content)
    assert read_status(str(file)) == ("", "")


def test_a_missing_file_and_a_link_have_no_status(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text('{"status": "busy"}')
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    assert read_status(str(tmp_path / "link.json")) == ("", "")
    assert read_status(str(tmp_path / "gone.json")) == ("", "")
