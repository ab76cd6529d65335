"""What Claude Code's process files prove about an open dialog, and what they do not."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, cast

from quarterdeck.daemon.loop.deadlines import Watched, answered_at_the_terminal
from quarterdeck.drivers.claude.session_files import Process, SessionsFolder
from quarterdeck.system.process_table import alive


def held(agent_id: str | None = None, since: float = 100.0, request_id: str = "r") -> Watched:
    return Watched(request_id, "s", agent_id, since, cast(asyncio.TimerHandle, None))


def plays(requests: list[Watched], *statuses: str, changed_at: float = 101.0) -> list[list[str]]:
    """Which requests each look at the process file closes."""
    return [answered_at_the_terminal(requests, Process("s", 7, status, None, changed_at)) for status in statuses]


def test_a_dialog_that_was_seen_and_is_gone_twice_was_answered() -> None:
    assert plays([held()], "waiting", "waiting", "busy", "busy") == [[], [], [], ["r"]]


def test_a_file_that_never_said_waiting_proves_nothing() -> None:
    assert not any(plays([held()], *["busy"] * 10))


def test_a_dialog_of_before_proves_nothing() -> None:
    assert not any(plays([held()], "waiting", "busy", "busy", changed_at=50.0))


def test_a_flicker_between_two_dialogs_is_no_answer() -> None:
    assert not any(plays([held()], "waiting", "busy", "waiting", "busy", "waiting"))


def test_the_main_agents_dialog_says_nothing_of_a_helper_in_the_background() -> None:
    both = [held(), held("a1", request_id="helper")]
    assert plays(both, "waiting", "busy", "busy")[-1] == ["r"]
    assert not any(plays(both[1:], "busy", "busy", "busy"))


def test_the_dialog_of_a_single_helper_is_its_own_and_of_two_nobodys() -> None:
    assert plays([held("a1")], "waiting", "busy", "busy")[-1] == ["r"]
    assert not any(plays([held("a1"), held("a2", request_id="r2")], "waiting", "busy", "busy"))


def write(folder: Path, name: str, content: Any) -> None:
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


def test_only_process_files_are_read(tmp_path: Path) -> None:
    write(tmp_path, "7.json", {"pid": 7, "sessionId": "s", "status": "waiting", "statusUpdatedAt": 1500})
    write(tmp_path, "7.key", "secret")
    write(tmp_path, "x.json", {"pid": 9, "sessionId": "s", "status": "idle"})
    assert SessionsFolder(tmp_path).read() == [Process("s", 7, "waiting", None, 1.5)]


def test_a_file_that_changed_is_read_again_and_one_that_left_is_forgotten(tmp_path: Path) -> None:
    folder = SessionsFolder(tmp_path)
    write(tmp_path, "7.json", {"pid": 7, "sessionId": "s", "status": "busy"})
    assert [p.status for p in folder.read() + folder.read()] == ["busy", "busy"]
    write(tmp_path, "7.json", {"pid": 7, "sessionId": "s", "status": "waiting"})
    assert [p.status for p in folder.read()] == ["waiting"]
    (tmp_path / "7.json").unlink()
    assert folder.read() == []


def test_half_written_and_hostile_files_are_passed_over(tmp_path: Path) -> None:
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


def test_a_process_that_ended_unnoticed_does_not_run() -> None:
    assert alive(os.getpid())
    child = subprocess.Popen(["true"])
    deadline = time.monotonic() + 10
    while alive(child.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(child.pid)
    child.wait()
