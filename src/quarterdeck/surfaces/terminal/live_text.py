"""The text that models of SDK sessions are streaming right now; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from quarterdeck.views.resources.session_view import SessionView

Json = dict[str, Any]
KEPT_CHARACTERS = 4_000
"""Characters of a streamed text that are kept. The feed has all of it soon after."""
LINGER_SECONDS = 3.0
"""How long a complete text stays, unless the feed has it sooner."""
MOST_FOLLOWED = 8


class StreamedText(NamedTuple):
    """The text one session streams. `ended_at` is when it was complete."""

    text: str = ""
    is_thinking: bool = False
    ended_at: float | None = None


class LiveText:
    """The streamed text by session, until an event of the feed replaces it."""

    def __init__(self) -> None:
        self._texts: dict[str, StreamedText] = {}

    def receive(self, body: Json, at: float) -> None:
        """Apply one message of a stream. The text of sub-agents is left to the feed."""
        piece = body.get("data")
        if body.get("kind") != "text" or not isinstance(piece, dict) or piece.get("parent_tool_use_id"):
            return
        session_id = str(body["session_id"])
        text = self._texts.get(session_id, StreamedText())
        match piece.get("event"), piece.get("delta"):
            case "message_start", _:
                text = StreamedText()
            case "content_block_delta", "text_delta":
                text = StreamedText((text.text + str(piece.get("text", "")))[-KEPT_CHARACTERS:])
            case "content_block_delta", "thinking_delta":
                text = text._replace(is_thinking=True)
            case "content_block_start", _ if text.text:
                text = text._replace(text=f"{text.text}\n", is_thinking=False)
            case "message_stop", _:
                text = text._replace(is_thinking=False, ended_at=at)
        self._texts[session_id] = text

    def drop_recorded(self, events: Iterable[Json]) -> None:
        """Drop the texts that these events of the feed replace."""
        for event in events:
            if event["kind"] in ("message.assistant", "turn.result", "session.exit"):
                self._texts.pop(event["session_id"], None)

    def prune(self, sessions: Iterable[str], at: float) -> None:
        """Drop the texts of all other sessions, and texts that were complete a while ago."""
        kept = set(sessions)
        self._texts = {
            session_id: text
            for session_id, text in self._texts.items()
            if session_id in kept and (text.ended_at is None or at - text.ended_at < LINGER_SECONDS)
        }

    @property
    def current(self) -> dict[str, StreamedText]:
        """The texts to show, by session."""
        return {session_id: text for session_id, text in self._texts.items() if text.text.strip() or text.is_thinking}


def followed_sessions(sessions: dict[str, SessionView], chosen: str | None) -> tuple[str, ...]:
    """The sessions whose text is shown live: the chosen one, or all that run over the SDK."""
    running = (
        session.session_id
        for session in sessions.values()
        if chosen in (None, session.session_id)
        and session.mode == "sdk"
        and session.owned is not None
        and session.owned.status in ("starting", "up")
    )
    return tuple(sorted(running)[:MOST_FOLLOWED])
