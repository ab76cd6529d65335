"""The key deck: what its keys, dial and roller send, what an editor reports, and the effects on an editor."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.core.engine.deck_layout import DeckLayout, KeyAction
from quarterdeck.core.engine.input_bases import SignedInput, TimedInput


class DeckInput(SignedInput, frozen=True, gc=False, kw_only=True):
    """A movement on a deck, with the layout in force. `may_prompt`: the caller may send prompts, or those of the layout
    alone; `may_interrupt`: it may interrupt a session. `message_id` names what may be sent because of it."""

    layout: DeckLayout
    may_prompt: bool = True
    may_interrupt: bool = True
    message_id: str = ""


class PressKey(DeckInput, frozen=True, gc=False, kw_only=True):
    """A key of the keypad, by its slot or by its prompt. `revision` is what the key showed; `held`: it was held
    down to confirm. `rule_id` names the rule that an allow for always makes; the agents of `away` have not come back
    after a restart."""

    slot: int | None = None
    prompt_id: str | None = None
    revision: str | None = None
    held: bool = False
    rule_id: str = ""
    away: tuple[str, ...] = ()


class PressButton(DeckInput, frozen=True, gc=False, kw_only=True):
    """A button beside the dial: Enter, Esc, Ctrl-C or Export."""

    button: KeyAction


class TurnDial(DeckInput, frozen=True, gc=False, kw_only=True):
    """The dial or the roller, turned by this many steps."""

    control: str
    delta: int


class TurnPage(DeckInput, frozen=True, gc=False, kw_only=True):
    """The next page, or with a step of -1 the one before."""

    step: int


class SeenTerminal(Struct, frozen=True, gc=False, kw_only=True):
    """One terminal of an editor as it is now."""

    pid: int | None = None
    tag: str = ""
    name: str = ""
    active: bool = False


class TerminalsSeen(SignedInput, frozen=True, gc=False, kw_only=True):
    """All terminals of one editor. None are left when it has gone."""

    client_id: str
    terminals: tuple[SeenTerminal, ...] = ()


class DispatchEnded(TimedInput, frozen=True, gc=False, kw_only=True):
    """A text of the deck arrived, or did not, and why."""

    message_id: str
    error: str | None = None


DeckCommand = PressKey | PressButton | TurnDial | TurnPage | TerminalsSeen


class EditorCommand(Struct, frozen=True, gc=False, kw_only=True):
    """A command to an editor, which acknowledges it. `message_id` is that of a text whose outcome must be known."""

    client_id: str
    kind: str
    target: str
    payload: dict[str, Any]
    message_id: str | None = None


class FollowDispatch(Struct, frozen=True, gc=False, kw_only=True):
    """Report the outcome of a prompt to a session by `DispatchEnded`."""

    message_id: str


DeckEffect = EditorCommand | FollowDispatch
