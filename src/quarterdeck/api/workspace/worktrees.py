"""Routes of the git worktrees that sessions of ours work in."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, delete, get, post
from litestar.datastructures import State as AppState
from litestar.params import FromPath, QueryParameter
from msgspec import Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.principal import by
from quarterdeck.api.workspace.projects import shown
from quarterdeck.core.workspace.worktrees import Difference, Worktree
from quarterdeck.errors import Refused


class WorktreeView(Struct, kw_only=True):
    """One session's worktree. `base` is the branch it began on; where git cannot tell more, `trouble` says why."""

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
    """A file with the lines added and taken away; null for one that is no text."""

    path: str
    added: int | None
    removed: int | None


class DiffView(Struct, kw_only=True):
    """What a worktree has changed since its base, committed or not. New files that git was not told of are only named,
    and `is_cut` says that there is more than is shown."""

    session_id: str
    diff: str
    is_cut: bool
    files: list[ChangedFile]
    untracked: list[str]


@get("/worktrees", opt={"scope": "observe"})
async def list_worktrees(state: AppState) -> WorktreeList:
    """The worktrees of sessions of ours."""
    desk: Desk = state.desk
    return WorktreeList(worktrees=[_view(one) for one in await desk.crew.worktrees()])


@get("/worktrees/{session_id:str}/diff", opt={"scope": "observe"})
async def get_diff(state: AppState, session_id: FromPath[str]) -> DiffView:
    """What a session's worktree has changed since its base."""
    desk: Desk = state.desk
    try:
        found: Difference = await desk.crew.difference(session_id)
    except Refused as refused:
        raise _refusal(refused) from None
    files = [ChangedFile(path=shown(one.path), added=one.added, removed=one.removed) for one in found.files]
    names = [shown(name) for name in found.untracked]
    return DiffView(session_id=session_id, diff=found.text, is_cut=found.is_cut, files=files, untracked=names)


@post("/worktrees/{session_id:str}/merge", status_code=200, opt={"scope": "control"})
async def merge(state: AppState, request: Request[Any, Any, Any], session_id: FromPath[str]) -> WorktreeView:
    """Merge a session's worktree into its base; what does not go together is left as it was."""
    desk: Desk = state.desk
    try:
        return _view(await desk.crew.merge(session_id, by(request)))
    except Refused as refused:
        raise _refusal(refused) from None


@delete("/worktrees/{session_id:str}", status_code=200, opt={"scope": "control"})
async def discard(
    state: AppState,
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    force: Annotated[bool, QueryParameter()] = False,
) -> WorktreeView:
    """Take a session's worktree and its branch away; with `force` also work that is nowhere else."""
    desk: Desk = state.desk
    try:
        return _view(await desk.crew.discard(session_id, by(request), force=force))
    except Refused as refused:
        raise _refusal(refused) from None


def _view(one: Worktree) -> WorktreeView:
    return WorktreeView(
        session_id=one.session_id,
        project=shown(one.project),
        path=shown(one.path),
        branch=one.branch,
        base=one.base,
        is_dirty=one.is_dirty,
        ahead=one.ahead,
        behind=one.behind,
        trouble=one.trouble or None,
    )


def _refusal(refused: Refused) -> ApiError:
    missing = "has no worktree" in str(refused)
    return ApiError(404 if missing else 409, "not_found" if missing else "refused", str(refused))


WORKTREE_ROUTES = [list_worktrees, get_diff, merge, discard]
