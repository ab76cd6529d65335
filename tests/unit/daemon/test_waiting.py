"""What Claude Code's process files prove about an open dialog, and what they do not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

from quarterdeck.daemon.waiting import Process, _Watched, dialog_closed, read_processes


def watched(opened_at: float = 100.0) -> _Watched:
    return _Watched("r", "s", opened_at, cast(asyncio.TimerHandle, None))


def seen(status: str, changed_at: float = 101.0) -> Process:
    return Process("s", 7, status, None, changed_at)


def test_a_dialog_that_was_seen_and_is_gone_twice_was_answered() -> None:
    request = watched()
    statuses = ["waiting", "waiting", "busy", "busy"]
    assert [dialog_closed(request, seen(s)) for s in statuses] == [False, False, False, True]


def test_a_file_that_never_said_waiting_proves_nothing() -> None:
    request = watched()
    assert not any(dialog_closed(request, seen(s)) for s in ["busy"] * 10)


def test_a_dialog_of_before_proves_nothing() -> None:
    request = watched(opened_at=100.0)
    assert not any(dialog_closed(request, seen(s, 50.0)) for s in ["waiting", "busy", "busy"])


def test_a_flicker_between_two_dialogs_is_no_answer() -> None:
    request = watched()
    assert not any(dialog_closed(request, seen(s)) for s in ["waiting", "busy", "waiting", "busy", "waiting"])


def write(folder: Path, name: str, content: Any) -> None:
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


def test_only_process_files_of_wanted_sessions_are_read(tmp_path: Path) -> None:
    write(tmp_path, "7.json", {"pid": 7, "sessionId": "s", "status": "waiting", "statusUpdatedAt": 1500})
    write(tmp_path, "8.json", {"pid": 8, "sessionId": "other", "status": "busy"})
    write(tmp_path, "7.key", "secret")
    write(tmp_path, "x.json", {"pid": 9, "sessionId": "s", "status": "idle"})
    assert read_processes(tmp_path, {"s"}) == {"s": Process("s", 7, "waiting", None, 1.5)}


def test_half_written_and_hostile_files_are_passed_over(tmp_path: Path) -> None:
    for name, content in {"1.json": "{", "2.json": "[]", "3.json": "null", "4.json": '{"sessionId":"s"}'}.items():
        write(tmp_path, name, content)
    (tmp_path / "5.json").symlink_to("/dev/zero")
    write(tmp_path, "6.json", {"pid": "x", "sessionId": "s", "status": 7, "statusUpdatedAt": "y"})
    (tmp_path / "9.json").write_text(" " * 100_000)
    assert read_processes(tmp_path, {"s"}) == {}
    assert read_processes(tmp_path / "none", {"s"}) == {}
