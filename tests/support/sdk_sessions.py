"""Sessions over the SDK with the real Claude Code: a listener, and a home to start them in."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from quarterdeck.core.engine.session_messages import (
    AgentExited,
    AgentNote,
    SendPrompt,
    SessionReport,
    StartSession,
    TurnEnded,
)
from quarterdeck.core.model.decisions import Allow, Decision
from quarterdeck.drivers.claude.sdk_launcher import SdkLauncher
from quarterdeck.sessions.launcher import Launcher, LaunchSpec, PermissionQuery, RunningAgent
from tests.support.claude import ClaudeHome
from tests.support.connected_claude import processes_in
from tests.support.daemon import PATIENCE_SECONDS, POLL_SECONDS, POLLS

N = TypeVar("N", bound=SessionReport)


class DecidingListener:
    """Records all reports, and decides as the test says."""

    def __init__(self) -> None:
        self.reports: list[SessionReport] = []
        self.streams: list[tuple[str, dict[str, Any]]] = []
        self.queries: list[PermissionQuery] = []
        self.cancelled: list[PermissionQuery] = []
        self.decide: Callable[[PermissionQuery], Decision | Awaitable[Decision]] = lambda query: Allow()

    def report(self, report: SessionReport) -> None:
        self.reports.append(report)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        self.streams.append((kind, data))

    async def ask_permission(self, query: PermissionQuery) -> Decision:
        self.queries.append(query)
        try:
            decision = self.decide(query)
            return await decision if isinstance(decision, Awaitable) else decision
        except asyncio.CancelledError:
            self.cancelled.append(query)
            raise

    def of(self, kind: type[N], session_id: str = "") -> list[N]:
        """The reports of a kind, of one session or of all."""
        return [one for one in self.reports if isinstance(one, kind) and session_id in ("", one.session_id)]

    def noted(self, name: str) -> list[dict[str, Any]]:
        return [one.body for one in self.of(AgentNote) if one.name == name]

    def text(self) -> str:
        return "".join(data.get("text", "") for kind, data in self.streams if kind == "text")

    async def until(self, true: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, f"not within {seconds} s; {self.reports[-3:]}"
            await asyncio.sleep(0.01)

    async def soon(self, true: Callable[[], object]) -> None:
        """Wait for about two seconds, counted in turns of the event loop: a busy machine slows both."""
        for _ in range(2 * POLLS):
            if true():
                return
            await asyncio.sleep(POLL_SECONDS)
        raise AssertionError(f"not within {2 * POLLS} polls; {self.reports[-3:]}")


async def never_decide(query: PermissionQuery) -> Decision:
    """Wait forever for a decision."""
    await asyncio.Event().wait()
    raise AssertionError


class SdkHome:
    """A launcher of SDK sessions in one home."""

    def __init__(self, home: ClaudeHome, **options: Any) -> None:
        self.home, self.listener = home, DecidingListener()
        self.folder = home.path / "run"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.launcher: Launcher = SdkLauncher(self.listener, self.folder, **options)

    @property
    def processes(self) -> dict[int, str]:
        """The processes that run in this home."""
        return processes_in(self.home.path.parent)

    def spec(self, hooks: str = "") -> LaunchSpec:
        environment = {**self.home.env, "QUARTERDECK_TAG": "tag-1"}
        return LaunchSpec(
            agent="claude",
            program=self.home.cli,
            config_dir=self.home.config,
            environment=environment,
            hooks=hooks,
            folder=self.folder,
        )

    async def launch(self, hooks: str = "", **start: Any) -> RunningAgent:
        start = {"session_id": str(uuid.uuid4()), "cwd": str(self.home.project), **start}
        return await self.launcher.launch(
            StartSession(mode="sdk", by="user", at=time.time(), **start), self.spec(hooks)
        )

    async def send(self, session_id: str, prompt: str, *attachments: dict[str, Any]) -> str:
        message_id = uuid.uuid4().hex
        await self.launcher.send(
            SendPrompt(
                session_id=session_id,
                message_id=message_id,
                prompt=prompt,
                attachments=attachments,
                by="user",
                at=time.time(),
            )
        )
        return message_id

    async def turn(self, session_id: str, prompt: str, *attachments: dict[str, Any]) -> dict[str, Any]:
        """Send a prompt and return the result of its turn."""
        before = len(self.listener.of(TurnEnded))
        await self.send(session_id, prompt, *attachments)
        return await self.ended(before + 1)

    async def ended(self, turns: int) -> dict[str, Any]:
        await self.listener.until(lambda: len(self.listener.of(TurnEnded)) >= turns)
        return self.listener.of(TurnEnded)[turns - 1].result

    async def exit(self, session_id: str, seconds: float = PATIENCE_SECONDS) -> AgentExited:
        await self.listener.until(lambda: self.listener.of(AgentExited, session_id), seconds)
        return self.listener.of(AgentExited, session_id)[0]
