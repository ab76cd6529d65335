"""The folders to watch, and the projects that a change affects."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.projects.scanner import ScanResult, find_projects
from quarterdeck.projects.watch_plan import NO_CHANGES, Change, FolderChanges, WatchPlan, affected, watch_plan

PLAN = WatchPlan(
    folders=("/code", "/code/shop", "/code/shop/.git", "/code/notes"),
    projects=frozenset({"/code/shop", "/code/notes"}),
    git={"/code/shop/.git": ("/code/shop", "/code/shop/src")},
    between=frozenset({"/code", "/code/notes"}),
)
SHOP = FolderChanges(projects=frozenset({"/code/shop", "/code/shop/src"}))
NAMES = FolderChanges(names=True)


@pytest.mark.parametrize(
    ("what", "path", "about"),
    [
        ("modified", "/code/shop/.git/HEAD", SHOP),
        ("added", "/code/shop/.git/index", SHOP),
        ("added", "/code/shop/.git/index.lock", NO_CHANGES),
        ("modified", "/code/shop/a.txt", NO_CHANGES),
        ("added", "/code/shop/dist", NO_CHANGES),
        ("added", "/code/shop/.claude", FolderChanges(projects=frozenset({"/code/shop"}), names=True)),
        ("deleted", "/code/shop/.git", FolderChanges(projects=frozenset({"/code/shop"}), names=True)),
        ("added", "/code/new", NAMES),
        ("added", "/code/notes/deep", NAMES),
        ("added", "/code/file.txt", NO_CHANGES),
        ("modified", "/code/new", NO_CHANGES),
        ("deleted", "/code/shop", NAMES),
        ("deleted", "/code/file.txt", NO_CHANGES),
    ],
)
def test_a_change_affects_the_projects_that_it_may_alter(what: str, path: str, about: FolderChanges) -> None:
    changes: list[Change] = [(what, path)]
    assert affected(PLAN, changes, lambda found: not found.endswith(".txt")) == about


def test_changes_that_come_together_are_reported_together() -> None:
    changes = [("modified", "/code/shop/.git/HEAD"), ("added", "/code/new"), ("modified", "/code/shop/a")]
    assert affected(PLAN, changes, lambda found: True) == FolderChanges(projects=SHOP.projects, names=True)


def test_projects_their_git_folders_and_the_folders_between_are_watched(tmp_path: Path) -> None:
    (tmp_path / "code" / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "code" / "group" / "inner" / ".claude").mkdir(parents=True)
    (tmp_path / "code" / "shop" / "src").mkdir()
    code = str(tmp_path / "code")
    plan = watch_plan(find_projects([code], [".git"], known=[f"{code}/shop/src"]), 100)
    assert plan.git == {f"{code}/shop/.git": (f"{code}/shop", f"{code}/shop/src")}
    assert plan.between == {code, f"{code}/group"}
    assert set(plan.folders) == {*plan.projects, *plan.git, *plan.between}
    assert plan.left_out == 0


def test_folders_over_the_limit_are_left_out_and_counted(tmp_path: Path) -> None:
    folders = tuple(str(tmp_path / name) for name in "abc")
    for folder in folders:
        Path(folder).mkdir()
    plan = watch_plan(ScanResult(folders=folders[:2], between=(folders[2], str(tmp_path / "gone"))), 2)
    assert (plan.folders, plan.left_out) == (folders[:2], 1)
