"""Sessions in terminals of our own: each lives in a small process that goes on without us and is found again."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from quarterdeck.core.engine.session_messages import Down, Send, Start
from quarterdeck.errors import Refused
from quarterdeck.sessions.host import supervisor as keeper
from quarterdeck.sessions.host.frames import ANSWER, INTERRUPT, PROMPT, STATE, STOP, TAKEN, frame, note, read_note
from quarterdeck.sessions.host.input_line import typed_prompt
from quarterdeck.sessions.launcher import Ear, Kit, Running
from quarterdeck.sessions.pty.host_connection import HostViewer, Link
from quarterdeck.sessions.pty.host_registry import Note, connect, read_notes, read_state, runs, sweep
from quarterdeck.sessions.pty.screen_text import SCREEN_BYTES, text_on
from quarterdeck.sessions.pty.start import check, find, host_settings, reap, start_host

COLS, ROWS = 120, 40
END_SECONDS = 8.0
LOOK_SECONDS = 5.0
REAP_SECONDS = 5.0
GRACE_SECONDS = 3600.0
LOST = "its terminal was lost"


class PtySession:
    """A terminal that runs, and our connection to its host. `known` is set when it has said how it is, `ended` when it
    has ended."""

    def __init__(self, note: Note) -> None:
        self.note = note
        self.link: Link | None = None
        self.answers: dict[str, asyncio.Future[str | None]] = {}
        self.known, self.ended = asyncio.Event(), asyncio.Event()

    @property
    def running(self) -> Running:
        session_id = self.note.session_id
        return Running(session_id=session_id, process=self.note.child, terminal=f"quarterdeck attach {session_id}")

    async def tell(self, words: bytes) -> None:
        if self.link is None:
            raise Refused("the terminal has ended")
        await self.link.send(words)


class PtyWay:
    """Runs sessions in pseudo-terminals. The notes of their hosts are in `folder`, as in every kit's."""

    def __init__(
        self,
        ear: Ear,
        folder: Path,
        *,
        shell: str | None = None,
        cols: int = COLS,
        rows: int = ROWS,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._ear, self._folder, self._shell = ear, folder, shell
        self._cols, self._rows, self._grace_seconds = cols, rows, grace_seconds
        self._sessions: dict[str, PtySession] = {}
        self._launching: set[str] = set()
        self._burying: dict[str, asyncio.Task[None]] = {}
        self._ids = itertools.count(1)

    async def launch(self, start: Start, kit: Kit) -> Running:
        check(start)
        shell = self._shell or kit.environment.get("SHELL") or "/bin/sh"
        program = find(shell if start.shell else str(kit.claude), kit, "pty.shell" if start.shell else "claude.path")
        if start.session_id in self._sessions or start.session_id in self._launching:
            raise Refused(f"{start.session_id} runs already; send it a prompt, or end it first")
        self._launching.add(start.session_id)
        try:
            await self._is_buried(start.session_id)
            settings = host_settings(start, kit, program, (self._cols, self._rows), self._grace_seconds)
            session = PtySession(await asyncio.to_thread(start_host, kit, settings))
            await self._take(session, kit.folder)
        finally:
            self._launching.discard(start.session_id)
        return session.running

    async def _take(self, session: PtySession, folder: Path) -> None:
        """Speak to its host from now on; its end is told once."""
        connection = await connect(folder, session.note)
        self._sessions[session.note.session_id] = session

        def hear(letter: bytes, body: bytes) -> None:
            self._hear(session, letter, body)

        session.link = await Link.over(connection, hear, lambda: self._lost(session))
        await session.known.wait()

    def _hear(self, session: PtySession, letter: bytes, body: bytes) -> None:
        if letter == ANSWER:
            said = read_note(body)
            waiting = session.answers.pop(str(said.get("id")), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(said.get("error"))
        elif letter == STATE:
            found = read_state(session.note.name, read_note(body))
            if found is not None and found.host == session.note.host:
                self._state(session, found)

    def _state(self, session: PtySession, found: Note) -> None:
        before, session.note = session.note, found
        session.known.set()
        if found.ended is not None and not session.ended.is_set():
            self._down(session, found.ended)
        elif (found.cols, found.rows) != (before.cols, before.rows):
            self._ear.stream(found.session_id, "terminal.size", {"cols": found.cols, "rows": found.rows})

    def _lost(self, session: PtySession) -> None:
        """The host is gone. If it was not we who left, it died."""
        session.link = None
        session.known.set()
        for waiting in session.answers.values():
            if not waiting.done():
                waiting.set_result("the terminal has ended")
        if self._sessions.get(session.note.session_id) is session and not session.ended.is_set():
            self._down(session, {"reason": LOST})

    def _down(self, session: PtySession, ended: dict[str, Any]) -> None:
        session_id = session.note.session_id
        self._sessions.pop(session_id, None)
        session.ended.set()
        self._ear.tell(_down(session_id, ended))
        task = self._burying[session_id] = asyncio.get_running_loop().create_task(self._bury(session))
        task.add_done_callback(lambda _: self._burying.pop(session_id, None))

    async def _bury(self, session: PtySession) -> None:
        """Let the host go, and wait for it."""
        with contextlib.suppress(Refused):
            await session.tell(frame(TAKEN))
        await asyncio.to_thread(reap, session.note.host, REAP_SECONDS)
        if session.link is not None:
            session.link.close()

    async def _is_buried(self, session_id: str) -> None:
        if task := self._burying.get(session_id):
            await asyncio.shield(task)

    async def send(self, send: Send) -> bool:
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
            await session.tell(note(PROMPT, {"id": name, "text": text.decode()}))
            refusal = await answer
        finally:
            session.answers.pop(name, None)
        if refusal:
            raise Refused(refusal)
        return True

    async def interrupt(self, session_id: str) -> None:
        await self._session(session_id).tell(frame(INTERRUPT))

    async def change(self, session_id: str, model: str | None, permission_mode: str | None) -> None:
        self._session(session_id)
        raise Refused("in a terminal model and permission mode are changed at its keys; attach to it")

    async def give_up(self, session_id: str) -> None:
        """A terminal is there at once, or not at all."""

    async def end(self, session_id: str) -> None:
        session = self._session(session_id)
        await session.tell(frame(STOP))
        try:
            async with asyncio.timeout(END_SECONDS):
                await session.ended.wait()
        except TimeoutError:
            _kill(session.note)
        await self._is_buried(session_id)

    async def adopt(self, expected: Sequence[str]) -> list[Running]:
        """Those whose hosts run. Of the others what is known of their end is told, and their files are removed."""
        found = []
        for one in await asyncio.to_thread(lambda: list(read_notes(self._folder))):
            known = self._sessions.get(one.session_id)
            if known is None and await self._adopt(one, one.session_id in expected):
                known = self._sessions.get(one.session_id)
            if known is not None and one.session_id in expected:
                found.append(known.running)
        return found

    async def _adopt(self, found: Note, expected: bool) -> bool:
        """Whether its host runs and speaks to us. A session that nobody expects goes on without us."""
        if not runs(found.host):
            sweep(self._folder, found.name)
            if expected:
                self._ear.tell(_down(found.session_id, {"reason": LOST}))
            return False
        if not expected:
            return False
        session = PtySession(found)
        try:
            await self._take(session, self._folder)
        except Refused:
            return False
        return True

    async def view(self, session_id: str, cols: int, rows: int, seen: Callable[[bytes], None]) -> HostViewer:
        session = self._session(session_id)
        return await HostViewer(seen).open(await connect(self._folder, session.note), cols, rows)

    async def screen(self, session_id: str) -> str:
        session = self._session(session_id)
        shown = bytearray()
        all_there = asyncio.Event()
        viewer = HostViewer(shown.extend, lost=all_there.set, whole=all_there.set)
        try:
            await viewer.open(await connect(self._folder, session.note), 0, 0)
            async with asyncio.timeout(LOOK_SECONDS):
                await all_there.wait()
        except TimeoutError:
            raise Refused("the terminal does not answer; try again") from None
        finally:
            await viewer.close()
        size = session.note.cols, session.note.rows
        return await asyncio.to_thread(text_on, bytes(shown[-SCREEN_BYTES:]), *size)

    async def close(self) -> None:
        """Leave the terminals; they go on."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            if session.link is not None:
                session.link.close()
        await asyncio.gather(*self._burying.values(), return_exceptions=True)

    def _session(self, session_id: str) -> PtySession:
        session = self._sessions.get(session_id)
        if session is None:
            raise Refused(f"{session_id} has no terminal here that runs; start or resume it")
        return session


def _down(session_id: str, ended: dict[str, Any]) -> Down:
    code, number = ended.get("code"), ended.get("signal")
    return Down(
        session_id=session_id,
        at=time.time(),
        code=code if isinstance(code, int) else None,
        signal=number if isinstance(number, int) else None,
        reason=str(ended.get("reason")),
        last_words=str(ended.get("last_words", "")),
    )


def _kill(found: Note) -> None:
    """The host itself, which its keeper takes for the end of everything."""
    if keeper.HAS_PROC:
        keeper.send(keeper.Proc(found.host.pid, 0, found.host.start, ""), signal.SIGKILL)
