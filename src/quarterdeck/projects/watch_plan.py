"""Which folders are watched for a list of projects, and what a change in one of them is about."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from quarterdeck.projects.git_read import Repository, repository_above
from quarterdeck.projects.scanner import MARKS, Found

GIT_NAMES = frozenset({"HEAD", "index", "config", "packed-refs", "COMMIT_EDITMSG", "FETCH_HEAD", "MERGE_HEAD"})
"""What git writes into its folder when a branch, the staged files or a remote change."""

Change = tuple[str, str]
"""What happened (added, modified or deleted) and to which path."""


class Plan(Struct, frozen=True, kw_only=True):
    """Folders to watch, those that matter most first. `git` tells the projects of a git folder, `between` are those in
    which a project may appear, and `left_out` is how many were too many."""

    folders: tuple[str, ...] = ()
    projects: frozenset[str] = frozenset()
    git: Mapping[str, tuple[str, ...]] = {}
    between: frozenset[str] = frozenset()
    left_out: int = 0


class Noticed(Struct, frozen=True, kw_only=True):
    """What has to be looked at again: some projects, or with `names` which projects there are."""

    projects: frozenset[str] = frozenset()
    names: bool = False


NOTHING = Noticed()


def plan_of(found: Found, most: int) -> Plan:
    """Watch projects, the folders that git keeps for them, the roots, and what lies between; as many as may be."""
    git: dict[str, list[str]] = {}
    for folder in found.folders:
        repository = repository_above(folder)
        if isinstance(repository, Repository):
            git.setdefault(repository.git_dir, []).append(folder)
    wanted = dict.fromkeys((*found.folders, *git, *found.between))
    there = [folder for folder in wanted if os.path.isdir(folder)]  # noqa: PTH112 a plain string
    return Plan(
        folders=tuple(there[:most]),
        projects=frozenset(found.folders),
        git={folder: tuple(projects) for folder, projects in git.items()},
        between=frozenset(found.between),
        left_out=max(0, len(there) - most),
    )


def noticed(plan: Plan, changes: Iterable[Change], is_folder: Callable[[str], bool] = os.path.isdir) -> Noticed:
    """What these changes are about; most are about nothing that is shown."""
    projects: set[str] = set()
    names = False
    for what, path in changes:
        folder, _, name = path.rpartition("/")
        if name in GIT_NAMES:
            projects.update(plan.git.get(folder, ()))
        if what == "modified":
            continue
        if name in MARKS and folder in plan.projects:
            projects.add(folder)
            names = True
        elif what == "deleted":
            names = names or path in plan.projects or path in plan.between
        elif folder in plan.between and path not in plan.projects:
            names = names or is_folder(path)
    return Noticed(projects=frozenset(projects), names=names)
