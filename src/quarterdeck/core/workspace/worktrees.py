"""Worktrees of sessions: what is known of one, and what it has changed."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.workspace.worktree_output import FileChange


class Worktree(Struct, frozen=True, kw_only=True):
    """One of ours: `base` is the branch it began on and goes back to, `ahead` how many commits it has that the base has
    not. Where git cannot tell, `trouble` says why."""

    project: str
    path: str
    branch: str
    base: str
    session_id: str
    is_dirty: bool | None = None
    ahead: int | None = None
    behind: int | None = None
    trouble: str = ""


class Difference(Struct, frozen=True, kw_only=True):
    """What a worktree has changed since its base, committed or not; `is_cut` when it is more than is shown. New files
    that git was not told of are `untracked`, and not in the text."""

    text: str
    is_cut: bool
    files: tuple[FileChange, ...]
    untracked: tuple[str, ...]
