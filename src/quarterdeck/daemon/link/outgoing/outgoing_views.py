"""Sessions and requests as they leave: all of them after a registration, then every change, as the live updates of the
API compute them anyway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.live_source import LiveSource
from quarterdeck.daemon.link.outgoing.share_policy import SharePolicy
from quarterdeck.link.messages import ViewMessage
from quarterdeck.link.redaction.share_levels import TITLES, shared_view
from quarterdeck.wire import write_json

TOPICS = frozenset({"sessions", "requests"})


class _Update(Struct):
    """A message of the live updates."""

    type: str
    session: Raw | UnsetType = UNSET
    request: Raw | UnsetType = UNSET


class _Snapshot(Struct):
    """The sessions and requests as they are now."""

    sessions: list[Raw] = []
    requests: list[Raw] = []


class _Owner(Struct):
    """The part of a view that says whose it is."""

    session_id: str


_read_updates = msgspec.json.Decoder(list[_Update]).decode
_read_snapshot = msgspec.json.Decoder(_Snapshot).decode
_read_owner = msgspec.json.Decoder(_Owner).decode
_decode = msgspec.json.Decoder().decode


class OutgoingViews:
    """The views of one machine."""

    def __init__(self, source: LiveSource, live: Broadcaster, policy: Callable[[], SharePolicy]) -> None:
        self._source, self._live, self._policy = source, live, policy

    async def messages(self, assigned: Iterable[str]) -> AsyncGenerator[ViewMessage, None]:
        """The snapshot, then changes, as long as they are asked for. A reader that is too slow gets a snapshot again:
        only the latest view counts."""
        wake = self._live.listen(TOPICS)
        try:
            place = self._live.head
            yield self.snapshot(assigned)
            while True:
                if place == self._live.head:
                    wake.clear()
                    await wake.wait()
                frame = self._live.frame(place, TOPICS)
                if frame is None:
                    place = self._live.head
                    yield self.snapshot(())
                    continue
                place = frame.upto
                if frame.text and (message := self._changes(frame.text)):
                    yield message
        finally:
            self._live.leave(wake)

    def snapshot(self, assigned: Iterable[str]) -> ViewMessage:
        """Everything that is live now. `assigned` are the sessions that the hub believes to run here."""
        shown = _read_snapshot(self._source.snapshot(TOPICS))
        running = {_read_owner(session).session_id for session in shown.sessions}
        return ViewMessage(
            snapshot=True,
            sessions=self._shared(shown.sessions),
            requests=self._shared(shown.requests),
            gone_sessions=[session_id for session_id in assigned if session_id not in running],
        )

    def _changes(self, text: str) -> ViewMessage | None:
        updates = _read_updates(text if text.startswith("[") else f"[{text}]")
        sessions = self._shared(update.session for update in updates if update.session is not UNSET)
        requests = self._shared(update.request for update in updates if update.request is not UNSET)
        return ViewMessage(sessions=sessions, requests=requests) if sessions or requests else None

    def _shared(self, views: Iterable[Any]) -> list[Raw]:
        """The views as they leave: those of a project that shares nothing not at all."""
        found, policy = [], self._policy()
        for view in views:
            level = policy.of_session(_read_owner(view).session_id)
            body = policy.secrets.body(bytes(view))
            if level == TITLES:
                body = write_json(shared_view(_decode(body), level))
            if shared_view(True, level) is not None:
                found.append(Raw(body))
        return found
