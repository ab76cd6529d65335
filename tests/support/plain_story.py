"""Plain mode over a recorded daemon and a settable clock, for tests that tell a story."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from quarterdeck import __version__
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.errors import Refused
from quarterdeck.surfaces.client.live import Connected, LiveMessage, Lost
from quarterdeck.surfaces.plain.terminal_io import create_app
from tests.support.recorded_daemon import Json, RecordedDaemon, connected, live_message, snapshot

RULE: Json = {"effect": None, "rules": [], "reasons": [], "patterns": [], "trust": None}
SIMULATION: Json = {"seen": 9, "decided": 2, "left": 0, "surprises": [], "examples": []}


class DecidingDaemon(RecordedDaemon):
    """A recorded daemon that accepts decisions, keeps them, and serves the details that were set."""

    def __init__(self, answers: dict[str, Json]) -> None:
        super().__init__([], answers)
        self.decided: list[tuple[str, Json]] = []
        self.whole: dict[str, Json] = {}
        self.refusal = ""
        self.read: asyncio.Queue[str] = asyncio.Queue()

    async def get(self, path: str, /, **query: Any) -> Json:
        self.read.put_nowait(path)
        return await super().get(path, **query)

    async def request(self, request_id: str) -> Json:
        if request_id not in self.whole:
            raise Refused("no such request")
        return self.whole[request_id]

    async def decide(self, request: Json, **body: Any) -> Json:
        if self.refusal:
            raise Refused(self.refusal)
        named = {name: value for name, value in body.items() if value is not None}
        self.decided.append((request["request_id"], {"digest": request["digest"], **named}))
        return {}

    async def decide_many(self, decisions: list[Json]) -> list[Json]:
        self.decided += [(one["request_id"], one) for one in decisions]
        return [{"ok": True, "request_id": one["request_id"]} for one in decisions]


class PlainStory:
    """One plain-mode app. `at` is its clock; printed lines are kept."""

    def __init__(self, *sessions: Json, answers: dict[str, Json] | None = None) -> None:
        self.at = 100.0
        self.bells = 0
        self.printed: list[str] = []
        self.daemon = DecidingDaemon({"/rules/simulate": SIMULATION, **(answers or {})})
        self._typed: deque[str | Callable[[], None]] = deque()
        self.app = create_app(self.daemon, self._type_line, self._say, self._ring, lambda: self.at)
        self.receives(connected(__version__), snapshot(sessions=list(sessions)))
        self.printed.clear()

    def _say(self, words: str) -> None:
        assert not UNSEEN.search(words.replace("\n", "")), words
        self.printed += words.split("\n")

    def _ring(self) -> None:
        self.bells += 1

    async def _type_line(self) -> str | None:
        while self._typed and not isinstance(self._typed[0], str):
            meanwhile = self._typed.popleft()
            assert callable(meanwhile)
            meanwhile()
        typed = self._typed.popleft() if self._typed else None
        assert typed is None or isinstance(typed, str)
        return typed

    def receives(self, *messages: Connected | Lost | LiveMessage) -> None:
        for one in messages:
            self.app.receive(one)

    def gets_request(self, view: Json, *, seconds: float = 1.0, **whole: Any) -> None:
        """Let a request arrive, and some time pass."""
        self.daemon.whole[view["request_id"]] = {**view, "rule": RULE, **whole}
        self.receives(live_message("request", view))
        self.at += seconds

    async def types(self, command: str, *then: str | Callable[[], None]) -> list[str]:
        """Type a command and the answers to its prompts (or what happens meanwhile). Returns the printed lines."""
        before = len(self.printed)
        self._typed.extend(then)
        await self.app.run_command(command)
        assert not self._typed, f"not asked for: {list(self._typed)}; said {self.printed[before:]}"
        return self.printed[before:]

    @property
    def text(self) -> str:
        return "\n".join(self.printed)
