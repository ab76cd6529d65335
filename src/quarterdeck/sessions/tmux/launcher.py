"""Sessions in tmux: they outlive the daemon, are found again, and their end is reported once."""

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

from quarterdeck.core.engine.session_messages import AgentExited, CommandFailed, SendPrompt, StartSession
from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.environment import COLOURS
from quarterdeck.sessions.launcher import LaunchSpec, RunningAgent, SessionListener
from quarterdeck.sessions.pty.start import check_start
from quarterdeck.sessions.tmux.command import MAX_PROMPT, pane_command
from quarterdeck.sessions.tmux.server import SCROLLBACK_LINES, VIEWER_FLAG, Pane, TmuxServer
from quarterdeck.sessions.tmux.session import TmuxSession
from quarterdeck.sessions.tmux.viewer import TmuxViewer, attach
from quarterdeck.system.process_table import process_id
from quarterdeck.system.process_watch import ProcessWatch, agent_below

COLS, ROWS = 120, 40
AGENT_SECONDS = 10.0
END_SECONDS = 12.0
"""Longer than a supervisor takes: it gives its agent six seconds, and the rest one more."""

# tmux learns a moment after the process watch that a process has ended, and with which code.
SETTLE_SECONDS = 1.0
# Only for panes that a person removed, and ends that were missed: all others are noticed at once.
POLL_SECONDS = 10.0
FAST_POLL_SECONDS = 1.0
LAST_WORDS = 2000
SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
SERVER_GONE = "tmux ended"


class TmuxLauncher:
    """Runs sessions on a private tmux server at this socket, in a folder that only this user can open. It touches no
    other sessions or settings."""

    def __init__(
        self,
        listener: SessionListener,
        socket: Path,
        *,
        shell: str | None = None,
        cols: int = COLS,
        rows: int = ROWS,
        scrollback_lines: int = SCROLLBACK_LINES,
        program: str = "tmux",
    ) -> None:
        self._listener, self._shell, self._size = listener, shell, (cols, rows)
        self.server = TmuxServer(socket, program, scrollback_lines)
        self._sessions: dict[str, TmuxSession] = {}
        # A start sets options of the server for the session that comes next: no other may come between.
        self._launching = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._poller: asyncio.Task[None] | None = None
        self._server_watch: ProcessWatch | None = None

    async def launch(self, start: StartSession, spec: LaunchSpec) -> RunningAgent:
        _check(start)
        async with self._launching:
            if start.session_id in self._sessions:
                raise Refused(f"{start.session_id} is already running; send it a prompt, or end it first")
            pane = await self._create(start, spec)
            session = self._add_session(pane, await _wait_for_agent(pane))
        if start.prompt is not None and len(start.prompt.encode()) > MAX_PROMPT:
            self._run(self._first_prompt(session, start.prompt))
        return self._running(session)

    async def _create(self, start: StartSession, spec: LaunchSpec) -> Pane:
        argv = pane_command(start, spec, shell=self._shell)
        size = (start.cols or self._size[0], start.rows or self._size[1])
        env = {**COLOURS, **spec.environment}
        created = await self.server.create(start.session_id, argv, env=env, cwd=start.cwd, size=size)
        kind = "shell" if start.shell else "agent"
        pane = replace(created, config_dir=str(spec.config_dir), kind=kind, agent=spec.agent)
        try:
            await self.server.mark(pane)
        except BaseException:
            await self.server.forget(pane)
            raise
        return pane

    def _add_session(self, pane: Pane, agent: ProcessId | None) -> TmuxSession:
        session = TmuxSession(self.server, pane, agent, on_end=lambda session: self._run(self._close_session(session)))
        self._sessions[pane.session_id] = session
        self._watch_server(pane.server_pid)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll_panes())
        return session

    def _watch_server(self, pid: int) -> None:
        process = process_id(pid)
        if self._server_watch is None or self._server_watch.process != process:
            self._unwatch_server()
            self._server_watch = ProcessWatch(process, self._server_ended) if process else None

    def _server_ended(self) -> None:
        for session in self._sessions.values():
            self._run(self._close_session(session))

    def _unwatch_server(self) -> None:
        if self._server_watch is not None:
            self._server_watch.close()
        self._server_watch = None

    def _running(self, session: TmuxSession) -> RunningAgent:
        where = shlex.join(self.server.command_line("attach-session", "-t", session.pane.session))
        return RunningAgent(session_id=session.session_id, process=session.agent, terminal=where)

    async def _first_prompt(self, session: TmuxSession, prompt: str) -> None:
        """Type the first prompt, if it is too long for a command line."""
        try:
            await session.prompter.type(prompt)
        except Refused as refused:
            failed = CommandFailed(session_id=session.session_id, command="start", error=str(refused), at=time.time())
            self._listener.report(failed)

    async def send(self, send: SendPrompt) -> bool:
        if send.attachments:
            raise Refused("a terminal takes text only; send the prompt without attachments, or use mode sdk")
        session = self._session(send.session_id)
        if session.pane.kind == "shell":
            raise Refused("the session is a shell, which takes keys, not prompts; attach to it")
        await session.prompter.type(send.prompt)
        return True

    async def interrupt(self, session_id: str) -> None:
        """Press the key that stops it. Not for an idle agent: there the key means something else."""
        session = self._session(session_id)
        if session.pane.kind == "shell":
            await self.server.execute(("send-keys", "-t", session.pane.pane, "C-c"))
        elif session.status() != "idle":
            await session.prompter.interrupt()

    async def reconfigure(self, session_id: str, model: str | None, permission_mode: str | None) -> None:
        session = self._session(session_id)
        if permission_mode is not None:
            raise Refused("the permission mode of a terminal is changed there; attach to it and press shift+tab")
        if model is not None:
            await session.prompter.type(f"/model {model}")

    async def cancel_launch(self, session_id: str) -> None:
        """Do nothing: a terminal starts at once, or not at all."""

    async def end(self, session_id: str) -> None:
        session = self._session(session_id)
        session.reason = "ended"
        session.watch.send(signal.SIGTERM)
        try:
            async with asyncio.timeout(END_SECONDS):
                await session.ended.wait()
        except TimeoutError:
            session.watch.send(signal.SIGKILL)
            await self._close_session(session)

    async def adopt(self, expected: Sequence[str]) -> list[RunningAgent]:
        """The sessions that still run. The end of the others is reported; ended panes that are not expected are
        removed."""
        found: dict[str, Pane] = {}
        for pane in sorted(await self.server.panes(), key=lambda pane: not pane.kind):
            found.setdefault(pane.session_id, pane)
        running = []
        for pane in found.values():
            if pane.session_id in self._sessions:
                continue
            if pane.dead and pane.session_id not in expected:
                await self.server.forget(pane)
            elif pane.session_id in expected:
                session = self._add_session(pane, agent_below(pane.pid))
                if pane.dead:
                    await self._close_session(session)
                else:
                    running.append(self._running(session))
        return running

    async def close(self, *, restarts: bool = False) -> None:
        """Close the viewers and stop reporting; the sessions continue."""
        if self._poller is not None:
            self._poller.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for session in self._sessions.values():
            await session.release()
        self._sessions.clear()
        self._unwatch_server()
        self.server.close()

    async def view(self, session_id: str, cols: int, rows: int, on_output: Callable[[bytes], None]) -> TmuxViewer:
        session = self._session(session_id)
        words = self.server.command_line("attach-session", "-E", "-f", VIEWER_FLAG, "-t", session.pane.session)
        return session.add_viewer(await attach(words, cols, rows, on_output))

    async def screen(self, session_id: str) -> str:
        return await self.server.capture(self._session(session_id).pane.pane)

    def _session(self, session_id: str) -> TmuxSession:
        found = self._sessions.get(session_id)
        if found is None or found.ended.is_set():
            raise Refused(f"{session_id} is not running; resume it first")
        return found

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _close_session(self, session: TmuxSession) -> None:
        """Report its end, once, and remove its pane."""
        if session.closing:
            return
        session.closing = True
        pane = await self._final_pane(session)
        words = await self._last_words(pane)
        if pane is None and not (self._server_watch and self._server_watch.runs()):
            session.reason = session.reason or SERVER_GONE
        self._sessions.pop(session.session_id, None)
        self._listener.report(_exit_report(session, pane, words))
        await self.server.forget(session.pane)
        await session.release()
        if not self._sessions:
            self._unwatch_server()
        session.ended.set()

    async def _final_pane(self, session: TmuxSession) -> Pane | None:
        """Its pane once tmux knows how it ended; None if there is no pane any more."""
        pane = None
        until = time.monotonic() + SETTLE_SECONDS
        while True:
            with contextlib.suppress(Refused):
                pane = next((p for p in await self.server.panes() if p.pane == session.pane.pane), None)
                if pane is not None and pane.dead:
                    if (pane.code, pane.signal) != (None, None):
                        return pane
                    self._resend_sigchld()
                if pane is None and not session.watch.runs():
                    return None
            if time.monotonic() > until:
                return pane
            await asyncio.sleep(0.02)

    def _resend_sigchld(self) -> None:
        """Repeat SIGCHLD: tmux 3.3 may miss it, and then never reaps the child."""
        if self._server_watch is not None:
            self._server_watch.send(signal.SIGCHLD)

    async def _last_words(self, pane: Pane | None) -> str:
        with contextlib.suppress(Refused):
            return (await self.server.capture(pane.pane)).rstrip()[-LAST_WORDS:] if pane else ""
        return ""

    async def _poll_panes(self) -> None:
        while self._sessions:
            blind = any(session.watch.needs_polling for session in self._sessions.values())
            await asyncio.sleep(FAST_POLL_SECONDS if blind else POLL_SECONDS)
            await self.check_panes()

    async def check_panes(self) -> None:
        """Check all sessions by one call: a session whose pane was removed is ended, and an end that was not noticed
        is found. A server that runs but has lost its socket, as in a home that was renamed, says nothing of them."""
        runs = self._server_watch is not None and self._server_watch.runs()
        with contextlib.suppress(Refused):
            alive = {pane.pane for pane in await self.server.panes(is_running=runs) if not pane.dead}
            for session in [s for s in self._sessions.values() if s.pane.pane not in alive]:
                session.watch.send(signal.SIGTERM)
                if not session.watch.runs():
                    await self._close_session(session)


def _check(start: StartSession) -> None:
    check_start(start)
    if not SESSION_ID.fullmatch(start.session_id):
        raise Refused("a session id may have letters, digits, _ and - only")


async def _wait_for_agent(pane: Pane) -> ProcessId | None:
    """The agent's own process, once it has started."""
    until = time.monotonic() + AGENT_SECONDS
    while process_id(pane.pid) is not None:
        if found := agent_below(pane.pid):
            return found
        if time.monotonic() > until:
            break
        await asyncio.sleep(0.02)
    return None


def _exit_report(session: TmuxSession, pane: Pane | None, words: str) -> AgentExited:
    """The report of its end. A supervisor exits with 128 plus the signal that ended its agent."""
    code, number = (pane.code, pane.signal) if pane else (None, None)
    if code is not None and code > 128:
        number, code = code - 128, None
    return AgentExited(
        session_id=session.session_id,
        at=time.time(),
        code=code,
        signal=number,
        reason=session.reason or "exited",
        last_words=words,
    )
