"""Claude Code's process files: read again only when they change, and hostile ones are skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from quarterdeck.drivers.base import SessionProcess
from quarterdeck.drivers.claude.session_files import SessionsFolder


def write(folder: Path, name: str, content: Any) -> None:
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


def test_only_process_files_are_read(tmp_path: Path) -> None:
    write(tmp_path, "7.json", {"pid": 7, "sessionId": "s", "status": "waiting", "statusUpdatedAt": 1500})
    write(tmp_path, "7.key", "secret")
    write(tmp_path, "x.json", {"pid": 9, "sessionId": "s", "status": "idle"})
    assert SessionsFolder(tmp_path).read() == [SessionProcess("s", 7, "waiting", None, 1.5)]


def test_a_changed_file_is_read_again_and_a_deleted_one_is_forgotten(tmp_path: Path) -> None:
    folder = SessionsFolder(tmp_path)
    write(tmp_path, "7.json", {"pid": 7, "sessionId": "s", "status": "busy"})
    assert [p.status for p in folder.read() + folder.read()] == ["busy", "busy"]
    write(tmp_path, "7.json", {"pid": 7, "sessionId": "s", "status": "waiting"})
    assert [p.status for p in folder.read()] == ["waiting"]
    (tmp_path / "7.json").unlink()
    assert folder.read() == []


def test_half_written_and_hostile_files_are_skipped(tmp_path: Path) -> None:
    for name, content in {"1.json": "{", "2.json": "[]", "3.json": "null", "4.json": '{"sessionId":"s"}'}.items():
        write(tmp_path, name, content)
    (tmp_path / "5.json").symlink_to("/dev/zero")
    write(tmp_path, "6.json", {"pid": "x", "sessionId": "s", "status": 7, "statusUpdatedAt": "y"})
    (tmp_path / "9.json").write_text(" " * 100_000)
    write(tmp_path, "10.json", "[" * 50_000)
    write(tmp_path, "11.json", {"pid": 11, "sessionId": "s", "statusUpdatedAt": 10**400})
    write(tmp_path, "12.json", '{"pid": 1e999, "sessionId": "s"}')
    assert SessionsFolder(tmp_path).read() == []
    assert SessionsFolder(tmp_path / "none").read() == []
