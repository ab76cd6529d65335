"""Which folders are watched, and what a change in one of them is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.projects.scanner import Found, find
from quarterdeck.projects.watch_plan import NOTHING, Change, Noticed, Plan, noticed, plan_of

PLAN = Plan(
    folders=("/code", "/code/shop", "/code/shop/.git", "/code/notes"),
    projects=frozenset({"/code/shop", "/code/notes"}),
    git={"/code/shop/.git": ("/code/shop", "/code/shop/src")},
    between=frozenset({"/code", "/code/notes"}),
)
SHOP = Noticed(projects=frozenset({"/code/shop", "/code/shop/src"}))
NAMES = Noticed(names=True)


@pytest.mark.parametrize(
    ("what", "path", "about"),
    [
        ("modified", "/code/shop/.git/HEAD", SHOP),
        ("added", "/code/shop/.git/index", SHOP),
        ("added", "/code/shop/.git/index.lock", NOTHING),
        ("modified", "/code/shop/a.txt", NOTHING),
        ("added", "/code/shop/dist", NOTHING),
        ("added", "/code/shop/.claude", Noticed(projects=frozenset({"/code/shop"}), names=True)),
        ("deleted", "/code/shop/.git", Noticed(projects=frozenset({"/code/shop"}), names=True)),
        ("added", "/code/new", NAMES),
        ("added", "/code/notes/deep", NAMES),
        ("added", "/code/file.txt", NOTHING),
        ("modified", "/code/new", NOTHING),
        ("deleted", "/code/shop", NAMES),
        ("deleted", "/code/file.txt", NOTHING),
    ],
)
def test_a_change_is_about_what_a_list_of_projects_shows(what: str, path: str, about: Noticed) -> None:
    changes: list[Change] = [(what, path)]
    assert noticed(PLAN, changes, lambda found: not found.endswith(".txt")) == about


def test_changes_that_come_together_are_told_together() -> None:
    changes = [("modified", "/code/shop/.git/HEAD"), ("added", "/code/new"), ("modified", "/code/shop/a")]
    assert noticed(PLAN, changes, lambda found: True) == Noticed(projects=SHOP.projects, names=True)


def test_projects_their_git_folders_and_what_lies_between_are_watched(tmp_path: Path) -> None:
    (tmp_path / "code" / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "code" / "group" / "inner" / ".claude").mkdir(parents=True)
    (tmp_path / "code" / "shop" / "src").mkdir()
    code = str(tmp_path / "code")
    plan = plan_of(find([code], [".git"], known=[f"{code}/shop/src"]), 100)
    assert plan.git == {f"{code}/shop/.git": (f"{code}/shop", f"{code}/shop/src")}
    assert plan.between == {code, f"{code}/group"}
    assert set(plan.folders) == {*plan.projects, *plan.git, *plan.between}
    assert plan.left_out == 0


def test_what_is_too_much_is_left_out_and_counted(tmp_path: Path) -> None:
    folders = tuple(str(tmp_path / name) for name in "abc")
    for folder in folders:
        Path(folder).mkdir()
    plan = plan_of(Found(folders=folders[:2], between=(folders[2], str(tmp_path / "gone"))), 2)
    assert (plan.folders, plan.left_out) == (folders[:2], 1)
