"""Checks a server of decks: connects as one, reads its models, turns its pages and presses keys that decide nothing."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any

from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from quarterdeck import __version__
from quarterdeck.errors import NoDaemon
from quarterdeck.surfaces.client.live import FRAME_BYTES, PROTOCOL, read_frame
from quarterdeck.surfaces.deck.conformance_checks import MODEL_CHECKS

Json = dict[str, Any]
WAIT_SECONDS = 5.0


class ConformanceResult(Struct, frozen=True, kw_only=True):
    """One check: passed, failed with what was wrong, or skipped with the reason."""

    name: str
    outcome: str
    detail: str = ""


class CheckFailed(Exception):
    """A check that failed, with what was wrong."""


class CheckSkipped(Exception):
    """A check that cannot be made here, with the reason."""


async def check_conformance(url: str, token: str) -> list[ConformanceResult]:
    """Make every check, each with the connection of the ones before. `NoDaemon` when nothing can be reached."""
    address = f"{url.rstrip('/').replace('http', 'ws', 1)}/ws"
    try:
        async with connect(address, max_size=FRAME_BYTES, compression=None, proxy=None) as socket:
            return await _Run(socket, token).results()
    except (OSError, WebSocketException) as error:
        raise NoDaemon(f"{url}: {error}") from None


class _Run:
    """The checks over one connection."""

    def __init__(self, socket: ClientConnection, token: str) -> None:
        self._socket, self._token = socket, token
        self._messages: deque[Json] = deque()
        self._models: list[Json] = []
        self._results: list[ConformanceResult] = []
        self._ids = 0

    async def results(self) -> list[ConformanceResult]:
        checks = {
            "the server greets with protocol 2": self._greets,
            "the model comes at once": self._renders,
            "an unknown command is refused": self._refuses_unknown,
            "a key that does not exist is refused": self._refuses_slot,
            "a page turns and comes back": self._turns,
            "a press of a key that has changed is refused": self._refuses_stale,
            "a prompt arms and Esc disarms it": self._arms,
            "no model comes without a change": self._is_quiet,
        }
        for name, check in checks.items():
            await self._make(name, check)
            if self._results[-1].outcome == "failed" and not self._models:
                return self._results
        for name, rule in MODEL_CHECKS.items():
            self._results.append(judged(name, [_problem(rule, model) for model in self._models]))
        return self._results

    async def _make(self, name: str, check: Any) -> None:
        try:
            await check()
            result = ConformanceResult(name=name, outcome="passed")
        except CheckSkipped as skipped:
            result = ConformanceResult(name=name, outcome="skipped", detail=str(skipped))
        except CheckFailed as failed:
            result = ConformanceResult(name=name, outcome="failed", detail=str(failed))
        except (WebSocketException, KeyError, TypeError, IndexError) as error:
            result = ConformanceResult(name=name, outcome="failed", detail=f"{type(error).__name__}: {error}")
        self._results.append(result)

    async def _read(self, what: str) -> Json:
        """The next message, within a time that every server can keep."""
        try:
            while not self._messages:
                self._messages += read_frame(await asyncio.wait_for(self._socket.recv(), WAIT_SECONDS))
        except TimeoutError:
            raise CheckFailed(f"no {what} within {WAIT_SECONDS:g} s") from None
        message = self._messages.popleft()
        if message.get("type") == "render":
            self._models.append(message["model"])
        return message

    async def _until(self, kind: str) -> Json:
        while (message := await self._read(kind)).get("type") != kind:
            pass
        return message

    async def _command(self, name: str, **args: Any) -> Json:
        """Send a command; its answer, which must have its id."""
        self._ids += 1
        await self._socket.send(json.dumps({"type": "command", "id": self._ids, "name": name, "args": args}))
        answer = await self._until("ack")
        if answer.get("id") != self._ids:
            raise CheckFailed(f"{name}: the answer has the id {answer.get('id')}, not {self._ids}")
        return answer

    async def _render_after(self, count: int) -> Json:
        """The first model after these."""
        while len(self._models) <= count:
            await self._until("render")
        return self._models[-1]

    async def _greets(self) -> None:
        hello = {"type": "hello", "protocol": PROTOCOL, "client": "deck", "version": __version__}
        await self._socket.send(json.dumps({**hello, "token": self._token, "topics": ["render"]}))
        answer = await self._read("hello")
        if (answer.get("type"), answer.get("protocol")) != ("hello", PROTOCOL):
            raise CheckFailed(f"the first message is {answer.get('type')} with protocol {answer.get('protocol')}")

    async def _renders(self) -> None:
        await self._render_after(0)

    async def _refuses_unknown(self) -> None:
        if (await self._command("press_everything")).get("ok") is not False:
            raise CheckFailed("press_everything was accepted")

    async def _refuses_slot(self) -> None:
        if (await self._command("keypad_press", slot=9)).get("ok") is not False:
            raise CheckFailed("slot 9 was accepted")

    async def _turns(self) -> None:
        """Through all pages and back to the first."""
        first, count = self._models[-1]["page_index"], self._models[-1]["page_count"]
        if count < 2:
            raise CheckSkipped("there is one page")
        for n in range(1, count + 1):
            seen = len(self._models)
            _require(await self._command("page_nav", direction="next"))
            index = (await self._render_after(seen))["page_index"]
            if index != (first + n) % count:
                raise CheckFailed(f"after {n} turns from page {first} of {count} it shows page {index}")

    async def _refuses_stale(self) -> None:
        """A press with another revision does nothing, and the model comes again."""
        keys = [key for key in self._models[-1]["keypad"]["slots"] if key["prompt_id"] is not None]
        if not keys:
            raise CheckSkipped("the page has no prompt")
        seen = len(self._models)
        answer = await self._command("keypad_press", slot=keys[0]["slot"], revision="0" * 16)
        if answer.get("ok") is not False:
            raise CheckFailed("a press with another revision was accepted")
        if answer["error"].get("kind") == "forbidden":
            raise CheckSkipped("this token may not send prompts")
        await self._render_after(seen)

    async def _arms(self) -> None:
        model = self._models[-1]
        if model["armed"] is not None:
            raise CheckSkipped("a prompt of yours is armed")
        keys = [key for key in model["keypad"]["slots"] if key["prompt_id"] is not None]
        if not keys:
            raise CheckSkipped("the page has no prompt")
        seen = len(self._models)
        answer = await self._command("keypad_press", slot=keys[0]["slot"], revision=keys[0]["revision"])
        if not answer.get("ok") and answer["error"].get("kind") == "forbidden":
            raise CheckSkipped("this token may not send prompts")
        _require(answer)
        armed = (await self._render_after(seen))["armed"]
        if armed is None or armed["prompt_id"] != keys[0]["prompt_id"]:
            raise CheckFailed(f"pressed {keys[0]['prompt_id']}, and armed is {armed}")
        seen = len(self._models)
        _require(await self._command("dialpad_button_press", button="esc"))
        if (await self._render_after(seen))["armed"] is not None:
            raise CheckFailed("Esc did not disarm")

    async def _is_quiet(self) -> None:
        """A ping is answered without a model before it that equals the last one."""
        seen = len(self._models)
        await self._socket.send(json.dumps({"type": "ping", "id": 1}))
        await self._until("pong")
        if any(model == self._models[seen - 1] for model in self._models[seen:]):
            raise CheckFailed("the same model came again")


def _require(answer: Json) -> None:
    if not answer.get("ok"):
        raise CheckFailed(str((answer.get("error") or {}).get("message", answer)))


def _problem(rule: Any, model: Json) -> str | None:
    try:
        found: str | None = rule(model)
    except (KeyError, TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return found


def judged(name: str, problems: list[str | None]) -> ConformanceResult:
    """A rule over all models: the first problem counts."""
    first = next((problem for problem in problems if problem), None)
    return ConformanceResult(name=name, outcome="failed" if first else "passed", detail=first or "")
