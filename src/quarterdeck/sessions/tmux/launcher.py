"""Sessions in tmux: they live on when we end, are found again, and their end is told once."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shlex
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.session_messages import Down, Failed, Send, Start
from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import Ear, Kit, Running
from quarterdeck.sessions.pty.start import check
from quarterdeck.sessions.tmux.command import KEEPER, MAX_PROMPT, command
from quarterdeck.sessions.tmux.server import SCROLLBACK_LINES, VIEWER_FLAG, Pane, Server
from quarterdeck.sessions.tmux.session import Session
from quarterdeck.sessions.tmux.viewer import TmuxViewer, look
from quarterdeck.system.process_watch import Watch, agent_below, process_id

COLS, ROWS = 120, 40
BORN_SECONDS = 10.0
END_SECONDS = 12.0
"""A keeper gives its agent six seconds, and whatever is left one more."""

SETTLE_SECONDS = 1.0
LOOK_SECONDS = 10.0
BLIND_LOOK_SECONDS = 1.0
LAST_WORDS = 2000
SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
SERVER_GONE = "tmux ended"


class TmuxWay:
    """Runs sessions on a tmux server of our own, at this socket, whose folder only we may open. Nobody else's sessions
    or settings are touched."""

    def __init__(
        self,
        ear: Ear,
        socket: Path,
        *,
        shell: str | None = None,
        cols: int = COLS,
        rows: int = ROWS,
        scrollback_lines: int = SCROLLBACK_LINES,
        program: str = "tmux",
    ) -> None:
        self._ear, self._shell, self._size = ear, shell, (cols, rows)
        self.server = Server(socket, program, scrollback_lines)
        self._sessions: dict[str, Session] = {}
        self._launching = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._server_watch: Watch | None = None

    async def launch(self, start: Start, kit: Kit) -> Running:
        _check(start)
        async with self._launching:
            if start.session_id in self._sessions:
                raise Refused(f"{start.session_id} runs already; send it a prompt or end it first")
            pane = await self._create(start, kit)
            session = self._hold(pane, await _born(pane))
        if start.prompt is not None and len(start.prompt.encode()) > MAX_PROMPT:
            self._run(self._first_prompt(session, start.prompt))
        return self._running(session)

    async def _create(self, start: Start, kit: Kit) -> Pane:
        argv = command(start, kit, shell=self._shell)
        size = (start.cols or self._size[0], start.rows or self._size[1])
        pane = await self.server.create(start.session_id, argv, env=kit.environment, cwd=start.cwd, size=size)
        kind = "shell" if start.shell else "agent"
        try:
            await self.server.mark(pane, config_dir=str(kit.config_dir), kind=kind)
        except BaseException:
            await self.server.forget(pane)
            raise
        return replace(pane, config_dir=str(kit.config_dir), kind=kind)

    def _hold(self, pane: Pane, agent: ProcessId | None) -> Session:
        session = Session(self.server, pane, agent, ended=lambda session: self._run(self._bury(session)))
        self._sessions[pane.session_id] = session
        self._watch_server(pane.server_pid)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return session

    def _watch_server(self, pid: int) -> None:
        process = process_id(pid)
        if self._server_watch is None or self._server_watch.process != process:
            self._leave_server()
            self._server_watch = Watch(process, self._server_ended) if process else None

    def _server_ended(self) -> None:
        for session in self._sessions.values():
            self._run(self._bury(session))

    def _leave_server(self) -> None:
        if self._server_watch is not None:
            self._server_watch.close()
        self._server_watch = None

    def _running(self, session: Session) -> Running:
        where = shlex.join(self.server.words("attach-session", "-t", session.pane.session))
        return Running(session_id=session.session_id, process=session.agent, terminal=where)

    async def _first_prompt(self, session: Session, prompt: str) -> None:
        """One that is too long for a command line."""
        try:
            await session.typist.type(prompt)
        except Refused as refused:
            failed = Failed(session_id=session.session_id, order="start", error=str(refused), at=time.time())
            self._ear.tell(failed)

    async def send(self, send: Send) -> bool:
        if send.attachments:
            raise Refused("a terminal takes text only; send the prompt without attachments, or use mode sdk")
        session = self._session(send.session_id)
        if session.pane.kind == "shell":
            raise Refused("it is a shell and takes keys, not prompts; attach to it")
        await session.typist.type(send.prompt)
        return True

    async def interrupt(self, session_id: str) -> None:
        """Press the key that stops it; an agent that is idle would take it for something else."""
        session = self._session(session_id)
        if session.pane.kind == "shell":
            await self.server.do(("send-keys", "-t", session.pane.pane, "C-c"))
        elif session.status() != "idle":
            await session.typist.escape()

    async def change(self, session_id: str, model: str | None, permission_mode: str | None) -> None:
        session = self._session(session_id)
        if permission_mode is not None:
            raise Refused("the permission mode of a terminal is changed there; attach to it and press shift+tab")
        if model is not None:
            await session.typist.type(f"/model {model}")

    async def give_up(self, session_id: str) -> None:
        """A terminal is there at once, or not at all."""

    async def end(self, session_id: str) -> None:
        session = self._session(session_id)
        session.reason = "ended"
        session.watch.send(signal.SIGTERM)
        try:
            async with asyncio.timeout(END_SECONDS):
                await session.over.wait()
        except TimeoutError:
            session.watch.send(signal.SIGKILL)
            await self._bury(session)

    async def adopt(self, expected: Sequence[str]) -> list[Running]:
        """Those that have ended meanwhile are told; what ended and nobody expects is taken away."""
        found: dict[str, Pane] = {}
        for pane in sorted(await self.server.panes(), key=lambda pane: not pane.kind):
            found.setdefault(pane.session_id, pane)
        running = []
        for pane in found.values():
            if pane.session_id in self._sessions:
                continue
            if pane.dead and pane.session_id not in expected:
                await self._forget(pane)
            elif pane.session_id in expected:
                session = self._hold(pane, agent_below(pane.pid, KEEPER))
                if pane.dead:
                    await self._bury(session)
                else:
                    running.append(self._running(session))
        return running

    async def close(self) -> None:
        """Whoever looks is sent away; the sessions go on, and nobody tells of them."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for session in self._sessions.values():
            await session.leave()
        self._sessions.clear()
        self._leave_server()
        self.server.close()

    async def view(self, session_id: str, cols: int, rows: int, seen: Callable[[bytes], None]) -> TmuxViewer:
        session = self._session(session_id)
        words = self.server.words("attach-session", "-E", "-f", VIEWER_FLAG, "-t", session.pane.session)
        return session.seen_by(await look(words, cols, rows, seen))

    async def screen(self, session_id: str) -> str:
        return await self.server.capture(self._session(session_id).pane.pane)

    def _session(self, session_id: str) -> Session:
        found = self._sessions.get(session_id)
        if found is None or found.over.is_set():
            raise Refused(f"{session_id} does not run here; resume it first")
        return found

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _bury(self, session: Session) -> None:
        """Tell how it ended, once, and take away what is left of it."""
        if session.burying:
            return
        session.burying = True
        pane = await self._settled(session)
        words = await self._last_words(pane)
        if pane is None and not (self._server_watch and self._server_watch.runs()):
            session.reason = session.reason or SERVER_GONE
        self._sessions.pop(session.session_id, None)
        self._ear.tell(_down(session, pane, words))
        await self._forget(session.pane)
        await session.leave()
        if not self._sessions:
            self._leave_server()
        session.over.set()

    async def _settled(self, session: Session) -> Pane | None:
        """Its pane once tmux knows how it ended; None when that is not to be had."""
        pane = None
        until = time.monotonic() + SETTLE_SECONDS
        while True:
            with contextlib.suppress(Refused):
                pane = next((p for p in await self.server.panes() if p.pane == session.pane.pane), None)
                if pane is not None and pane.dead:
                    if (pane.code, pane.signal) != (None, None):
                        return pane
                    self._remind()
                if pane is None and not session.watch.runs():
                    return None
            if time.monotonic() > until:
                return pane
            await asyncio.sleep(0.02)

    def _remind(self) -> None:
        """tmux 3.3 may not hear that a child has ended, and then never asks how; told so again it does."""
        if self._server_watch is not None:
            self._server_watch.send(signal.SIGCHLD)

    async def _last_words(self, pane: Pane | None) -> str:
        with contextlib.suppress(Refused):
            return (await self.server.capture(pane.pane)).rstrip()[-LAST_WORDS:] if pane else ""
        return ""

    async def _forget(self, pane: Pane) -> None:
        await self.server.forget(pane)

    async def _look(self) -> None:
        """Now and then, by one call for all: whose pane was taken away ends, and what we were not told is found."""
        while self._sessions:
            blind = any(session.watch.blind for session in self._sessions.values())
            await asyncio.sleep(BLIND_LOOK_SECONDS if blind else LOOK_SECONDS)
            with contextlib.suppress(Refused):
                alive = {pane.pane for pane in await self.server.panes() if not pane.dead}
                for session in [s for s in self._sessions.values() if s.pane.pane not in alive]:
                    session.watch.send(signal.SIGTERM)
                    if not session.watch.runs():
                        await self._bury(session)


def _check(start: Start) -> None:
    check(start)
    if not SESSION_ID.fullmatch(start.session_id):
        raise Refused("a session id has letters, digits, _ and - only")


async def _born(pane: Pane) -> ProcessId | None:
    """The agent's own process, once it is there."""
    until = time.monotonic() + BORN_SECONDS
    while process_id(pane.pid) is not None:
        if found := agent_below(pane.pid, KEEPER):
            return found
        if time.monotonic() > until:
            break
        await asyncio.sleep(0.02)
    return None


def _down(session: Session, pane: Pane | None, words: str) -> Down:
    """A keeper ends with 128 and the signal that ended its agent."""
    code, number = (pane.code, pane.signal) if pane else (None, None)
    if code is not None and code > 128:
        number, code = code - 128, None
    return Down(
        session_id=session.session_id,
        at=time.time(),
        code=code,
        signal=number,
        reason=session.reason or "exited",
        last_words=words,
    )
