"""The state of the key deck after one of its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.model.event_data.deck_data import (
    OperatorArmData,
    OperatorDispatchData,
    OperatorPageData,
    OperatorSelectData,
    TerminalData,
)
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import ArmedPrompt, DeckDispatch, DeckState, EditorTerminal


def deck_after(deck: DeckState, event: FeedEvent) -> DeckState:
    """The deck after an event; the same one when the event is not about it."""
    fold = DECK_FOLDS.get(event.kind)
    return deck if fold is None else fold(deck, event)


def _opened(deck: DeckState, event: FeedEvent) -> DeckState:
    """Keep a terminal. The tag of a process does not change, so one that an editor forgot stays known."""
    data: TerminalData = event.data
    known = deck.terminals.get(data.terminal_id)
    terminal = EditorTerminal(
        terminal_id=data.terminal_id,
        client_id=data.client_id or "",
        pid=data.pid,
        tag=data.tag or (known.tag if known is not None and known.pid == data.pid else ""),
        name=data.name or "",
        active=data.active,
    )
    is_now_active = terminal.active and not (known is not None and known.active)
    active_at = event.at if is_now_active else deck.active_at
    return replace(deck, terminals={**deck.terminals, data.terminal_id: terminal}, active_at=active_at)


def _closed(deck: DeckState, event: FeedEvent) -> DeckState:
    data: TerminalData = event.data
    return replace(deck, terminals={k: t for k, t in deck.terminals.items() if k != data.terminal_id})


def _armed(deck: DeckState, event: FeedEvent) -> DeckState:
    data: OperatorArmData = event.data
    if not data.prompt_id:
        return replace(deck, armed=None)
    style: Any = data.style if data.style in ("queue", "prefill") else "queue"
    return replace(deck, armed=ArmedPrompt(prompt_id=data.prompt_id, style=style, is_typed=data.typed))


def _turned(deck: DeckState, event: FeedEvent) -> DeckState:
    data: OperatorPageData = event.data
    return replace(deck, page=data.page)


def _selected(deck: DeckState, event: FeedEvent) -> DeckState:
    data: OperatorSelectData = event.data
    match data.what:
        case "terminal":
            return replace(deck, selected_terminal=data.id, selected_session=None, selected_at=event.at)
        case "session":
            return replace(deck, selected_terminal=None, selected_session=data.id, selected_at=event.at)
        case "request":
            return replace(deck, shown_request=data.id, always_for=None)
        case "always":
            return replace(deck, always_for=data.id)
        case _:
            return deck


def _dispatched(deck: DeckState, event: FeedEvent) -> DeckState:
    """Keep the outcome. What was delivered is no longer armed; what was not stays so."""
    data: OperatorDispatchData = event.data
    dispatch = DeckDispatch(
        message_id=data.message_id or "",
        session_id=data.session_id or "",
        route=data.route or "",
        outcome=data.outcome or ("delivered" if data.delivered else "undelivered"),
        at=event.at,
        prompt_id=data.prompt_id,
        reason=data.reason,
    )
    is_sent = dispatch.outcome == "delivered" and deck.armed is not None and deck.armed.prompt_id == data.prompt_id
    return replace(deck, dispatch=dispatch, armed=None if is_sent else deck.armed)


DECK_FOLDS: Mapping[str, Callable[[DeckState, FeedEvent], DeckState]] = {
    "terminal.open": _opened,
    "terminal.close": _closed,
    "operator.arm": _armed,
    "operator.page": _turned,
    "operator.select": _selected,
    "operator.dispatch": _dispatched,
}
