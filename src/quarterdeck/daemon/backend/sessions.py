"""The daemon's sessions for its surfaces: orders to those of ours, and a look at their terminals."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from quarterdeck.config import Config
from quarterdeck.core.engine.messages import Reply
from quarterdeck.core.engine.session_messages import Change, Interrupt, Order, Send, Start, WorktreeChanged
from quarterdeck.core.model.state import Session
from quarterdeck.core.workspace.projects import is_trusted
from quarterdeck.core.workspace.worktrees import Difference, Worktree
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.sessions.controller import Crew
from quarterdeck.drivers.claude.sdk_launcher import MISSING, is_installed
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.errors import Refused
from quarterdeck.projects.worktrees import Worktrees
from quarterdeck.sessions.launcher import Viewer

NO_ROOM = "the disk is nearly full, so nothing of a session would be on record: free some space"


class SessionDesk:
    """Sessions of ours on one runner."""

    def __init__(self, loop: Loop, crew: Crew, folder: SessionsFolder, config: Config, worktrees: Path) -> None:
        self._loop = loop
        self._crew = crew
        self._folder = folder
        self._config = config
        self._worktrees = Worktrees(worktrees)

    async def order(self, order: Order) -> Reply:
        """Have it done. What was taken and could not be done is `failed`, a refused prompt `not_taken`, with the words
        of who refused."""
        made: Worktree | None = None
        if isinstance(order, Start):
            if self._loop.nearly_full:
                return Reply(request_id=order.session_id, outcome="not_recorded", message=NO_ROOM)
            try:
                order, made = await self._ready(order)
            except Refused as refused:
                return Reply(request_id=order.session_id, outcome="invalid", message=str(refused))
        reply = await self._loop.command(replace(order, at=time.time()))
        if made is not None and reply.outcome != "applied":
            await self._worktrees.discard(made, force=True)
        undone = await self._crew.done(_name(order, self._loop)) if reply.outcome == "applied" else None
        return reply if undone is None else replace(reply, outcome=undone.kind, message=undone.words)

    async def _ready(self, start: Start) -> tuple[Start, Worktree | None]:
        """The order for real folders; in a new worktree where one is wanted and the project is trusted."""
        placed = await asyncio.to_thread(self._placed, start)
        if start.base is None or not is_trusted(self._loop.state.trust, placed.cwd):
            return placed, None
        made = await self._worktrees.create(placed.cwd, start.session_id, start.base or None)
        return replace(placed, cwd=made.path, worktree=placed.cwd), made

    def _placed(self, start: Start) -> Start:
        """With links followed, and whether somebody else is at that conversation."""
        real = os.path.realpath(Path(start.cwd).expanduser())
        if not Path(real).is_dir():
            raise Refused(f"cwd: {start.cwd} is no folder here")
        if start.mode == "sdk" and not is_installed():
            raise Refused(f"mode: {MISSING}")
        return replace(
            start,
            cwd=real,
            runs_as=self._runs_as(start.resume),
            mode="tmux" if start.mode == "pty" and self._config.pty.use_tmux else start.mode,
            max_turns=start.max_turns or self._config.sdk.max_turns,
        )

    def _runs_as(self, session_id: str | None) -> int | None:
        for said in self._folder.read() if session_id else ():
            if said.session_id == session_id and self._folder.identity(said) is not None:
                return said.pid
        return None

    async def worktrees(self) -> list[Worktree]:
        """Those of every project that a session of ours had one of."""
        projects = sorted({s.ours.worktree for s in self._ours() if s.ours and s.ours.worktree})
        found: list[Worktree] = []
        for project in projects:
            with contextlib.suppress(Refused):
                found += await self._worktrees.of(project)
        return found

    async def difference(self, session_id: str) -> Difference:
        return await self._worktrees.diff(await self._worktree(session_id))

    async def merge(self, session_id: str, by: str) -> Worktree:
        """Merge a session's worktree into its base; Refused when that cannot be done."""
        found = await self._worktree(session_id)
        await self._worktrees.merge(found)
        self._tell(found, "merge", by)
        return found

    async def discard(self, session_id: str, by: str, *, force: bool) -> Worktree:
        """Take a session's worktree away; Refused while it runs there, or while its work is nowhere else."""
        found = await self._worktree(session_id)
        session = self._loop.state.sessions.get(session_id)
        if session is not None and session.runs_here:
            raise Refused(f"{session_id} still runs there; first: qd end {session_id}")
        await self._worktrees.discard(found, force=force)
        self._tell(found, "discard", by)
        return found

    def _tell(self, found: Worktree, action: str, by: str) -> None:
        self._loop.tell(
            WorktreeChanged(
                session_id=found.session_id,
                action=action,
                branch=found.branch,
                path=found.path,
                base=found.base,
                by=by,
                at=time.time(),
            )
        )

    async def _worktree(self, session_id: str) -> Worktree:
        for one in await self.worktrees():
            if one.session_id == session_id:
                return one
        raise Refused(f"{session_id} has no worktree; see: qd worktrees")

    def _ours(self) -> list[Session]:
        state = self._loop.state
        return [s for s in (*state.sessions.values(), *state.ended.values()) if s.ours is not None]

    async def view(self, session: Session, cols: int, rows: int, seen: Callable[[bytes], None]) -> Viewer:
        """Look at a session's terminal; Refused when it has none."""
        return await self._crew.view(session, cols, rows, seen)

    async def screen(self, session: Session) -> str:
        """What stands on its screen; Refused when it has none."""
        return await self._crew.screen(session)


def _name(order: Order, loop: Loop) -> str:
    """By which name the crew knows the work that an order led to."""
    match order:
        case Start(session_id=session_id):
            return f"start {session_id}"
        case Send(message_id=message_id):
            return f"send {message_id}"
        case _:
            state = loop.state
            session = state.sessions.get(order.session_id) or state.ended.get(order.session_id)
            handle = session.ours.handle if session and session.ours else order.session_id
            word = "interrupt" if isinstance(order, Interrupt) else "change" if isinstance(order, Change) else "end"
            return f"{word} {handle}"
