"""The daemon's sessions for its surfaces: those it knows, commands to owned ones, and their terminals."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from quarterdeck.agents.registry import AGENTS
from quarterdeck.config.settings import Config
from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.core.engine.session_messages import (
    InterruptSession,
    ReconfigureSession,
    SendPrompt,
    SessionCommand,
    StartSession,
)
from quarterdeck.core.model.state import Capabilities, Session
from quarterdeck.core.workspace.folder_trust import is_trusted
from quarterdeck.core.workspace.worktrees import Worktree
from quarterdeck.daemon.backend.worktrees import DaemonWorktrees
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.sessions.controller import SessionController
from quarterdeck.daemon.sessions.past_sessions import PastSessions
from quarterdeck.drivers.registry import Drivers, agent_of
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import ScreenViewer
from quarterdeck.sessions.tmux.pane_cache import PaneCache
from quarterdeck.system.process_table import resident

NO_ROOM = "the disk is nearly full, so the session would not be recorded: free some space"


class DaemonSessions:
    """The sessions of one runner."""

    def __init__(
        self,
        loop: Loop,
        controller: SessionController,
        drivers: Drivers,
        config: Config,
        worktrees: DaemonWorktrees,
        past_sessions: PastSessions,
        panes: PaneCache,
    ) -> None:
        self._loop = loop
        self._controller = controller
        self._drivers = drivers
        self._config = config
        self._worktrees = worktrees
        self._past_sessions = past_sessions
        self._panes = panes

    def all(self) -> list[Session]:
        """Live sessions first, then ended ones, then those known only by a transcript; each newest first."""
        state = self._loop.state
        known = state.sessions.keys() | state.ended.keys()
        past = (s for s in self._past_sessions.sessions() if s.session_id not in known)
        return self.live() + _newest(state.ended.values()) + _newest(past)

    def live(self) -> list[Session]:
        return _newest(self._loop.state.sessions.values())

    def get(self, session_id: str) -> Session | None:
        state = self._loop.state
        return state.sessions.get(session_id) or state.ended.get(session_id) or self._past_sessions.session(session_id)

    async def find(self, session_id: str) -> Session | None:
        return self.get(session_id) or await self._past_sessions.find(session_id)

    def resume_command(self, session: Session) -> str | None:
        agent = AGENTS.get(session.agent)
        return agent.resume_command(session.session_id) if agent and not session.session_id.startswith("-") else None

    def capabilities(self, session: Session) -> Capabilities | None:
        return self._loop.state.settings.capabilities.get(session.agent)

    def memory(self, session: Session) -> int | None:
        return resident(session.process) if session.process is not None and session.ended_at is None else None

    async def panes(self, sessions: Sequence[Session]) -> Mapping[str, str]:
        others = {s.session_id for s in sessions if s.mode == "observed" and s.ended_at is None}
        known = await self._panes.attach_commands() if others else {}
        return {session_id: where for session_id, where in known.items() if session_id in others}

    async def execute(self, command: SessionCommand) -> CommandReply:
        """Carry out a session command. One that was accepted and then failed is `failed`, a refused prompt `not_taken`,
        with the message of the refusal."""
        created: Worktree | None = None
        if isinstance(command, StartSession):
            if self._loop.nearly_full:
                return CommandReply(request_id=command.session_id, outcome="not_recorded", message=NO_ROOM)
            try:
                command, created = await self._prepare(command)
            except Refused as error:
                return CommandReply(request_id=command.session_id, outcome="invalid", message=str(error))
        if isinstance(command, StartSession):
            command = replace(command, discarding=self._worktrees.is_being_discarded(command.cwd))
        reply = await self._loop.command(replace(command, at=time.time()))
        if created is not None and reply.outcome != "applied":
            await self._worktrees.undo(created)
        failure = (
            await self._controller.wait_for(_task_name(command, self._loop)) if reply.outcome == "applied" else None
        )
        return reply if failure is None else replace(reply, outcome=failure.kind, message=failure.message)

    async def _prepare(self, start: StartSession) -> tuple[StartSession, Worktree | None]:
        """The command with real folders; in a new worktree where one is requested and the project is trusted."""
        resolved = await asyncio.to_thread(self._with_real_folder, start)
        if start.base is None or not is_trusted(self._loop.state.trust, resolved.cwd, "sessions"):
            return resolved, None
        created = await self._worktrees.create(resolved.cwd, start.session_id, start.base or None)
        return replace(resolved, cwd=created.path, worktree=resolved.cwd), created

    def _with_real_folder(self, start: StartSession) -> StartSession:
        """The command with symlinks followed, and with the process that has its conversation open now."""
        real = os.path.realpath(Path(start.cwd).expanduser())
        if not Path(real).is_dir():
            raise Refused(f"cwd: {start.cwd} is not a folder on this machine")
        if start.mode == "sdk" and (problem := self._drivers.of(start).sdk_problem()):
            raise Refused(f"mode: {problem}")
        return replace(
            start,
            cwd=real,
            agent=agent_of(start),
            runs_as=self._runs_as(start.resume),
            mode="tmux" if start.mode == "pty" and self._config.pty.use_tmux else start.mode,
            max_turns=start.max_turns or self._config.sdk.max_turns,
        )

    def _runs_as(self, session_id: str | None) -> int | None:
        files = self._drivers.session_files
        for process in files.read() if session_id else ():
            if process.session_id == session_id and files.identity(process) is not None:
                return process.pid
        return None

    async def view(self, session: Session, cols: int, rows: int, seen: Callable[[bytes], None]) -> ScreenViewer:
        """Attach a viewer to a session's terminal. Refused when it has none."""
        return await self._controller.view(session, cols, rows, seen)

    async def screen(self, session: Session) -> str:
        """The text on its screen. Refused when it has none."""
        return await self._controller.screen(session)


def _newest(sessions: Iterable[Session]) -> list[Session]:
    return sorted(sessions, key=lambda s: (-s.started_at, s.session_id))


def _task_name(command: SessionCommand, loop: Loop) -> str:
    """The name of the session controller's task for this command."""
    match command:
        case StartSession(session_id=session_id):
            return f"start {session_id}"
        case SendPrompt(message_id=message_id):
            return f"send {message_id}"
        case InterruptSession():
            name = "interrupt"
        case ReconfigureSession():
            name = "change"
        case _:
            name = "end"
    state = loop.state
    session = state.sessions.get(command.session_id) or state.ended.get(command.session_id)
    return f"{name} {session.owned.handle if session and session.owned else command.session_id}"
