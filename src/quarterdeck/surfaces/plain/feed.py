"""What happened, in sentences: the last of it, or as it happens."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from quarterdeck.core.model.events import HIDDEN, OWN
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.terminal.session_lookup import session_named
from quarterdeck.surfaces.terminal.session_names import Name

if TYPE_CHECKING:
    from quarterdeck.surfaces.plain.app import Plain

Json = dict[str, Any]
LAST = 10
MOST = 1000
FAR = 2**53


def sentence_of(event: Json, name: Name | str) -> str:
    """When, who, and what, without the glyph that an eye would need."""
    glyph, _, words = str(event["title"]).partition(" ")
    is_glyph = bool(words) and len(glyph) == 1 and not glyph.isalnum()
    clock = time.strftime("%H:%M:%S", time.localtime(event["at"]))
    return f"{clock} {name}: {words if is_glyph else event['title']}"


class Feed:
    """Of all sessions, or of one."""

    def __init__(self, face: Plain) -> None:
        self._face = face
        self._is_on = False
        self._session_id: str | None = None
        self._untold: deque[Json] = deque(maxlen=MOST)

    def hear(self, events: Iterable[Json]) -> None:
        """Keep what happened just now, where that is wanted; of very much, the latest."""
        if self._is_on:
            self._untold += [event for event in events if self._session_id in (None, event["session_id"])]

    def tell(self) -> None:
        """Say what was kept."""
        while self._untold:
            self._tell(self._untold.popleft())

    def _tell(self, event: Json) -> None:
        if event["kind"] not in HIDDEN:
            whose = "Quarterdeck" if event["session_id"] == OWN else self._face.model.name_of(event["session_id"])
            self._face.say(sentence_of(event, whose))

    async def order(self, rest: str) -> None:
        """`on`, `off`, or the last events; a session and a number narrow them."""
        words = rest.split()
        if words[:1] == ["off"]:
            self._is_on = False
            self._face.say("The feed is quiet.")
            return
        follows = words[:1] == ["on"]
        count, name = LAST, " ".join(words[1:] if follows else words)
        if words and not follows and (number := read_number(words[-1], MOST)):
            count, name = number, " ".join(words[:-1])
        session = session_named(self._face.model, name) if name else None
        if isinstance(session, str):
            self._face.say(session)
        elif follows:
            self._is_on, self._session_id = True, session["session_id"] if session else None
            self._face.say(f"What happens is said from now on{f', of {name} alone' if name else ''}; feed off ends it.")
        else:
            await self._last(count, session["session_id"] if session else None)

    async def _last(self, count: int, session_id: str | None) -> None:
        page = await self._face.talk.get("/feed", before=FAR, limit=count, session_id=session_id)
        for event in page["events"]:
            self._tell(event)
        if not page["events"]:
            self._face.say("Nothing has happened yet.")
