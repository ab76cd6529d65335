"""A person at the face that speaks in lines, over a daemon that was recorded and a clock that is set: for stories."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from quarterdeck import __version__
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.errors import Refused
from quarterdeck.surfaces.client.live import Connected, Lost, Message
from quarterdeck.surfaces.plain.terminal_io import face_on
from tests.support.tui import Json, RecordedTalk, connected, snapshot, told

RULE: Json = {"effect": None, "rules": [], "reasons": [], "patterns": [], "trust": None}
TRIED: Json = {"seen": 9, "decided": 2, "left": 0, "surprises": [], "examples": []}


class DecidedTalk(RecordedTalk):
    """Takes decisions, keeps what was decided, and shows requests whole as they were set."""

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


class Lines:
    """One face. `at` is its clock; what it says is kept line by line."""

    def __init__(self, *sessions: Json, answers: dict[str, Json] | None = None) -> None:
        self.at = 100.0
        self.rung = 0
        self.said: list[str] = []
        self.talk = DecidedTalk({"/rules/simulate": TRIED, **(answers or {})})
        self._typed: deque[str | Callable[[], None]] = deque()
        self.face = face_on(self.talk, self._type_line, self._say, self._ring, lambda: self.at)
        self.hears(connected(__version__), snapshot(sessions=list(sessions)))
        self.said.clear()

    def _say(self, words: str) -> None:
        assert not UNSEEN.search(words.replace("\n", "")), words
        self.said += words.split("\n")

    def _ring(self) -> None:
        self.rung += 1

    async def _type_line(self) -> str | None:
        while self._typed and not isinstance(self._typed[0], str):
            meanwhile = self._typed.popleft()
            assert callable(meanwhile)
            meanwhile()
        typed = self._typed.popleft() if self._typed else None
        assert typed is None or isinstance(typed, str)
        return typed

    def hears(self, *messages: Connected | Lost | Message) -> None:
        for one in messages:
            self.face.hear(one)

    def asked(self, view: Json, *, seconds: float = 1.0, **whole: Any) -> None:
        """A request comes, and some time passes."""
        self.talk.whole[view["request_id"]] = {**view, "rule": RULE, **whole}
        self.hears(told("request", view))
        self.at += seconds

    async def types(self, order: str, *then: str | Callable[[], None]) -> list[str]:
        """An order, and what is answered to its questions or happens meanwhile; gives what was said since."""
        before = len(self.said)
        self._typed.extend(then)
        await self.face.order(order)
        assert not self._typed, f"not asked for: {list(self._typed)}; said {self.said[before:]}"
        return self.said[before:]

    @property
    def text(self) -> str:
        return "\n".join(self.said)
