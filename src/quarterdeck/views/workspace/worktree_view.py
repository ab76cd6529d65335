"""The worktrees of sessions as every surface sees them."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.workspace.worktrees import Worktree
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.runner_resource import Resource
from quarterdeck.views.workspace.project_view import shown


class WorktreeView(Resource, kw_only=True):
    """One session's worktree. `base` is the branch it started from; `trouble` is the reason if its git status could not
    be read."""

    session_id: str
    project: str
    path: str
    branch: str
    base: str
    is_dirty: bool | None
    ahead: int | None
    behind: int | None
    trouble: str | None


class WorktreeList(Struct, kw_only=True):
    worktrees: list[WorktreeView]
    next: str | None = None


class ChangedFile(Struct, kw_only=True):
    """A changed file with the numbers of lines added and removed; null for a binary file."""

    path: str
    added: int | None
    removed: int | None


class DiffView(Struct, kw_only=True):
    """The changes of a worktree since its base, committed or not. Untracked files are only named; `is_cut` means that
    the diff is longer than shown."""

    session_id: str
    diff: str
    is_cut: bool
    files: list[ChangedFile]
    untracked: list[str]


def worktree_view(one: Worktree) -> WorktreeView:
    return struct_of(WorktreeView, one, project=shown(one.project), path=shown(one.path), trouble=one.trouble or None)
