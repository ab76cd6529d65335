"""Routes of the git worktrees that owned sessions work in."""

from __future__ import annotations

from typing import Annotated

from litestar.params import FromPath, QueryParameter

from quarterdeck.api.backend import WorktreeBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, refused_as
from quarterdeck.api.http.principal import Caller
from quarterdeck.core.workspace.worktrees import Worktree
from quarterdeck.views.projection import struct_of
from quarterdeck.views.workspace.project_view import shown
from quarterdeck.views.workspace.worktree_view import ChangedFile, DiffView, WorktreeList, WorktreeView, worktree_view


@endpoint("list_worktrees")
async def list_worktrees(worktrees: WorktreeBackend) -> WorktreeList:
    """List the worktrees of owned sessions."""
    return WorktreeList(worktrees=[worktree_view(one) for one in await worktrees.all()])


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
    return worktree_view(worktree)


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
    return worktree_view(worktree)


async def _known(worktrees: WorktreeBackend, session_id: str) -> Worktree:
    for worktree in await worktrees.all():
        if worktree.session_id == session_id:
            return worktree
    raise ApiError(404, "not_found", f"{session_id} has no worktree; see: qd worktrees")
