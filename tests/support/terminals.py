"""Terminals with a shell or any script in them, and a listener that records their reports."""

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

from quarterdeck.core.engine.session_messages import AgentExited, SendPrompt, SessionReport, StartSession
from quarterdeck.core.model.decisions import Decision
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import LaunchSpec, PermissionQuery, RunningAgent
from quarterdeck.sessions.pty.host_connection import HostViewer
from quarterdeck.sessions.pty.launcher import PtyLauncher
from tests.support.daemon import PATIENCE_SECONDS

T = TypeVar("T")


class TerminalListener:
    """Records all reports and streams."""

    def __init__(self) -> None:
        self.reports: list[SessionReport] = []
        self.streams: list[tuple[str, str, Any]] = []

    def report(self, report: SessionReport) -> None:
        self.reports.append(report)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        self.streams.append((session_id, kind, data))

    async def ask_permission(self, query: PermissionQuery) -> Decision:
        raise AssertionError("a terminal asks for no permission")

    def exits(self, session_id: str) -> list[AgentExited]:
        return [
            report for report in self.reports if isinstance(report, AgentExited) and report.session_id == session_id
        ]


async def eventually(found: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """Wait for the first true value of `found`."""
    until = time.monotonic() + seconds
    while not (value := found()):
        if time.monotonic() > until:
            raise TimeoutError
        await asyncio.sleep(0.01)
    return value


class ViewerOutput:
    """The output that a viewer got."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.parts = 0

    def __call__(self, data: bytes) -> None:
        self.bytes += data
        self.parts += 1

    async def has(self, text: bytes, seconds: float = PATIENCE_SECONDS) -> bytes:
        """All output, once it contains this."""
        try:
            await eventually(lambda: text in self.bytes, seconds)
        except TimeoutError:
            raise TimeoutError(f"no {text!r} in {bytes(self.bytes[-2000:])!r}") from None
        return bytes(self.bytes)


class Terminals:
    """A launcher of terminals in a scratch folder."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.run = folder / "run"
        self.listener = TerminalListener()
        self._settings = settings
        self.launcher = PtyLauncher(self.listener, self.run, **settings)

    def spec(self, extra: Mapping[str, str] | None = None) -> LaunchSpec:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "QUARTERDECK_TAG": "tag-1", "PS1": "$ "}
        return LaunchSpec(
            agent="claude",
            program=Path("/nonexistent/claude"),
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

    async def start(self, script: str | None = None, session_id: str | None = None) -> RunningAgent:
        """Start a terminal with this script in it, or with a shell."""
        extra = {"SHELL": self.script(script)} if script is not None else None
        name = session_id or uuid.uuid4().hex
        start = StartSession(session_id=name, mode="pty", cwd=str(self.folder), by="test", at=time.time(), shell=True)
        return await self.launcher.launch(start, self.spec(extra))

    async def view(self, running: RunningAgent, cols: int = 80, rows: int = 24) -> tuple[HostViewer, ViewerOutput]:
        output = ViewerOutput()
        return await self.launcher.view(running.session_id, cols, rows, output), output

    async def send(self, running: RunningAgent, prompt: str) -> None:
        message = SendPrompt(session_id=running.session_id, message_id="m1", prompt=prompt, by="test", at=time.time())
        await self.launcher.send(message)

    async def exit(self, running: RunningAgent, seconds: float = PATIENCE_SECONDS) -> AgentExited:
        """The report of its end."""
        return (await eventually(lambda: self.listener.exits(running.session_id), seconds))[0]

    def files(self) -> list[str]:
        return sorted(os.listdir(self.run)) if self.run.exists() else []

    def host(self) -> int:
        """The pid of the only host."""
        (note,) = self.run.glob("*.json")
        return int(json.loads(note.read_text())["host"][0])

    async def close(self) -> None:
        """End all running terminals."""
        for running in list(self.launcher._sessions):
            with contextlib.suppress(Refused):
                await self.launcher.end(running)
        await self.launcher.close()
