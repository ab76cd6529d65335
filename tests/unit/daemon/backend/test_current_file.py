"""The file of an edit: only a small regular text file inside the project is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.core.model.state import Request
from quarterdeck.core.text.file_diff import FileDiff
from quarterdeck.daemon.backend.current_file import (
    MAX_BYTES,
    UnreadableFile,
    current_change,
    read_current_file,
    real_file,
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


def edit(path: object, status: str = "pending", opened_at: float = 4e9, **more: Any) -> Request:
    return Request(
        request_id="r1",
        kind="permission",
        session_id="s1",
        run_id="s1:R1",
        event_id="e1",
        seq_no=1,
        hook_name="PermissionRequest",
        tool_name="Edit",
        tool_kind="edit",
        tool_input={"file_path": path, "old_string": "two", "new_string": "2", **more},
        digest="d",
        opened_at=opened_at,
        held=True,
        waiter="h",
        status=status,
    )


def changed(request: Request, project: Path) -> FileDiff:
    change = current_change(request, str(project))
    assert change is not None
    return change


def test_a_file_in_the_project_is_compared(project: Path) -> None:
    change = changed(edit(str(project / "a.txt")), project)
    assert "-two\n+2\n" in change.diff
    assert (change.compared, change.notes) == (True, ())
    assert changed(edit("a.txt"), project).compared


def test_a_file_written_after_the_request_has_a_note(project: Path) -> None:
    assert changed(edit("a.txt", opened_at=1.0), project).notes == ("the file was written after this request",)


def test_a_decided_request_is_shown_from_its_input(project: Path) -> None:
    change = changed(edit("a.txt", status="decided"), project)
    assert (change.compared, change.notes) == (False, ("as requested; the file was not read",))


def test_a_tool_that_edits_nothing_has_no_change(project: Path) -> None:
    request = edit("a.txt")
    assert (
        current_change(Request(**{**_fields(request), "tool_name": "Bash", "tool_kind": "shell"}), str(project)) is None
    )


def _fields(request: Request) -> dict[str, Any]:
    return {name: getattr(request, name) for name in request.__struct_fields__}


@pytest.mark.law("I8")
def test_nothing_outside_the_project_is_read(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("two")
    (project / "link").symlink_to(tmp_path / "secret.txt")
    (project / "folder").symlink_to(tmp_path)
    for path in ("../secret.txt", str(tmp_path / "secret.txt"), "link", "folder/secret.txt", "/etc/passwd", "."):
        with pytest.raises(UnreadableFile, match="outside the project"):
            read_current_file(path, str(project))
    with pytest.raises(UnreadableFile, match="outside the project"):
        read_current_file("etc/hostname", "/")
    with pytest.raises(UnreadableFile, match="outside the project"):
        read_current_file("a.txt", "")


@pytest.mark.law("I8")
def test_only_a_small_regular_text_file_is_read(project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "folder").mkdir()
    (project / "large").write_bytes(b"x" * (MAX_BYTES + 1))
    (project / "binary").write_bytes(b"two\0")
    (project / "latin").write_bytes("zwölf".encode("latin-1"))
    (project / ".env").write_text("two")
    expected = {
        "pipe": "not a regular file",
        "folder": "not a regular file",
        "large": "larger than 1 MiB",
        "binary": "binary",
        "latin": "not UTF-8",
        ".env": "may hold secrets",
        "": "names no file",
        "a\0b": "names no file",
        "x" * 300: "cannot be read",
        "a.txt/b": "cannot be read",
    }
    for path, words in expected.items():
        with pytest.raises(UnreadableFile, match=words):
            read_current_file(path, str(project))


def test_a_file_that_is_not_there_is_new(project: Path) -> None:
    assert read_current_file("new/deep.txt", str(project)).text is None
    assert changed(edit("new.txt"), project).notes == ("there is no such file",)


def test_a_path_is_resolved_to_where_it_leads(project: Path) -> None:
    (project / "link").symlink_to("a.txt")
    assert real_file("link", str(project)) == os.path.realpath(project / "a.txt")
    assert real_file("", str(project)) is None


def test_a_hostile_path_names_no_file(project: Path) -> None:
    for path in (7, None, ["a"], {"a": 1}):
        assert changed(edit(path), project).notes == ("names no file",)
