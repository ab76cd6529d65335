"""The terminals that one connection looks at: what they show goes out at the pace of whoever reads."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from msgspec import Meta, Struct

from quarterdeck.api.backend import Desk, Viewer
from quarterdeck.api.http.errors import ApiError
from quarterdeck.core.model.payload import ID
from quarterdeck.core.model.state import Session
from quarterdeck.errors import Refused
from quarterdeck.wire import write_json

CHUNK = 64 * 1024
MOST_UNSENT = 256 * 1024
"""Who has not read so much is shown nothing more before that, and then the screen as it is."""
LOOK_SECONDS = 0.25
COLS, ROWS = 120, 40
MOST_TYPED = 64 * 1024

Id = Annotated[str, Meta(pattern=rf"^{ID.pattern}\Z")]
Size = Annotated[int, Meta(ge=2, le=1000)]


class TerminalInput(Struct, kw_only=True, forbid_unknown_fields=True):
    """What was typed, in base64."""

    session_id: Id
    data: Annotated[str, Meta(max_length=MOST_TYPED)]


class TerminalResize(Struct, kw_only=True, forbid_unknown_fields=True):
    session_id: Id
    cols: Size
    rows: Size


class Terminals:
    """Looks at the terminals of the sessions whose streams a connection asked for."""

    def __init__(self, desk: Desk, say: Callable[[list[bytes]], Awaitable[None]]) -> None:
        self._desk = desk
        self._say = say
        self._looks: dict[str, _Look] = {}

    async def follow(self, session_id: str) -> None:
        """Show it whenever there is something to show, until cancelled."""
        look = self._looks[session_id] = _Look()
        try:
            while True:
                session = self._desk.session(session_id)
                if session is not None and _has_terminal(session):
                    with contextlib.suppress(Refused):
                        await self._show(session, look)
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            del self._looks[session_id]

    async def _show(self, session: Session, look: _Look) -> None:
        """From how it is now until it ends."""
        look.clear()
        viewer = await self._desk.crew.view(session, look.cols, look.rows, look.seen)
        look.viewer = viewer
        try:
            await self._say([_message(session.session_id, "reset", "")])
            while self._is_still(session):
                data = await look.take()
                if data:
                    await self._say([_message(session.session_id, "terminal", base64.b64encode(data).decode())])
        finally:
            look.viewer = None
            with contextlib.suppress(Refused, OSError):
                await viewer.close()

    def _is_still(self, session: Session) -> bool:
        """Whether it is the terminal that was opened, and not one the session got since."""
        now = self._desk.session(session.session_id)
        return (
            now is not None
            and _has_terminal(now)
            and now.ours is not None
            and session.ours is not None
            and now.ours.launched_at == session.ours.launched_at
        )

    async def write(self, typed: TerminalInput) -> None:
        """Type into a terminal that this connection looks at."""
        try:
            data = base64.b64decode(typed.data, validate=True)
        except ValueError:
            raise ApiError(422, "invalid", "data: is not base64", field="data") from None
        await self._act(typed.session_id, lambda viewer: viewer.write(data))

    async def resize(self, size: TerminalResize) -> None:
        """Say how large the place is where it is shown."""
        look = self._looks.get(size.session_id)
        if look is not None:
            look.cols, look.rows = size.cols, size.rows
        await self._act(size.session_id, lambda viewer: viewer.resize(size.cols, size.rows))

    async def _act(self, session_id: str, act: Callable[[Viewer], Awaitable[None]]) -> None:
        look = self._looks.get(session_id)
        if look is None or look.viewer is None:
            said = f"{session_id}: its terminal is not shown here; ask for the topic streams:{session_id}"
            raise ApiError(409, "no_terminal", said)
        try:
            await act(look.viewer)
        except (Refused, OSError) as error:
            raise ApiError(409, "no_terminal", str(error)) from None


class _Look:
    """What a terminal has shown and this connection has not sent."""

    def __init__(self) -> None:
        self.cols, self.rows = COLS, ROWS
        self.viewer: Viewer | None = None
        self._is_paused = False
        self._unsent = bytearray()
        self._news = asyncio.Event()

    def clear(self) -> None:
        self._unsent.clear()
        self._is_paused = False

    def seen(self, data: bytes) -> None:
        self._unsent += data
        self._news.set()
        self._pause(len(self._unsent) > MOST_UNSENT)

    def _pause(self, paused: bool) -> None:
        if self.viewer is not None and paused != self._is_paused:
            self._is_paused = paused
            if paused:
                self.viewer.pause()
            else:
                self.viewer.resume()

    async def take(self) -> bytes:
        """The next piece, or nothing when nothing comes for a while."""
        if not self._unsent:
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._news.wait()
        data = bytes(self._unsent[:CHUNK])
        del self._unsent[: len(data)]
        self._pause(bool(self._unsent) and self._is_paused)
        return data


def _has_terminal(session: Session) -> bool:
    return session.mode in ("pty", "tmux") and session.runs_here


def _message(session_id: str, kind: str, data: Any) -> bytes:
    return write_json({"type": "stream", "session_id": session_id, "kind": kind, "data": data})
