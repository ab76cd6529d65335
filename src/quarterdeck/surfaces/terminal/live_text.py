"""What the models of SDK sessions are saying right now, piece by piece; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

Json = dict[str, Any]
KEPT = 4_000
"""Characters of what is being said that are kept; the feed has all of it soon after."""
LINGER_SECONDS = 3.0
"""How long something said stays once it is whole, unless the feed has it sooner."""
MOST_FOLLOWED = 8


class Saying(NamedTuple):
    """What one session says. `whole_at` is when it was said to its end."""

    text: str = ""
    thinks: bool = False
    whole_at: float | None = None


class Spoken:
    """By session. Hears the streams, and the events of the feed that take the place of what was streamed."""

    def __init__(self) -> None:
        self._said: dict[str, Saying] = {}

    def hear(self, body: Json, at: float) -> None:
        """A message of a stream; what sub-agents say is left to the feed."""
        piece = body.get("data")
        if body.get("kind") != "text" or not isinstance(piece, dict) or piece.get("parent_tool_use_id"):
            return
        session_id = str(body["session_id"])
        said = self._said.get(session_id, Saying())
        match piece.get("event"), piece.get("delta"):
            case "message_start", _:
                said = Saying()
            case "content_block_delta", "text_delta":
                said = Saying((said.text + str(piece.get("text", "")))[-KEPT:])
            case "content_block_delta", "thinking_delta":
                said = said._replace(thinks=True)
            case "content_block_start", _ if said.text:
                said = said._replace(text=f"{said.text}\n", thinks=False)
            case "message_stop", _:
                said = said._replace(thinks=False, whole_at=at)
        self._said[session_id] = said

    def recorded(self, events: Iterable[Json]) -> None:
        """The feed has what was said."""
        for event in events:
            if event["kind"] in ("message.assistant", "turn.result", "session.exit"):
                self._said.pop(event["session_id"], None)

    def keep(self, sessions: Iterable[str], at: float) -> None:
        """Let go of everybody else, and of what was whole a while ago."""
        kept = set(sessions)
        self._said = {
            session_id: said
            for session_id, said in self._said.items()
            if session_id in kept and (said.whole_at is None or at - said.whole_at < LINGER_SECONDS)
        }

    @property
    def now(self) -> dict[str, Saying]:
        """Who says something, and what."""
        return {session_id: said for session_id, said in self._said.items() if said.text.strip() or said.thinks}


def followed(sessions: dict[str, Json], chosen: str | None) -> tuple[str, ...]:
    """The sessions whose words are shown live: the one that is looked at, or all that run over the SDK."""
    found = (
        session["session_id"]
        for session in sessions.values()
        if chosen in (None, session["session_id"])
        and session["mode"] == "sdk"
        and (session.get("owned") or {}).get("status") in ("starting", "up")
    )
    return tuple(sorted(found)[:MOST_FOLLOWED])
