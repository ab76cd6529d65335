"""The file of an edit: only a small regular text file of the project is looked into."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.core.model.state import Request
from quarterdeck.core.text.file_diff import Change
from quarterdeck.daemon.backend.current_file import MOST_BYTES, Unread, change_now, file_now, real_file


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
        tool_input={"file_path": path, "old_string": "two", "new_string": "2", **more},
        digest="d",
        opened_at=opened_at,
        held=True,
        holder="h",
        status=status,
    )


def changed(request: Request, project: Path) -> Change:
    change = change_now(request, str(project))
    assert change is not None
    return change


def test_a_file_of_the_project_is_compared(project: Path) -> None:
    change = changed(edit(str(project / "a.txt")), project)
    assert "-two\n+2\n" in change.diff
    assert (change.compared, change.notes) == (True, ())
    assert changed(edit("a.txt"), project).compared


def test_a_file_that_was_written_since_says_so(project: Path) -> None:
    assert changed(edit("a.txt", opened_at=1.0), project).notes == ("the file was written after this was asked",)


def test_what_is_decided_is_shown_as_it_was_asked(project: Path) -> None:
    change = changed(edit("a.txt", status="decided"), project)
    assert (change.compared, change.notes) == (False, ("as it was asked; the file is not looked into",))


def test_a_tool_that_edits_nothing_has_no_change(project: Path) -> None:
    request = edit("a.txt")
    assert change_now(Request(**{**_fields(request), "tool_name": "Bash"}), str(project)) is None


def _fields(request: Request) -> dict[str, Any]:
    return {name: getattr(request, name) for name in request.__struct_fields__}


@pytest.mark.law("I8")
def test_nothing_outside_the_project_is_read(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("two")
    (project / "link").symlink_to(tmp_path / "secret.txt")
    (project / "folder").symlink_to(tmp_path)
    for path in ("../secret.txt", str(tmp_path / "secret.txt"), "link", "folder/secret.txt", "/etc/passwd", "."):
        with pytest.raises(Unread, match="outside the project"):
            file_now(path, str(project))
    with pytest.raises(Unread, match="outside the project"):
        file_now("etc/hostname", "/")
    with pytest.raises(Unread, match="outside the project"):
        file_now("a.txt", "")


@pytest.mark.law("I8")
def test_only_a_small_regular_text_file_is_read(project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "folder").mkdir()
    (project / "large").write_bytes(b"x" * (MOST_BYTES + 1))
    (project / "binary").write_bytes(b"two\0")
    (project / "latin").write_bytes("zwölf".encode("latin-1"))
    (project / ".env").write_text("two")
    said = {
        "pipe": "no regular file",
        "folder": "no regular file",
        "large": "larger than 1 MiB",
        "binary": "binary",
        "latin": "not UTF-8",
        ".env": "may hold secrets",
        "": "names no file",
        "a\0b": "names no file",
        "x" * 300: "cannot be read",
        "a.txt/b": "cannot be read",
    }
    for path, words in said.items():
        with pytest.raises(Unread, match=words):
            file_now(path, str(project))


def test_a_file_that_is_not_there_is_new(project: Path) -> None:
    assert file_now("new/deep.txt", str(project)).text is None
    assert changed(edit("new.txt"), project).notes == ("there is no such file",)


def test_a_path_is_resolved_to_where_it_leads(project: Path) -> None:
    (project / "link").symlink_to("a.txt")
    assert real_file("link", str(project)) == os.path.realpath(project / "a.txt")
    assert real_file("", str(project)) is None


def test_hostile_words_for_a_path_are_no_file(project: Path) -> None:
    for path in (7, None, ["a"], {"a": 1}):
        assert changed(edit(path), project).notes == ("names no file",)
