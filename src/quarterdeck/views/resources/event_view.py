"""An event of the feed as every surface sees it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from quarterdeck.core.model.event_data.admin_data import TokenCreateData
from quarterdeck.core.model.events import Cause, FeedEvent
from quarterdeck.core.text.titles import UiHints, body_of, title_of, ui_of
from quarterdeck.views.projection import struct_of

PayloadStatus = Literal["kept", "too_large", "none", "elsewhere"]


class EventView(Struct, kw_only=True):
    """One event of the feed. `agent` is that of its session, null for an event that no agent's session is about. `data`
    depends on `kind`; `title`, `body` and `ui` are for display."""

    seq_no: int
    event_id: str
    seq: int
    run_id: str
    session_id: str
    agent: str | None
    runner_id: str
    at: float
    kind: str
    level: str
    actor_id: str
    cause: Cause | None
    data: Any
    title: str
    ui: UiHints
    body: str | UnsetType = UNSET


class FeedPage(Struct, kw_only=True):
    """Events, and where the list goes on: `next` after them, `previous` before them, for a page that was asked for with
    `before`. A `partial` page has what was found in the time there was, maybe nothing; ask again from `next` or
    `previous`."""

    events: list[EventView]
    next: int | None
    previous: int | None
    partial: bool


class EventDetail(EventView, kw_only=True):
    """One event with the events that led to it, the nearest first, and those that it caused; `more_effects` when there
    are others. `payload` is what the agent's hook sent, as it was; it is null when it was `too_large` to keep, or when
    there is `none`, as the event was not made from a hook call."""

    causes: list[EventView]
    effects: list[EventView]
    more_effects: bool
    payload: Any
    payload_status: PayloadStatus


def event_view(event: FeedEvent, agent: str | None) -> EventView:
    """A feed event with the agent of its session and its display texts, which are computed on read."""
    body = body_of(event)
    return struct_of(
        EventView,
        event,
        agent=agent,
        data=replace(event.data, verifier="") if isinstance(event.data, TokenCreateData) else event.data,
        title=title_of(event),
        ui=ui_of(event),
        body=UNSET if body is None else body,
    )
