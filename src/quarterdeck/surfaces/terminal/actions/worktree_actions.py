"""Merging and discarding a session's worktree, once the person is sure."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import quote

from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.terminal.actions.send_decision import DecisionSurface
from quarterdeck.surfaces.terminal.lines.worktree_lines import (
    discard_question,
    find_worktree,
    lost_work,
    merge_blocked_reason,
    merge_question,
)
from quarterdeck.surfaces.terminal.session_actions import is_running_owned, session_label
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.views.workspace.worktree_view import DiffView, WorktreeList, WorktreeView


class ConfirmingSurface(DecisionSurface, Protocol):
    """A surface that can ask the person to confirm."""

    async def is_sure(self, question: str) -> bool: ...


async def read_worktree(surface: ConfirmingSurface, session: SessionView) -> tuple[WorktreeView, DiffView]:
    """The worktree of a session, and its diff."""
    trees = read_view(WorktreeList, await surface.daemon.long_call("GET", "/worktrees")).worktrees
    tree = find_worktree(trees, session.session_id)
    if tree is None:
        raise Refused(f"{session_label(session)} has no worktree")
    return tree, read_view(DiffView, await surface.daemon.long_call("GET", f"{_path(session)}/diff"))


async def merge_worktree(surface: ConfirmingSurface, session: SessionView) -> bool:
    """Merge a worktree into its base, once the person is sure. True if it was merged."""
    try:
        tree, _ = await read_worktree(surface, session)
        if why := merge_blocked_reason(tree):
            raise Refused(why)
        if not await surface.is_sure(merge_question(tree)):
            return False
        await surface.daemon.long_call("POST", f"{_path(session)}/merge", {})
    except QuarterdeckError as error:
        surface.say(f"Not merged: {error}", "error")
        return False
    surface.say(f"Merged {tree.branch} into {tree.base}")
    return True


async def discard_worktree(surface: ConfirmingSurface, session: SessionView) -> bool:
    """Delete a worktree's folder and branch, once the person has read what is lost. True if they are gone.

    Without anything to lose it is not forced: work that appears while the person reads the question is kept."""
    try:
        if is_running_owned(surface.model.sessions.get(session.session_id, session)):
            raise Refused(f"{session_label(session)} still runs; end it first")
        tree, diff = await read_worktree(surface, session)
        lost = lost_work(tree, diff)
        if not await surface.is_sure(discard_question(tree, lost)):
            return False
        await surface.daemon.long_call("DELETE", f"{_path(session)}{'?force=true' if lost else ''}")
    except QuarterdeckError as error:
        surface.say(f"Not discarded: {error}", "error")
        return False
    surface.say(f"Discarded {tree.branch}")
    return True


def _path(session: SessionView) -> str:
    return f"/worktrees/{quote(session.session_id, safe='')}"
