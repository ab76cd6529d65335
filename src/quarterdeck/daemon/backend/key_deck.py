"""The daemon's key deck: its layout, which is read again when the file changes, the model, and what it sends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

import structlog
from msgspec.structs import replace

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.live.clients import Clients, NewClientCommand
from quarterdeck.config.deck.deck_file import NAME, read_deck_file, template_layout
from quarterdeck.core.deck.render_model import RenderModel, changes_at, render_model
from quarterdeck.core.engine.deck_layout import DeckLayout
from quarterdeck.core.engine.deck_messages import (
    DeckCommand,
    DeckEffect,
    DispatchEnded,
    EditorCommand,
    FollowDispatch,
    TerminalsSeen,
)
from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Request
from quarterdeck.daemon.loop.effects import DECK_EFFECTS
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.sessions.controller import SessionController

REREAD_SECONDS = 1.0
GATHER_SECONDS = 0.02
"""The least time between two models in a flood: a person sees no more."""
ACK_SECONDS = 5.0
"""How long an editor has to acknowledge a command."""

logger = structlog.get_logger("deck")


class Publisher(Protocol):
    """Sends the newest model to the clients that follow a topic."""

    def follows(self, topic: str) -> bool: ...

    def latest(self, topic: str, value: Callable[[], object], field: str = "") -> None: ...


class DaemonDeck:
    """The key deck of one machine. `publisher` and `clients` are there once the API is."""

    def __init__(self, loop: Loop, controller: SessionController, home: Path, exits: AsyncExitStack) -> None:
        self._loop, self._controller = loop, controller
        loop.effects.assign(self.perform, *DECK_EFFECTS)
        exits.callback(self.close)
        self._path = home / NAME
        self._stamp: tuple[int, int, int] | None = None
        self.layout = _first_layout(self._path)
        self.publisher: Publisher | None = None
        self.clients: Clients | None = None
        self._published: RenderModel | None = None
        self._refreshed_at = float("-inf")
        self._refresh: asyncio.TimerHandle | None = None
        self._change: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def connect(self, publisher: Publisher, clients: Clients) -> None:
        """Publish to these clients, and read the file again from now on whenever it changes."""
        self.publisher, self.clients = publisher, clients
        clients.left = self.client_left
        self._loop.subscribe(self.events_recorded)
        self._loop.watch_requests(self.requests_changed)
        self._tasks.add(asyncio.create_task(self.watch_file()))

    def now(self) -> float:
        return time.time()

    def model(self) -> RenderModel:
        return render_model(self._loop.state, self.layout, time.time())

    def away(self) -> tuple[str, ...]:
        """The requests whose agent has not come back after a restart."""
        pending = (r.request_id for r in self._loop.state.requests.values() if r.status == "pending")
        return tuple(request_id for request_id in pending if self._loop.is_away(request_id))

    async def execute(self, command: DeckCommand) -> CommandReply:
        return await self._loop.command(command)

    def current(self) -> RenderModel:
        """The model for a client that begins to follow it. The others get it too if it is new, so that the next change
        is one for all of them."""
        self._publish()
        assert self._published is not None
        return self._published

    def events_recorded(self, events: list[FeedEvent]) -> None:
        self._refresh_soon()

    def requests_changed(self, requests: list[Request]) -> None:
        self._refresh_soon()

    def _refresh_soon(self) -> None:
        """Compute the model at the end of this turn, or a moment later when there was one just now."""
        if self._refresh is not None or self.publisher is None or not self.publisher.follows("render"):
            return
        loop = asyncio.get_running_loop()
        wait = max(0.0, self._refreshed_at + GATHER_SECONDS - loop.time())
        self._refresh = loop.call_later(wait, self._publish)

    def _publish(self) -> None:
        """Send the model if it differs from the last one."""
        loop = asyncio.get_running_loop()
        if self._refresh is not None:
            self._refresh.cancel()
            self._refresh = None
        self._refreshed_at = loop.time()
        model = self.model()
        if model != self._published:
            self._published = model
            if self.publisher is not None:
                self.publisher.latest("render", lambda: model, "model")
        self._wait_for_change()

    def _wait_for_change(self) -> None:
        """Look again when time alone changes the model."""
        if self._change is not None:
            self._change.cancel()
            self._change = None
        now = time.time()
        at = changes_at(self._loop.state, now)
        if at is not None:
            loop = asyncio.get_running_loop()
            self._change = loop.call_later(max(0.0, at - now) + GATHER_SECONDS, self._refresh_soon)

    async def watch_file(self) -> None:
        """Read the file again whenever it has changed."""
        while True:
            await asyncio.sleep(REREAD_SECONDS)
            self.reread()

    def reread(self) -> None:
        """Read the file if it has changed. One with mistakes changes nothing but what the deck says about it."""
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        reading = read_deck_file(self._path)
        if reading.layout is None:
            logger.warning("deck.yaml has mistakes", problems=reading.problems)
            self.layout = replace(self.layout, problem=reading.problems[0])
        else:
            self.layout = reading.layout
        self._refresh_soon()

    def perform(self, effect: DeckEffect) -> None:
        """Begin to carry out an effect; the outcome of a text comes back as an input."""
        task = asyncio.create_task(self._perform(effect))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _perform(self, effect: DeckEffect) -> None:
        match effect:
            case FollowDispatch(message_id=message_id):
                failure = await self._controller.wait_for(f"send {message_id}")
                error = failure.message if failure is not None else None
            case EditorCommand(message_id=message_id):
                error = await self._command_editor(effect)
        if error is not None:
            logger.info("the deck could not do this", effect=type(effect).__name__, error=error)
        if message_id is not None:
            self._loop.submit(DispatchEnded(message_id=message_id, error=error, at=time.time()))

    async def _command_editor(self, command: EditorCommand) -> str | None:
        """Send a command to the editor of a terminal. Gives the reason why it was not carried out."""
        if self.clients is None:
            return "no editor is connected"
        sent = NewClientCommand(kind=command.kind, target=command.target, payload=command.payload, seconds=ACK_SECONDS)
        try:
            answer = await self.clients.command(command.client_id, sent)
        except ApiError as error:
            return str(error.body["error"]["message"])
        return None if answer.ok else f"the editor refused: {str(answer.error)[:200]}"

    def client_left(self, client_id: str) -> None:
        """Forget the terminals of an editor that has gone."""
        if any(one.client_id == client_id for one in self._loop.state.deck.terminals.values()):
            self._loop.submit(TerminalsSeen(client_id=client_id, by="system", at=time.time()))

    def close(self) -> None:
        for timer in (self._refresh, self._change):
            if timer is not None:
                timer.cancel()
        for task in self._tasks:
            task.cancel()


def _first_layout(path: Path) -> DeckLayout:
    """The layout at the start: with mistakes in the file that of a new deck, which says what is wrong."""
    reading = read_deck_file(path)
    if reading.layout is not None:
        return reading.layout
    logger.warning("deck.yaml has mistakes", problems=reading.problems)
    return replace(template_layout(), problem=reading.problems[0])


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
