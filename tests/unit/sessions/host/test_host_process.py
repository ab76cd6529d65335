"""What every host does around its loop: its socket and its record."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from quarterdeck.sessions.host.host_process import listen, remove_files, write_record


def test_a_socket_replaces_a_left_over_one_and_is_for_its_user_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.s").write_text("left over")
    listener = listen("one.s")
    assert stat.S_ISSOCK(Path("one.s").stat().st_mode)
    assert stat.S_IMODE(Path("one.s").stat().st_mode) == 0o600
    listener.close()


def test_a_record_is_written_whole_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_record("one.json", {"a": 1})
    write_record("one.json", {"a": 2})
    assert json.loads(Path("one.json").read_text()) == {"a": 2}
    assert stat.S_IMODE(Path("one.json").stat().st_mode) == 0o600
    remove_files("one.json", "never-there.json")
    assert list(tmp_path.iterdir()) == []
