"""The daemon's key deck: its file, and the model that it publishes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

from quarterdeck.core.deck.render_model import RenderModel
from quarterdeck.core.engine.deck_messages import SeenTerminal
from quarterdeck.core.engine.messages import Input
from quarterdeck.core.model.state import State
from quarterdeck.daemon.backend.key_deck import DaemonDeck
from tests.support.deck_scene import DeckScene


class StateLoop:
    """The part of the loop that a deck needs."""

    def __init__(self) -> None:
        self.state = State(runner_id="r")
        self.inputs: list[Input] = []
        self.effects = self

    def assign(self, perform: object, *kinds: object) -> None:
        """The deck performs its own effects."""

    def submit(self, message: Input) -> None:
        self.inputs.append(message)


class Followers:
    """Clients that follow the deck, and the models that they got."""

    def __init__(self) -> None:
        self.models: list[RenderModel] = []

    def follows(self, topic: str) -> bool:
        return topic == "render"

    def latest(self, topic: str, value: Callable[[], object], field: str = "") -> None:
        assert (topic, field) == ("render", "model")
        self.models.append(cast(RenderModel, value()))


def made(folder: Path) -> tuple[DaemonDeck, StateLoop, Followers]:
    loop, followers = StateLoop(), Followers()
    deck = DaemonDeck(cast(Any, loop), cast(Any, None), folder, AsyncExitStack())
    deck.publisher = followers
    return deck, loop, followers


async def test_only_a_model_that_differs_is_published(tmp_path: Path) -> None:
    deck, loop, followers = made(tmp_path)
    assert deck.current() == followers.models[0]
    deck.current()
    assert len(followers.models) == 1
    loop.state = DeckScene().receives("UserPromptSubmit", prompt="go").state
    assert deck.current().agent_state == "running"
    assert len(followers.models) == 2
    deck.close()


async def test_a_file_with_mistakes_keeps_the_last_good_layout(tmp_path: Path) -> None:
    deck, _, _ = made(tmp_path)
    pages = len(deck.layout.pages)
    (tmp_path / "deck.yaml").write_text("pages: []\n")
    deck.reread()
    assert (len(deck.layout.pages), "needs at least one page" in deck.model().problem) == (pages, True)
    deck.close()


async def test_a_daemon_that_starts_with_mistakes_shows_the_deck_of_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "deck.yaml").write_text("pages: []\n")
    deck, _, _ = made(tmp_path)
    assert (deck.model().page_count, deck.model().problem != "") == (2, True)


async def test_an_editor_that_leaves_takes_its_terminals_with_it(tmp_path: Path) -> None:
    deck, loop, _ = made(tmp_path)
    deck.client_left("code")
    assert loop.inputs == []
    loop.state = DeckScene().sees_terminals(SeenTerminal(pid=1)).state
    deck.client_left("code")
    assert len(loop.inputs) == 1
