"""A key of the deck decides, and the real Claude Code follows; its text arrives in the real terminal."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.connected_claude import Connected
from tests.support.daemon import Json
from tests.support.deck_socket import connected_deck

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("tmux")]


async def press(pair: Connected, action: str, command: str) -> Json:
    """Press this key once the deck shows a request with this command."""
    async with connected_deck(pair.daemon) as deck:
        await deck.shows(lambda model: model["request"] is not None and command in model["request"]["detail"])
        answer = await deck.press(action, held=True)
    assert answer["ok"], answer
    decided: Json = answer["result"]
    return decided


@pytest.mark.law("D7")
def test_a_key_allows_what_a_session_in_a_terminal_asks(either: Connected) -> None:
    with either.terminal() as terminal:
        terminal.type_prompt(either.script_bash("touch deck-allow"))
        request = either.request_to_run("touch deck-allow")
        terminal.wait_dialog()
        decided = asyncio.run(press(either, "allow", "touch deck-allow"))
        assert decided["request_id"] == request["request_id"]
        terminal.wait_for("finished")
    assert either.path("deck-allow").exists()
    assert either.confirmed(request)["decision"]["by"].endswith("via deck")


@pytest.mark.law("D7")
def test_a_key_denies_and_the_tool_does_not_run(newest: Connected) -> None:
    with newest.headless(newest.script_bash("touch deck-deny")) as running:
        request = newest.request_to_run("touch deck-deny")
        asyncio.run(press(newest, "deny", "touch deck-deny"))
        assert running.finish().text == "finished"
    assert not newest.path("deck-deny").exists()
    assert newest.confirmed(request)["decision"]["decision"] == "deny"
