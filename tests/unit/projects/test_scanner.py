"""Finding project folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.projects.catalog import touched
from quarterdeck.projects.scanner import ScanLimits, find_projects


def make_folders(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).mkdir(parents=True)


def names(root: Path, *exclude: str, known: tuple[str, ...] = ()) -> list[str]:
    found = find_projects([str(root)], exclude, known)
    return [str(Path(folder).relative_to(root)) for folder in found.folders]


def test_a_folder_with_a_mark_is_a_project_and_so_is_a_child_without_one_below(tmp_path: Path) -> None:
    make_folders(tmp_path, "shop/.git", "shop/sub/.git", "notes/2026", "hosts/org/ann/tool/.git", "config/.claude")
    assert names(tmp_path) == ["config", "hosts/org/ann/tool", "notes", "shop"]


def test_a_root_that_is_a_project_is_the_only_one(tmp_path: Path) -> None:
    make_folders(tmp_path, ".git", "src")
    assert names(tmp_path) == ["."]


def test_excluded_and_hidden_folders_are_skipped(tmp_path: Path) -> None:
    make_folders(
        tmp_path, "node_modules/x/.git", "build-a/.git", "old/shop/.git", ".cache/x/.git", ".dotfiles/.git", "a/.git"
    )
    assert names(tmp_path, "node_modules", "build*", "*/old/*") == [".dotfiles", "a", "old"]


@pytest.mark.parametrize("folder", ["/w/a\x00b", "/w/\ud800", "/" + "a" * 5000])
def test_a_path_that_cannot_exist_is_not_a_project(tmp_path: Path, folder: str) -> None:
    make_folders(tmp_path, "shop/.git")
    assert names(tmp_path, known=(folder, str(tmp_path / "shop"))) == ["shop"]


@pytest.mark.law("I8")
def test_no_link_is_followed_however_it_loops(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    make_folders(root, "a", "b/c")
    make_folders(outside, "secret/.git")
    (root / "a" / "up").symlink_to(root)
    (root / "b" / "c" / "self").symlink_to(root / "b")
    (root / "out").symlink_to(outside)
    (root / "secret").symlink_to(outside / "secret")
    assert names(root) == ["a", "b"]


def test_a_root_may_itself_be_a_link_and_a_missing_one_is_named(tmp_path: Path) -> None:
    make_folders(tmp_path, "real/a/.git")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = find_projects([str(tmp_path / "link"), "/no/such"], ())
    assert found.folders == (str(tmp_path / "real" / "a"),)
    assert found.notes == ("projects.roots: /no/such is not a folder",)


def test_known_folders_count_once_and_only_while_they_exist(tmp_path: Path) -> None:
    make_folders(tmp_path, "a/.git")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    known = (str(tmp_path / "a"), str(tmp_path / "link"), str(tmp_path / "gone"), "relative")
    assert names(tmp_path, known=known) == ["a"]


def test_projects_over_the_limit_are_left_out_with_a_note(tmp_path: Path) -> None:
    make_folders(tmp_path, *(f"p{n}/.git" for n in range(5)))
    found = find_projects([str(tmp_path)], (), limits=ScanLimits(folders=5, projects=3))
    assert len(found.folders) == 3
    assert ["has more than 5 folders" in note or "first 3 of" in note for note in found.notes] == [True, True]


def test_names_of_any_bytes_are_found(tmp_path: Path) -> None:
    make_folders(tmp_path, "-rf/.git", "a\nb/.git", "x'; touch y/.git")
    (Path(bytes(tmp_path).decode()) / "bad\udcff" / ".git").mkdir(parents=True)
    assert len(names(tmp_path)) == 4


def test_activity_below_a_folder_counts_for_it() -> None:
    known = {"/a/b/c": 5.0, "/a/x": 9.0, "/a/b": 3.0}
    assert touched(["/a", "/a/b", "/a/b/c", "/q"], known) == [9.0, 5.0, 5.0, 0.0]
