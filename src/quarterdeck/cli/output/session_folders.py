"""Where the sessions of a log work. Pure."""

from __future__ import annotations

from quarterdeck.core.model.event_data.owned_session_data import SessionLaunchData
from quarterdeck.core.model.events import FeedEvent


class SessionFolders:
    """The folder of each session, from its events in their order: an event names it only when it has changed."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def of(self, event: FeedEvent) -> str:
        """The folder of the event's session at that time; empty where no event has named it."""
        if event.context is not None and event.context.cwd:
            self.known[event.session_id] = event.context.cwd
        elif isinstance(event.data, SessionLaunchData):
            self.known[event.session_id] = event.data.cwd
        return self.known.get(event.session_id, "")
