"""The folders to watch for a list of projects, and the projects that a change affects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from quarterdeck.projects.git_read import Repository, repository_above
from quarterdeck.projects.scanner import MARKS, ScanResult

GIT_NAMES = frozenset({"HEAD", "index", "config", "packed-refs", "COMMIT_EDITMSG", "FETCH_HEAD", "MERGE_HEAD"})
"""The files that git writes into its folder when a branch, the staged files or a remote change."""

Change = tuple[str, str]
"""The kind of change (added, modified or deleted) and the path."""


class WatchPlan(Struct, frozen=True, kw_only=True):
    """Folders to watch, the most important first. `git` maps a git folder to its projects, `between` are folders in
    which a project may appear, and `left_out` is the number of folders beyond the limit."""

    folders: tuple[str, ...] = ()
    projects: frozenset[str] = frozenset()
    git: Mapping[str, tuple[str, ...]] = {}
    between: frozenset[str] = frozenset()
    left_out: int = 0


class FolderChanges(Struct, frozen=True, kw_only=True):
    """The work after a change: read these projects again, and with `names` find the projects again."""

    projects: frozenset[str] = frozenset()
    names: bool = False


NO_CHANGES = FolderChanges()


def watch_plan(found: ScanResult, most: int) -> WatchPlan:
    """A plan for projects, their git folders, the roots, and the folders between; at most `most` folders."""
    git: dict[str, list[str]] = {}
    for folder in found.folders:
        repository = repository_above(folder)
        if isinstance(repository, Repository):
            git.setdefault(repository.git_dir, []).append(folder)
    folders = dict.fromkeys((*found.folders, *git, *found.between))
    existing = [folder for folder in folders if os.path.isdir(folder)]  # noqa: PTH112 a plain string
    return WatchPlan(
        folders=tuple(existing[:most]),
        projects=frozenset(found.folders),
        git={folder: tuple(projects) for folder, projects in git.items()},
        between=frozenset(found.between),
        left_out=max(0, len(existing) - most),
    )


def affected(
    plan: WatchPlan, changes: Iterable[Change], is_folder: Callable[[str], bool] = os.path.isdir
) -> FolderChanges:
    """The work that these changes need; most need none."""
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
    return FolderChanges(projects=frozenset(projects), names=names)
