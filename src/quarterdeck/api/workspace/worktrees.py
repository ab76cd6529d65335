"""Routes of the git worktrees that owned sessions work in."""

from __future__ import annotations

from typing import Annotated

from litestar.params import FromPath, QueryParameter
from msgspec import Struct

from quarterdeck.api.backend import WorktreeBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, refused_as
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.http.resource import Resource
from quarterdeck.api.views.projection import struct_of
from quarterdeck.api.workspace.projects import shown
from quarterdeck.core.workspace.worktrees import Worktree


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


@endpoint("list_worktrees")
async def list_worktrees(worktrees: WorktreeBackend) -> WorktreeList:
    """List the worktrees of owned sessions."""
    return WorktreeList(worktrees=[_view(one) for one in await worktrees.all()])


@endpoint("get_diff")
async def get_diff(worktrees: WorktreeBackend, *, session_id: FromPath[str]) -> DiffView:
    """Show the changes of a session's worktree since its base."""
    worktree = await _known(worktrees, session_id)
    with refused_as("refused"):
        found = await worktrees.diff(worktree)
    files = [struct_of(ChangedFile, one, path=shown(one.path)) for one in found.files]
    names = [shown(name) for name in found.untracked]
    return DiffView(session_id=session_id, diff=found.text, is_cut=found.is_cut, files=files, untracked=names)


@endpoint("merge_worktree")
async def merge(worktrees: WorktreeBackend, caller: Caller, *, session_id: FromPath[str]) -> WorktreeView:
    """Merge a session's worktree into its base. On a conflict nothing is changed."""
    worktree = await _known(worktrees, session_id)
    with refused_as("refused"):
        await worktrees.merge(worktree, caller.name)
    return _view(worktree)


@endpoint("discard_worktree")
async def discard(
    worktrees: WorktreeBackend,
    caller: Caller,
    *,
    session_id: FromPath[str],
    force: Annotated[bool, QueryParameter()] = False,
) -> WorktreeView:
    """Remove a session's worktree and its branch; with `force` even commits and changes that exist nowhere else."""
    worktree = await _known(worktrees, session_id)
    with refused_as("refused"):
        await worktrees.discard(worktree, caller.name, force=force)
    return _view(worktree)


async def _known(worktrees: WorktreeBackend, session_id: str) -> Worktree:
    for worktree in await worktrees.all():
        if worktree.session_id == session_id:
            return worktree
    raise ApiError(404, "not_found", f"{session_id} has no worktree; see: qd worktrees")


def _view(one: Worktree) -> WorktreeView:
    return struct_of(WorktreeView, one, project=shown(one.project), path=shown(one.path), trouble=one.trouble or None)
