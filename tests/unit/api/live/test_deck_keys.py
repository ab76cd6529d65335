"""The commands of a key deck: what they become, and what each credential may do."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.api.http.credentials import Principal
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.principal import new_caller
from quarterdeck.api.live.socket_commands import COMMANDS
from quarterdeck.core.engine.deck_messages import DeckCommand, PressKey, TerminalsSeen, TurnPage
from quarterdeck.core.engine.messages import CommandReply
from tests.support.deck_scene import LAYOUT


class Deck:
    """A deck that keeps what is sent to it, and replies with this outcome."""

    def __init__(self, outcome: str = "applied") -> None:
        self.layout = LAYOUT
        self.outcome = outcome
        self.commands: list[Any] = []

    def now(self) -> float:
        return 5.0

    def away(self) -> tuple[str, ...]:
        return ("r1",)

    async def execute(self, command: DeckCommand) -> CommandReply:
        self.commands.append(command)
        return CommandReply(request_id="deck", outcome=self.outcome, message="why")


class Backend:
    """The parts of a backend that these commands need."""

    runner_id = "otter"

    def __init__(self, deck: Deck) -> None:
        self.deck = deck


class Client:
    """The connection of an editor."""

    client_id = "code"


async def call(name: str, args: dict[str, Any], deck: Deck, kind: str = "token", *scopes: str) -> Any:
    principal = Principal(name="ann", kind=kind, scopes=frozenset(scopes), secret="s")
    endpoint = COMMANDS[name]
    given = {"caller": new_caller(principal, "deck"), "client": Client()}
    return await endpoint.command(Backend(deck), given, endpoint.read_arguments(args))


@pytest.mark.law("A9")
@pytest.mark.parametrize(
    ("kind", "scopes", "may"),
    [
        ("deck", ("observe", "approve"), (True, True)),
        ("phone", ("observe", "approve"), (False, False)),
        ("token", ("observe", "approve", "prompt"), (True, False)),
        ("page", ("observe", "approve", "prompt", "control"), (True, True)),
    ],
)
async def test_a_deck_may_send_the_texts_of_its_file(
    kind: str, scopes: tuple[str, ...], may: tuple[bool, bool]
) -> None:
    deck = Deck()
    await call("keypad_press", {"slot": 0, "revision": "x"}, deck, kind, *scopes)
    [press] = deck.commands
    assert isinstance(press, PressKey)
    assert (press.may_prompt, press.may_interrupt) == may
    assert (press.slot, press.revision, press.away, press.by) == (0, "x", ("r1",), "ann via deck")


async def test_a_page_turns_in_both_directions() -> None:
    deck = Deck()
    await call("page_nav", {"direction": "next"}, deck)
    await call("page_nav", {"direction": "prev"}, deck)
    assert [command.step for command in deck.commands if isinstance(command, TurnPage)] == [1, -1]


async def test_terminals_are_those_of_the_connection() -> None:
    deck = Deck()
    terminals = [{"index": 3, "name": "a", "session_tag": "t"}, {"index": 7, "name": "b", "pid": 9}]
    await call("terminals_snapshot", {"terminals": terminals, "active_index": 7}, deck)
    [seen] = deck.commands
    assert isinstance(seen, TerminalsSeen)
    assert (seen.client_id, [(one.tag, one.pid, one.active) for one in seen.terminals]) == (
        "code",
        [("t", None, False), ("", 9, True)],
    )


@pytest.mark.parametrize(
    ("outcome", "code"), [("forbidden", 403), ("stale_key", 409), ("not_found", 404), ("invalid", 422)]
)
async def test_a_refusal_has_the_status_of_its_kind(outcome: str, code: int) -> None:
    with pytest.raises(ApiError) as raised:
        await call("keypad_press", {"slot": 0}, Deck(outcome))
    assert (raised.value.code, raised.value.body["error"]["kind"]) == (code, outcome)
