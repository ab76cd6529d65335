"""Which folders are projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.projects.catalog import touched
from quarterdeck.projects.scanner import Limits, find


def made(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).mkdir(parents=True)


def names(root: Path, *exclude: str, known: tuple[str, ...] = ()) -> list[str]:
    found = find([str(root)], exclude, known)
    return [str(Path(folder).relative_to(root)) for folder in found.folders]


def test_a_mark_makes_a_project_and_a_plain_child_is_one_when_nothing_below_it_is(tmp_path: Path) -> None:
    made(tmp_path, "shop/.git", "shop/sub/.git", "notes/2026", "hosts/org/ann/tool/.git", "config/.claude")
    assert names(tmp_path) == ["config", "hosts/org/ann/tool", "notes", "shop"]


def test_a_root_that_is_a_project_is_the_only_one(tmp_path: Path) -> None:
    made(tmp_path, ".git", "src")
    assert names(tmp_path) == ["."]


def test_what_is_excluded_or_hidden_is_not_looked_at(tmp_path: Path) -> None:
    made(tmp_path, "node_modules/x/.git", "build-a/.git", "old/shop/.git", ".cache/x/.git", ".dotfiles/.git", "a/.git")
    assert names(tmp_path, "node_modules", "build*", "*/old/*") == [".dotfiles", "a", "old"]


@pytest.mark.parametrize("folder", ["/w/a\x00b", "/w/\ud800", "/" + "a" * 5000])
def test_a_text_that_no_folder_can_be_called_is_no_project(tmp_path: Path, folder: str) -> None:
    made(tmp_path, "shop/.git")
    assert names(tmp_path, known=(folder, str(tmp_path / "shop"))) == ["shop"]


@pytest.mark.law("I8")
def test_no_link_is_followed_however_it_loops(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    made(root, "a", "b/c")
    made(outside, "secret/.git")
    (root / "a" / "up").symlink_to(root)
    (root / "b" / "c" / "self").symlink_to(root / "b")
    (root / "out").symlink_to(outside)
    (root / "secret").symlink_to(outside / "secret")
    assert names(root) == ["a", "b"]


def test_a_root_may_itself_be_a_link_and_a_missing_one_is_named(tmp_path: Path) -> None:
    made(tmp_path, "real/a/.git")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = find([str(tmp_path / "link"), "/no/such"], ())
    assert found.folders == (str(tmp_path / "real" / "a"),)
    assert found.notes == ("projects.roots: /no/such is not a folder",)


def test_known_folders_count_once_and_only_while_they_exist(tmp_path: Path) -> None:
    made(tmp_path, "a/.git")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    known = (str(tmp_path / "a"), str(tmp_path / "link"), str(tmp_path / "gone"), "relative")
    assert names(tmp_path, known=known) == ["a"]


def test_more_than_the_limit_is_cut_off_and_said(tmp_path: Path) -> None:
    made(tmp_path, *(f"p{n}/.git" for n in range(5)))
    found = find([str(tmp_path)], (), limits=Limits(folders=5, projects=3))
    assert len(found.folders) == 3
    assert ["has more than 5 folders" in note or "first 3 of" in note for note in found.notes] == [True, True]


def test_names_of_any_bytes_are_found(tmp_path: Path) -> None:
    made(tmp_path, "-rf/.git", "a\nb/.git", "x'; touch y/.git")
    (Path(bytes(tmp_path).decode()) / "bad\udcff" / ".git").mkdir(parents=True)
    assert len(names(tmp_path)) == 4


def test_what_happens_below_a_folder_happens_in_it() -> None:
    known = {"/a/b/c": 5.0, "/a/x": 9.0, "/a/b": 3.0}
    assert touched(["/a", "/a/b", "/a/b/c", "/q"], known) == [9.0, 5.0, 5.0, 0.0]
