"""Readers of git's output about worktrees, and the names of sessions' worktrees."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.workspace.worktree_output import (
    FileChange,
    WorktreeEntry,
    branch_of,
    folder_name,
    read_changes,
    read_names,
    read_settings,
    read_worktrees,
    section_names,
)


def test_worktrees_have_a_path_and_a_branch_or_none() -> None:
    output = (
        b"worktree /code/shop\0HEAD 1f\0branch refs/heads/main\0\0"
        b"worktree /w/a b\nc\0HEAD 2f\0branch refs/heads/quarterdeck/5bcc959a\0locked why\0\0"
        b"worktree /w/d\0HEAD 3f\0detached\0prunable gone\0\0"
        b"worktree /code/bare\0bare\0\0"
    )
    assert read_worktrees(output) == [
        WorktreeEntry(path="/code/shop", branch="main"),
        WorktreeEntry(path="/w/a b\nc", branch="quarterdeck/5bcc959a"),
        WorktreeEntry(path="/w/d"),
    ]


def test_changes_are_counted_and_a_cut_line_is_left_out() -> None:
    output = b"3\t1\ta.txt\0-\t-\tpicture\tof.png\0" + b"7\t0\tb.t"
    assert read_changes(output) == [
        FileChange(path="a.txt", added=3, removed=1),
        FileChange(path="picture\tof.png", added=None, removed=None),
    ]


def test_the_last_value_of_a_setting_counts() -> None:
    settings = read_settings(b"merge.x.driver\none\0merge.x.driver\ntwo\nlines\0merge.ff\ntrue\0core.bare\0")
    assert settings == {"merge.x.driver": "two\nlines", "merge.ff": "true", "core.bare": ""}
    assert section_names([*settings, "merge.a.b.driver", "filter.y.clean"], "merge") == ["x", "a.b"]


def test_a_name_that_was_cut_off_is_left_out() -> None:
    assert branch_of("5BCC959A-1f0c") == "quarterdeck/5bcc959a"
    assert folder_name("/code/my shop/", "5bcc959a-1f0c") == "my_shop-5bcc959a"
    assert folder_name("/code/..", "::..") == "project-session"


@given(st.text(), st.text())
def test_any_session_gets_a_valid_branch_and_folder_name(project: str, session_id: str) -> None:
    assert re.fullmatch(r"quarterdeck/[a-z0-9]{1,8}", branch_of(session_id))
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", folder_name(project, session_id))


@given(st.binary())
def test_any_output_of_git_is_read(output: bytes) -> None:
    read_worktrees(output)
    read_changes(output)
    read_names(output)
    section_names(read_settings(output), "filter")
