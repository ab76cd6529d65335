"""The commands of a key deck: its keys, its buttons, its dial and its pages, and the terminals of an editor.

A deck follows the topic `render`, draws the model, and sends these back. What a key does is decided by the daemon."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

from litestar.params import JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import DeckBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, invalid, refusal
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.live.clients import ConnectedClient
from quarterdeck.api.routes.decisions import decision_refusal
from quarterdeck.core.deck.render_model import RenderModel
from quarterdeck.core.engine.deck_layout import SLOTS, KeyAction
from quarterdeck.core.engine.deck_messages import (
    PressButton,
    PressKey,
    SeenTerminal,
    TerminalsSeen,
    TurnDial,
    TurnPage,
)
from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.core.handlers.deck.presses import DECK
from quarterdeck.views.resources.decision_view import DecisionView, decision_view

DECK_KIND = "deck"
"""The kind of a credential that was paired for a deck: it may send the texts of `deck.yaml`, and no others."""

Word = Annotated[str, Meta(max_length=200)]
Steps = Annotated[int, Meta(ge=-100, le=100)]


class KeyPress(Struct, kw_only=True, forbid_unknown_fields=True):
    """A key, by its slot or its prompt. `revision` is that of the key or of the model as you saw it, and a key that
    decides needs it. `held`: the key was held down to confirm."""

    slot: Annotated[int, Meta(ge=0, lt=SLOTS)] | None = None
    prompt_id: Word | None = None
    revision: Word | None = None
    held: bool = False


class ButtonPress(Struct, kw_only=True, forbid_unknown_fields=True):
    """A button beside the dial."""

    button: Literal["enter", "esc", "ctrl_c", "export"]


class DialTurn(Struct, kw_only=True, forbid_unknown_fields=True):
    """The dial or the roller, turned by `delta` steps."""

    kind: Literal["dial", "roller"]
    delta: Steps


class PageTurn(Struct, kw_only=True, forbid_unknown_fields=True):
    """The page before or after this one."""

    direction: Literal["prev", "next"]


class TerminalBody(Struct, kw_only=True):
    """One terminal of an editor. It is known by its process and its tag (`QUARTERDECK_SESSION_TAG`, or `session_tag`);
    its place in the list says nothing."""

    name: Word = ""
    pid: Annotated[int, Meta(ge=1)] | None = None
    tag: Word | None = None
    session_tag: Word | None = None
    active: bool = False
    index: int | None = None


class TerminalsBody(Struct, kw_only=True):
    """All terminals of an editor as they are now."""

    terminals: Annotated[list[TerminalBody], Meta(max_length=500)]
    active_index: int | None = None


class PressResult(Struct, kw_only=True):
    """What a movement did: for a decision, the request and the decision."""

    done: bool = True
    request_id: str | None = None
    decision: DecisionView | None = None


@endpoint("get_deck")
async def get_deck(deck: DeckBackend) -> RenderModel:
    """Show what a key deck shows."""
    return deck.model()


@endpoint("keypad_press")
async def keypad_press(deck: DeckBackend, caller: Caller, *, data: JSONBody[KeyPress]) -> PressResult:
    """Press a key. One that has changed since you saw it does nothing, and the model is sent again."""
    press = PressKey(
        slot=data.slot,
        prompt_id=data.prompt_id,
        revision=data.revision,
        held=data.held,
        rule_id=f"r_{secrets.token_hex(6)}",
        away=deck.away(),
        **_common(deck, caller),
    )
    return _result(await deck.execute(press))


@endpoint("dialpad_button_press")
async def dialpad_button_press(deck: DeckBackend, caller: Caller, *, data: JSONBody[ButtonPress]) -> PressResult:
    """Press Enter, Esc, Ctrl-C or Export."""
    return _result(await deck.execute(PressButton(button=KeyAction(data.button), **_common(deck, caller))))


@endpoint("adjustment")
async def adjustment(deck: DeckBackend, caller: Caller, *, data: JSONBody[DialTurn]) -> PressResult:
    """Turn the dial or the roller."""
    return _result(await deck.execute(TurnDial(control=data.kind, delta=data.delta, **_common(deck, caller))))


@endpoint("page_nav")
async def page_nav(deck: DeckBackend, caller: Caller, *, data: JSONBody[PageTurn]) -> PressResult:
    """Turn the page."""
    step = 1 if data.direction == "next" else -1
    return _result(await deck.execute(TurnPage(step=step, **_common(deck, caller))))


@endpoint("terminals_snapshot")
async def terminals_snapshot(
    deck: DeckBackend, caller: Caller, client: ConnectedClient, *, data: JSONBody[TerminalsBody]
) -> PressResult:
    """Report all terminals of this editor. They are forgotten when it disconnects."""
    terminals = tuple(_terminal(place, one, data) for place, one in enumerate(data.terminals))
    seen = TerminalsSeen(client_id=client.client_id, terminals=terminals, by=caller.name, at=deck.now())
    return _result(await deck.execute(seen))


def _terminal(place: int, one: TerminalBody, body: TerminalsBody) -> SeenTerminal:
    tag = one.tag or one.session_tag or ""
    if one.pid is None and not tag:
        raise invalid(f"terminals[{place}]", "needs a pid or a tag: its place in the list does not identify it")
    is_active = one.active or (body.active_index is not None and body.active_index in (one.index, place))
    return SeenTerminal(pid=one.pid, tag=tag, name=one.name, active=is_active)


def _common(deck: DeckBackend, caller: Caller) -> dict[str, Any]:
    """What every movement carries: who, when, the layout in force, and what the caller may do."""
    is_deck = caller.principal.kind == DECK_KIND
    return {
        "by": caller.name,
        "at": deck.now(),
        "layout": deck.layout,
        "message_id": f"d_{secrets.token_hex(8)}",
        "may_prompt": is_deck or caller.principal.may("prompt"),
        "may_interrupt": is_deck or caller.principal.may("control"),
    }


def _result(reply: CommandReply) -> PressResult:
    if reply.request_id == DECK:
        if reply.outcome == "applied":
            return PressResult()
        if reply.outcome == "forbidden":
            raise ApiError(403, "forbidden", reply.message)
        raise refusal(reply)
    if reply.outcome != "applied" or reply.request is None:
        raise decision_refusal(reply)
    return PressResult(request_id=reply.request_id, decision=decision_view(reply.request))
