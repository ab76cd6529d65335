"""The worktrees of the daemon's owned sessions: shown, merged, and removed."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from quarterdeck.core.engine.session_messages import DiscardWorktree, WorktreeChanged
from quarterdeck.core.model.tool_use import is_within
from quarterdeck.core.workspace.worktrees import Worktree, WorktreeDiff
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.errors import Refused
from quarterdeck.projects.worktrees import Worktrees


class DaemonWorktrees:
    """The worktrees of one runner, in a folder of its own."""

    def __init__(self, loop: Loop, folder: Path) -> None:
        self._loop = loop
        self._worktrees = Worktrees(folder)
        self._discarding: set[str] = set()

    async def all(self) -> list[Worktree]:
        """The worktrees of every project in which an owned session had one."""
        state = self._loop.state
        owned = [s.owned for s in (*state.sessions.values(), *state.ended.values()) if s.owned is not None]
        worktrees: list[Worktree] = []
        for project in sorted({one.worktree for one in owned if one.worktree}):
            with contextlib.suppress(Refused):
                worktrees += await self._worktrees.for_project(project)
        return worktrees

    async def create(self, project: str, session_id: str, base: str | None) -> Worktree:
        """A new worktree for a session, from this branch or from the one that is checked out."""
        return await self._worktrees.create(project, session_id, base)

    async def undo(self, created: Worktree) -> None:
        """Remove a worktree whose session did not start."""
        await self._worktrees.discard(created, force=True)

    def is_being_discarded(self, folder: str) -> bool:
        return any(is_within(folder, path) for path in self._discarding)

    async def diff(self, worktree: Worktree) -> WorktreeDiff:
        return await self._worktrees.diff(worktree)

    async def merge(self, worktree: Worktree, by: str) -> None:
        """Merge a session's worktree into its base. Refused when that cannot be done."""
        await self._worktrees.merge(worktree)
        self._record_change(worktree, "merge", by)

    async def discard(self, worktree: Worktree, by: str, *, force: bool) -> None:
        """Remove a session's worktree. Refused while the session runs there, or while its work exists nowhere else."""
        if worktree.path in self._discarding:
            raise Refused(f"{worktree.path}: is being discarded; wait until it is gone")
        self._discarding.add(worktree.path)  # before the command is queued: a start queued after it must know
        try:
            command = DiscardWorktree(session_id=worktree.session_id, path=worktree.path, by=by, at=time.time())
            reply = await self._loop.command(command)
            if reply.outcome != "applied":
                raise Refused(reply.message)
            await self._worktrees.discard(worktree, force=force)
            self._record_change(worktree, "discard", by)
        finally:
            self._discarding.remove(worktree.path)

    def _record_change(self, worktree: Worktree, action: str, by: str) -> None:
        self._loop.submit(
            WorktreeChanged(
                session_id=worktree.session_id,
                action=action,
                branch=worktree.branch,
                path=worktree.path,
                base=worktree.base,
                by=by,
                at=time.time(),
            )
        )
