"""Where the tests write: outside every repository, so that a scratch project is the root of its own."""

from __future__ import annotations

from pathlib import Path

from tests.support.scratch import first_outside, in_repository


def test_a_folder_below_a_repository_is_passed_over(tmp_path: Path) -> None:
    inside, outside = tmp_path / "shop" / "a" / "b", tmp_path / "outside"
    for folder in (inside, outside, tmp_path / "shop" / ".git"):
        folder.mkdir(parents=True)
    assert in_repository(inside)
    assert first_outside((tmp_path / "missing", inside, outside)) == outside
    assert first_outside((inside,)) is None


def test_a_worktree_and_a_link_count_as_well(tmp_path: Path) -> None:
    for name in ("worktree", "linked"):
        (tmp_path / name / "below").mkdir(parents=True)
    (tmp_path / "worktree" / ".git").write_text("gitdir: /elsewhere\n")
    (tmp_path / "linked" / ".git").symlink_to(tmp_path / "nowhere")
    assert in_repository(tmp_path / "worktree" / "below")
    assert in_repository(tmp_path / "linked" / "below")


def test_what_the_tests_write_is_in_no_repository(tmp_path: Path) -> None:
    assert not in_repository(tmp_path)
