"""Sessions in the daemon's own terminals: each has a small host process that outlives the daemon and is found again."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from quarterdeck.core.engine.session_messages import AgentExited, SendPrompt, StartSession
from quarterdeck.errors import Refused
from quarterdeck.sessions.environment import COLOURS
from quarterdeck.sessions.host.frames import (
    ACKNOWLEDGED,
    ANSWER,
    INTERRUPT,
    PROMPT,
    STATE,
    STOP,
    frame,
    json_frame,
    read_json_body,
)
from quarterdeck.sessions.host.input_line import typed_prompt
from quarterdeck.sessions.launcher import LaunchSpec, RunningAgent, SessionListener
from quarterdeck.sessions.pty.host_connection import HostConnection, HostViewer
from quarterdeck.sessions.pty.host_registry import (
    HostRecord,
    connect,
    kill_host,
    parse_record,
    read_records,
    remove_files,
    runs,
)
from quarterdeck.sessions.pty.screen_text import SCREEN_BYTES, screen_text
from quarterdeck.sessions.pty.start import TERM, check_start, find_program, host_settings, start_host, wait_for_host

COLS, ROWS = 120, 40
# Longer than the host and its supervisor take to interrupt, terminate and kill.
END_SECONDS = 8.0
SCREEN_SECONDS = 5.0
REAP_SECONDS = 5.0
# How long a host keeps the end of its program for a daemon that is being upgraded or was killed.
GRACE_SECONDS = 3600.0
LOST = "the session's terminal was lost"


class PtySession:
    """A running terminal and the connection to its host. `known` is set when the host has sent its first state, `ended`
    when the terminal has ended."""

    def __init__(self, record: HostRecord) -> None:
        self.record = record
        self.link: HostConnection | None = None
        self.answers: dict[str, asyncio.Future[str | None]] = {}
        self.known, self.ended = asyncio.Event(), asyncio.Event()

    @property
    def running(self) -> RunningAgent:
        session_id = self.record.session_id
        return RunningAgent(
            session_id=session_id, process=self.record.child, terminal=f"quarterdeck attach {session_id}"
        )

    async def send(self, data: bytes) -> None:
        if self.link is None:
            raise Refused("the terminal has ended; resume the session first")
        await self.link.send(data)


class PtyLauncher:
    """Runs sessions in pseudo-terminals. The records of their hosts are in `folder`, which is also every spec's."""

    def __init__(
        self,
        listener: SessionListener,
        folder: Path,
        *,
        shell: str | None = None,
        cols: int = COLS,
        rows: int = ROWS,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._listener, self._folder, self._shell = listener, folder, shell
        self._cols, self._rows, self._grace_seconds = cols, rows, grace_seconds
        self._sessions: dict[str, PtySession] = {}
        self._launching: set[str] = set()
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._ids = itertools.count(1)

    async def launch(self, start: StartSession, spec: LaunchSpec) -> RunningAgent:
        check_start(start)
        shell = self._shell or spec.environment.get("SHELL") or "/bin/sh"
        program = find_program(
            shell if start.shell else str(spec.program), spec, "pty.shell" if start.shell else f"{spec.agent}.path"
        )
        if start.session_id in self._sessions or start.session_id in self._launching:
            raise Refused(f"{start.session_id} is already running; send it a prompt, or end it first")
        self._launching.add(start.session_id)
        try:
            await self._wait_until_closed(start.session_id)
            settings = host_settings(start, spec, program, (self._cols, self._rows), self._grace_seconds)
            environment = {"TERM": TERM, **COLOURS, **spec.environment}
            session = PtySession(await asyncio.to_thread(start_host, settings, environment))
            await self._attach(session, spec.folder)
        finally:
            self._launching.discard(start.session_id)
        return session.running

    async def _attach(self, session: PtySession, folder: Path) -> None:
        """Connect to its host; its end is reported once."""
        connection = await connect(folder, session.record)
        self._sessions[session.record.session_id] = session

        def receive(letter: bytes, body: bytes) -> None:
            self._receive(session, letter, body)

        session.link = await HostConnection.connect(connection, receive, lambda: self._on_lost(session))
        await session.known.wait()

    def _receive(self, session: PtySession, letter: bytes, body: bytes) -> None:
        if letter == ANSWER:
            answer = read_json_body(body)
            waiting = session.answers.pop(str(answer.get("id")), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer.get("error"))
        elif letter == STATE:
            record = parse_record(session.record.name, read_json_body(body))
            if record is not None and record.host == session.record.host:
                self._update(session, record)

    def _update(self, session: PtySession, record: HostRecord) -> None:
        before, session.record = session.record, record
        session.known.set()
        if record.ended is not None and not session.ended.is_set():
            self._report_end(session, record.ended)
        elif (record.cols, record.rows) != (before.cols, before.rows):
            self._listener.stream(record.session_id, "terminal.size", {"cols": record.cols, "rows": record.rows})

    def _on_lost(self, session: PtySession) -> None:
        """The connection has ended. Unless the launcher closed it, the host died."""
        session.link = None
        session.known.set()
        for waiting in session.answers.values():
            if not waiting.done():
                waiting.set_result("the terminal has ended")
        if self._sessions.get(session.record.session_id) is session and not session.ended.is_set():
            self._report_end(session, {"reason": LOST})

    def _report_end(self, session: PtySession, ended: dict[str, Any]) -> None:
        session_id = session.record.session_id
        self._sessions.pop(session_id, None)
        session.ended.set()
        self._listener.report(_exit_report(session_id, ended))
        task = self._closing[session_id] = asyncio.get_running_loop().create_task(self._close_host(session))
        task.add_done_callback(lambda _: self._closing.pop(session_id, None))

    async def _close_host(self, session: PtySession) -> None:
        """Acknowledge the end, so that the host exits, and wait for that."""
        with contextlib.suppress(Refused):
            await session.send(frame(ACKNOWLEDGED))
        await asyncio.to_thread(wait_for_host, session.record.host, REAP_SECONDS)
        if session.link is not None:
            session.link.close()

    async def _wait_until_closed(self, session_id: str) -> None:
        if task := self._closing.get(session_id):
            await asyncio.shield(task)

    async def send(self, send: SendPrompt) -> bool:
        if send.attachments:
            raise Refused("a terminal takes text only; send it without attachments, or use mode sdk")
        try:
            text = typed_prompt(send.prompt)
        except ValueError as error:
            raise Refused(str(error)) from None
        session = self._session(send.session_id)
        name = str(next(self._ids))
        answer = session.answers[name] = asyncio.get_running_loop().create_future()
        try:
            await session.send(json_frame(PROMPT, {"id": name, "text": text.decode()}))
            refusal = await answer
        finally:
            session.answers.pop(name, None)
        if refusal:
            raise Refused(refusal)
        return True

    async def interrupt(self, session_id: str) -> None:
        await self._session(session_id).send(frame(INTERRUPT))

    async def reconfigure(self, session_id: str, model: str | None, permission_mode: str | None) -> None:
        self._session(session_id)
        raise Refused("the model and permission mode of a terminal are changed with its own keys; attach to it")

    async def cancel_launch(self, session_id: str) -> None:
        """Do nothing: a terminal starts at once, or not at all."""

    async def end(self, session_id: str) -> None:
        session = self._session(session_id)
        await session.send(frame(STOP))
        try:
            async with asyncio.timeout(END_SECONDS):
                await session.ended.wait()
        except TimeoutError:
            kill_host(session.record)
        await self._wait_until_closed(session_id)

    async def adopt(self, expected: Sequence[str]) -> list[RunningAgent]:
        """The sessions whose hosts run. The end of the others is reported, and their files are removed."""
        found = []
        for one in await asyncio.to_thread(lambda: list(read_records(self._folder))):
            known = self._sessions.get(one.session_id)
            if known is None and await self._adopt(one, one.session_id in expected):
                known = self._sessions.get(one.session_id)
            if known is not None and one.session_id in expected:
                found.append(known.running)
        return found

    async def _adopt(self, record: HostRecord, expected: bool) -> bool:
        """Attach to a host; True if it runs and answers. A session that is not expected keeps running on its own."""
        if not runs(record.host):
            remove_files(self._folder, record.name)
            if expected:
                self._listener.report(_exit_report(record.session_id, {"reason": LOST}))
            return False
        if not expected:
            return False
        session = PtySession(record)
        try:
            await self._attach(session, self._folder)
        except Refused:
            return False
        return True

    async def view(self, session_id: str, cols: int, rows: int, on_output: Callable[[bytes], None]) -> HostViewer:
        session = self._session(session_id)
        return await HostViewer.open(await connect(self._folder, session.record), (cols, rows), on_output)

    async def screen(self, session_id: str) -> str:
        session = self._session(session_id)
        shown = bytearray()
        complete = asyncio.Event()
        connection = await connect(self._folder, session.record)
        viewer = await HostViewer.open(connection, (0, 0), shown.extend, complete.set, complete.set)
        try:
            async with asyncio.timeout(SCREEN_SECONDS):
                await complete.wait()
        except TimeoutError:
            raise Refused("the terminal is not responding; try again") from None
        finally:
            await viewer.close()
        size = session.record.cols, session.record.rows
        return await asyncio.to_thread(screen_text, bytes(shown[-SCREEN_BYTES:]), *size)

    async def close(self, *, restarts: bool = False) -> None:
        """Disconnect from the terminals; they continue."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            if session.link is not None:
                session.link.close()
        await asyncio.gather(*self._closing.values(), return_exceptions=True)

    def _session(self, session_id: str) -> PtySession:
        session = self._sessions.get(session_id)
        if session is None:
            raise Refused(f"{session_id} has no running terminal here; start or resume it")
        return session


def _exit_report(session_id: str, ended: dict[str, Any]) -> AgentExited:
    code, number = ended.get("code"), ended.get("signal")
    return AgentExited(
        session_id=session_id,
        at=time.time(),
        code=code if isinstance(code, int) else None,
        signal=number if isinstance(number, int) else None,
        reason=str(ended.get("reason")),
        last_words=str(ended.get("last_words", "")),
    )
