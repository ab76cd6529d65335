"""Sessions over the SDK with the real Claude Code: who hears them, and what they are started with."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from quarterdeck.core.engine.session_messages import Down, News, Noted, Send, Start, TurnEnded
from quarterdeck.core.model.decisions import Allow, Decision
from quarterdeck.drivers.claude.sdk_launcher import SdkWay
from quarterdeck.sessions.launcher import Asked, Kit, Running, Way
from tests.support.claude import ClaudeHome
from tests.support.connected import processes_in

N = TypeVar("N", bound=News)
SECONDS = 20.0


class Hearing:
    """Keeps all that is told, and decides as the test says."""

    def __init__(self) -> None:
        self.news: list[News] = []
        self.streams: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[Asked] = []
        self.given_up: list[Asked] = []
        self.decide: Callable[[Asked], Decision | Awaitable[Decision]] = lambda asked: Allow()

    def tell(self, news: News) -> None:
        self.news.append(news)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        self.streams.append((kind, data))

    async def ask(self, asked: Asked) -> Decision:
        self.asked.append(asked)
        try:
            decision = self.decide(asked)
            return await decision if isinstance(decision, Awaitable) else decision
        except asyncio.CancelledError:
            self.given_up.append(asked)
            raise

    def of(self, kind: type[N], session_id: str = "") -> list[N]:
        """The news of a kind, of one session or of all."""
        return [one for one in self.news if isinstance(one, kind) and session_id in ("", one.session_id)]

    def noted(self, name: str) -> list[dict[str, Any]]:
        return [one.body for one in self.of(Noted) if one.name == name]

    def text(self) -> str:
        return "".join(data.get("text", "") for kind, data in self.streams if kind == "text")

    async def until(self, true: Callable[[], object], seconds: float = SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, f"not within {seconds} s; {self.news[-3:]}"
            await asyncio.sleep(0.01)


async def for_ever(asked: Asked) -> Decision:
    """Nobody decides."""
    await asyncio.Event().wait()
    raise AssertionError


class Deck:
    """One way to run sessions in one home."""

    def __init__(self, home: ClaudeHome, **options: Any) -> None:
        self.home, self.ear = home, Hearing()
        self.way: Way = SdkWay(self.ear, **options)
        self.folder = home.path / "run"
        self.folder.mkdir(mode=0o700, exist_ok=True)

    @property
    def processes(self) -> dict[int, str]:
        """What runs in this home."""
        return processes_in(self.home.path.parent)

    def kit(self, hooks: str = "") -> Kit:
        environment = {**self.home.env, "QUARTERDECK_TAG": "tag-1"}
        return Kit(
            claude=self.home.cli,
            config_dir=self.home.config,
            environment=environment,
            hooks=hooks,
            folder=self.folder,
        )

    async def launch(self, hooks: str = "", **start: Any) -> Running:
        start = {"session_id": str(uuid.uuid4()), "cwd": str(self.home.project), **start}
        return await self.way.launch(Start(mode="sdk", by="user", at=time.time(), **start), self.kit(hooks))

    async def send(self, session_id: str, prompt: str, *attachments: dict[str, Any]) -> str:
        message_id = uuid.uuid4().hex
        await self.way.send(
            Send(
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
        """How the turn of this prompt ended."""
        before = len(self.ear.of(TurnEnded))
        await self.send(session_id, prompt, *attachments)
        return await self.ended(before + 1)

    async def ended(self, turns: int) -> dict[str, Any]:
        await self.ear.until(lambda: len(self.ear.of(TurnEnded)) >= turns)
        return self.ear.of(TurnEnded)[turns - 1].result

    async def down(self, session_id: str, seconds: float = SECONDS) -> Down:
        await self.ear.until(lambda: self.ear.of(Down, session_id), seconds)
        return self.ear.of(Down, session_id)[0]
