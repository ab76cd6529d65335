"""The daemon's sessions for its surfaces: orders to those of ours, and a look at their terminals."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from quarterdeck.config import Config
from quarterdeck.core.commands import Reply
from quarterdeck.core.orders import Interrupt, Order, Send, Start
from quarterdeck.core.state import Session
from quarterdeck.daemon.crew import Crew
from quarterdeck.daemon.loop import Loop
from quarterdeck.daemon.processes import SessionsFolder
from quarterdeck.runner.launching import Viewer


class SessionDesk:
    """Sessions of ours on one runner."""

    def __init__(self, loop: Loop, crew: Crew, folder: SessionsFolder, config: Config) -> None:
        self._loop = loop
        self._crew = crew
        self._folder = folder
        self._config = config

    async def order(self, order: Order) -> Reply:
        """Have it done. What was taken and could not be done is `failed`, with the words of who refused."""
        if isinstance(order, Start):
            real = await asyncio.to_thread(self._placed, order)
            if isinstance(real, Reply):
                return real
            order = real
        reply = await self._loop.command(replace(order, at=time.time()))
        error = await self._crew.done(_name(order, self._loop)) if reply.outcome == "applied" else None
        return reply if error is None else replace(reply, outcome="failed", message=error)

    def _placed(self, start: Start) -> Start | Reply:
        """The order for the real folder, and whether somebody else is at that conversation."""
        real = os.path.realpath(Path(start.cwd).expanduser())
        if not Path(real).is_dir():
            said = f"cwd: {start.cwd} is no folder here"
            return Reply(request_id=start.session_id, outcome="invalid", message=said)
        settled = {
            "mode": "tmux" if start.mode == "pty" and self._config.pty.use_tmux else start.mode,
            "max_turns": start.max_turns or self._config.sdk.max_turns,
            "worktree": os.path.realpath(start.worktree) if start.worktree else None,
        }
        return replace(start, cwd=real, runs_as=self._runs_as(start.resume), **settled)

    def _runs_as(self, session_id: str | None) -> int | None:
        for said in self._folder.read() if session_id else ():
            if said.session_id == session_id and self._folder.identity(said) is not None:
                return said.pid
        return None

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
            word = "interrupt" if isinstance(order, Interrupt) else "change" if hasattr(order, "model") else "end"
            return f"{word} {handle}"
