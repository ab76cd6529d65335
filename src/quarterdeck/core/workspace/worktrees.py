"""A session's worktree, and its changes."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.workspace.worktree_output import FileChange


class Worktree(Struct, frozen=True, kw_only=True):
    """A session's worktree. `base` is the branch it started from and is merged into, `ahead` the number of commits that
    the base does not have. When git fails, `trouble` says why."""

    project: str
    path: str
    branch: str
    base: str
    session_id: str
    is_dirty: bool | None = None
    ahead: int | None = None
    behind: int | None = None
    trouble: str = ""


class WorktreeDiff(Struct, frozen=True, kw_only=True):
    """The changes of a worktree since its base, committed or not; `is_cut` when there are more than are shown. New
    files that were not added to git are `untracked`, and not in the text."""

    text: str
    is_cut: bool
    files: tuple[FileChange, ...]
    untracked: tuple[str, ...]
