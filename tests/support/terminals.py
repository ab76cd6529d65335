"""Terminals of ours with a shell or any script in them, and an ear that keeps what it hears."""

import asyncio
import contextlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from quarterdeck.core.engine.session_messages import Down, News, Send, Start
from quarterdeck.core.model.decisions import Decision
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import Asked, Kit, Running
from quarterdeck.sessions.pty.host_connection import HostViewer
from quarterdeck.sessions.pty.launcher import PtyWay

T = TypeVar("T")


class Heard:
    """An ear that keeps everything."""

    def __init__(self) -> None:
        self.news: list[News] = []
        self.streams: list[tuple[str, str, Any]] = []

    def tell(self, news: News) -> None:
        self.news.append(news)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        self.streams.append((session_id, kind, data))

    async def ask(self, asked: Asked) -> Decision:
        raise AssertionError("a terminal asks nobody")

    def downs(self, session_id: str) -> list[Down]:
        return [news for news in self.news if isinstance(news, Down) and news.session_id == session_id]


async def eventually(found: Callable[[], T], seconds: float = 10.0) -> T:
    """What it finds, once it finds something."""
    until = time.monotonic() + seconds
    while not (value := found()):
        if time.monotonic() > until:
            raise TimeoutError
        await asyncio.sleep(0.01)
    return value


class Seen:
    """What one who looks has seen."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.parts = 0

    def __call__(self, data: bytes) -> None:
        self.bytes += data
        self.parts += 1

    async def has(self, text: bytes, seconds: float = 10.0) -> bytes:
        """All that was seen, once this is among it."""
        try:
            await eventually(lambda: text in self.bytes, seconds)
        except TimeoutError:
            raise TimeoutError(f"no {text!r} in {bytes(self.bytes[-2000:])!r}") from None
        return bytes(self.bytes)


class Terminals:
    """A way to run terminals in a scratch folder."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.run = folder / "run"
        self.ear = Heard()
        self._settings = settings
        self.way = PtyWay(self.ear, self.run, **settings)

    def kit(self, extra: Mapping[str, str] | None = None) -> Kit:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "QUARTERDECK_TAG": "tag-1", "PS1": "$ "}
        return Kit(
            claude=Path("/nonexistent/claude"),
            config_dir=self.folder / ".claude",
            environment={**environment, "SHELL": shutil.which("bash") or "/bin/sh", **(extra or {})},
            hooks="",
            folder=self.run,
        )

    def script(self, text: str) -> str:
        """A program to run as the shell of a terminal."""
        program = self.folder / f"script-{uuid.uuid4().hex[:8]}"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o700)
        return str(program)

    async def start(self, script: str | None = None, session_id: str | None = None) -> Running:
        """A terminal with this script in it, or with a shell."""
        extra = {"SHELL": self.script(script)} if script is not None else None
        name = session_id or uuid.uuid4().hex
        start = Start(session_id=name, mode="pty", cwd=str(self.folder), by="test", at=time.time(), shell=True)
        return await self.way.launch(start, self.kit(extra))

    async def look(self, running: Running, cols: int = 80, rows: int = 24) -> tuple[HostViewer, Seen]:
        seen = Seen()
        return await self.way.view(running.session_id, cols, rows, seen), seen

    async def send(self, running: Running, prompt: str) -> None:
        message = Send(session_id=running.session_id, message_id="m1", prompt=prompt, by="test", at=time.time())
        await self.way.send(message)

    async def down(self, running: Running, seconds: float = 15.0) -> Down:
        """How it ended."""
        return (await eventually(lambda: self.ear.downs(running.session_id), seconds))[0]

    def files(self) -> list[str]:
        return sorted(os.listdir(self.run)) if self.run.exists() else []

    def host(self) -> int:
        """The pid of the only host."""
        (note,) = self.run.glob("*.json")
        return int(json.loads(note.read_text())["host"][0])

    async def close(self) -> None:
        """End all that runs."""
        for running in list(self.way._sessions):
            with contextlib.suppress(Refused):
                await self.way.end(running)
        await self.way.close()
