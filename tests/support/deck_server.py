"""A small server of decks that keeps the protocol, but for one fault that a test plants."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from quarterdeck.core.deck.render_model import render_model
from quarterdeck.core.engine.deck_layout import KeyAction
from quarterdeck.core.engine.deck_messages import PressButton, PressKey, TurnPage
from quarterdeck.core.engine.messages import CommandReply
from quarterdeck.core.reduce import reduce
from quarterdeck.wire import read_json, write_json
from tests.support.deck_scene import DeckScene

Json = dict[str, Any]
Fault = Callable[[Json], None]


def _slot(n: int, **fields: Any) -> Fault:
    return lambda model: model["keypad"]["slots"][n].update(fields)


def _count_from_one(model: Json) -> None:
    for key in model["keypad"]["slots"]:
        key["slot"] += 1


MODEL_FAULTS: dict[str, tuple[Fault, str]] = {
    "eight keys": (lambda model: model["keypad"]["slots"].pop(), "there are nine keys"),
    "keys counted from one": (_count_from_one, "there are nine keys"),
    "empty keys are armed": (_slot(8, armed=True), "a key shows as armed only if it is"),
    "running without hooks": (lambda model: model.update(agent_state="running"), "without hooks little is known"),
    "a page that is not there": (lambda model: model.update(page_count=0), "the page exists"),
    "no revisions": (_slot(0, revision=""), "every key has a revision"),
    "a key about nothing": (
        _slot(2, kind="decision", action="allow", enabled=True, request_id="r1", digest="d"),
        "a key decides what is shown",
    ),
    "a key that is off without a word": (_slot(2, enabled=False, reason=None), "a key that does nothing says why"),
}
"""What is wrong with every model, and the check that finds it."""

ANSWER_FAULTS = {
    "accepts any key": "a key that does not exist is refused",
    "accepts any command": "an unknown command is refused",
    "does a press whatever the key shows": "a press of a key that has changed is refused",
    "pages do not turn": "a page turns and comes back",
    "Esc does nothing": "a prompt arms and Esc disarms it",
    "sends the model again and again": "no model comes without a change",
    "another protocol": "the server greets with protocol 2",
    "answers with other ids": "an unknown command is refused",
}


class DeckServer:
    """Serves the deck of a scene. `fault` is one of the names above, or empty."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.scene = DeckScene()

    def _model(self) -> Json:
        model: Json = read_json(write_json(render_model(self.scene.state, self.scene.layout, 1.0)))
        if self.fault in MODEL_FAULTS:
            MODEL_FAULTS[self.fault][0](model)
        return model

    async def serve(self, socket: ServerConnection) -> None:
        async for frame in socket:
            for message in self._answers(json.loads(frame)):
                await socket.send(json.dumps(message))

    def _answers(self, message: Json) -> list[Json]:
        render = {"type": "render", "model": self._model()}
        if message["type"] == "hello":
            protocol = 1 if self.fault == "another protocol" else 2
            return [{"type": "hello", "protocol": protocol}, render]
        if message["type"] == "ping":
            again = [render] if self.fault == "sends the model again and again" else []
            return [*again, {"type": "pong", "id": message["id"]}]
        before = self._model()
        error = self._command(message["name"], message["args"])
        wrong_id = self.fault == "answers with other ids"
        ack = {"type": "ack", "id": 0 if wrong_id else message["id"], "ok": error is None}
        is_new = self._model() != before or (error is not None and error["kind"] == "stale_key")
        return [ack | ({"error": error} if error else {}), *([{**render, "model": self._model()}] if is_new else [])]

    def _command(self, name: str, args: Json) -> Json | None:
        """The error of a command; None when it was done."""
        common: Json = {"by": "t", "at": 1.0, "layout": self.scene.layout, "message_id": "m"}
        match name:
            case "page_nav":
                step = 0 if self.fault == "pages do not turn" else 1
                command: Any = TurnPage(step=step, **common)
            case "keypad_press":
                if args["slot"] == 9:
                    return None if self.fault == "accepts any key" else {"kind": "invalid"}
                stale = self.fault == "does a press whatever the key shows"
                command = PressKey(slot=args["slot"], revision=None if stale else args["revision"], **common)
            case "dialpad_button_press":
                if self.fault == "Esc does nothing":
                    return None
                command = PressButton(button=KeyAction(args["button"]), **common)
            case _:
                return None if self.fault == "accepts any command" else {"kind": "unknown_command"}
        result = reduce(self.scene.state, command)
        self.scene.state = result.state
        [reply] = [effect for effect in result.effects if isinstance(effect, CommandReply)]
        return None if reply.outcome == "applied" else {"kind": reply.outcome, "message": reply.message}


@asynccontextmanager
async def deck_server(fault: str = "") -> AsyncIterator[str]:
    """The address of a server with this fault."""
    async with serve(DeckServer(fault).serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
