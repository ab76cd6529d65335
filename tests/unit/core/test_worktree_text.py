"""What git prints of worktrees, read; and how ours are named."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.workspace.worktree_output import (
    FileChange,
    Listed,
    branch_of,
    folder_name,
    named,
    read_changes,
    read_names,
    read_settings,
    read_worktrees,
)


def test_worktrees_have_a_path_and_a_branch_or_none() -> None:
    said = (
        b"worktree /code/shop\0HEAD 1f\0branch refs/heads/main\0\0"
        b"worktree /w/a b\nc\0HEAD 2f\0branch refs/heads/quarterdeck/5bcc959a\0locked why\0\0"
        b"worktree /w/d\0HEAD 3f\0detached\0prunable gone\0\0"
        b"worktree /code/bare\0bare\0\0"
    )
    assert read_worktrees(said) == [
        Listed(path="/code/shop", branch="main"),
        Listed(path="/w/a b\nc", branch="quarterdeck/5bcc959a"),
        Listed(path="/w/d"),
    ]


def test_changes_are_counted_and_a_cut_line_is_left_out() -> None:
    said = b"3\t1\ta.txt\0-\t-\tpicture\tof.png\0" + b"7\t0\tb.t"
    assert read_changes(said) == [
        FileChange(path="a.txt", added=3, removed=1),
        FileChange(path="picture\tof.png", added=None, removed=None),
    ]


def test_the_last_word_about_a_setting_counts() -> None:
    settings = read_settings(b"merge.x.driver\none\0merge.x.driver\ntwo\nlines\0merge.ff\ntrue\0core.bare\0")
    assert settings == {"merge.x.driver": "two\nlines", "merge.ff": "true", "core.bare": ""}
    assert named([*settings, "merge.a.b.driver", "filter.y.clean"], "merge") == ["x", "a.b"]


def test_names() -> None:
    assert branch_of("5BCC959A-1f0c") == "quarterdeck/5bcc959a"
    assert folder_name("/code/my shop/", "5bcc959a-1f0c") == "my_shop-5bcc959a"
    assert folder_name("/code/..", "::..") == "project-session"


@given(st.text(), st.text())
def test_any_name_is_one_that_git_and_the_system_take(project: str, session_id: str) -> None:
    assert re.fullmatch(r"quarterdeck/[a-z0-9]{1,8}", branch_of(session_id))
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", folder_name(project, session_id))


@given(st.binary())
def test_whatever_git_says_is_read(said: bytes) -> None:
    read_worktrees(said)
    read_changes(said)
    read_names(said)
    named(read_settings(said), "filter")
