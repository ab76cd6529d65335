"""Decisions on their way to the daemon, and how they ended, in words; what every face of a terminal does with them."""

from __future__ import annotations

from typing import Any, Protocol

from textual.notifications import SeverityLevel

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.connection import Talk
from quarterdeck.surfaces.terminal.model import Asked, Model
from quarterdeck.surfaces.text.labels import about

Json = dict[str, Any]
DONE = {"allow": "allowed", "deny": "denied", "pass": "left to the terminal"}


class Face(Protocol):
    """Who decides: knows how things stand, has a way to the daemon, and says what became of it."""

    talk: Talk
    model: Model

    def say(self, words: str, severity: SeverityLevel = "information") -> None: ...

    def dirty(self) -> None: ...


async def send(face: Face, asked: Asked, body: Json) -> bool:
    """Decide about exactly this request; whether the daemon took it."""
    asked.sending = f"your {body['decision']}"
    face.dirty()
    try:
        made = await face.talk.decide(asked.view, **body)
    except QuarterdeckError as error:
        asked.sending = ""
        face.say(one_line(f"Not decided: {error}"), "error")
        face.dirty()
        return False
    face.model.let_go(asked.request_id)
    face.dirty()
    rule = made.get("remembered")
    if rule:
        face.say(one_line(f"Remembered: {rule['effect']} {rule['pattern']} ({rule['scope']})"))
    if made.get("also_decided"):
        face.say(f"That settled {len(made['also_decided'])} more")
    return True


async def send_many(face: Face, word: str, several: list[Asked], **more: Any) -> None:
    """Decide each of these, sent with its own id and digest; `more` goes with each."""
    waiting = [asked for asked in several if asked.is_pending]
    decisions = [
        {"request_id": asked.request_id, "digest": asked.view["digest"], "decision": word, **more} for asked in waiting
    ]
    if not decisions:
        face.say("Nothing was sent: all of them are over", "warning")
        return
    _mark(waiting, f"your {word}")
    try:
        results = await face.talk.decide_many(decisions)
    except QuarterdeckError as error:
        _mark(waiting, "")
        face.say(one_line(f"Not decided: {error}"), "error")
        return
    refused = {result["request_id"] for result in results if not result["ok"]}
    _mark([asked for asked in waiting if asked.request_id in refused], "")
    _report(face, word, results)


def _mark(several: list[Asked], sending: str) -> None:
    for asked in several:
        asked.sending = sending


def _report(face: Face, word: str, results: list[Json]) -> None:
    done = [result for result in results if result["ok"]]
    for result in done:
        face.model.let_go(result["request_id"])
    for result in results:
        asked = face.model.asked.get(result["request_id"])
        if not result["ok"]:
            name = about(asked.view) if asked else result["request_id"]
            face.say(one_line(f"Not decided: {name}: {result['error']['message']}"), "error")
    face.say(f"{len(done)} of {len(results)} {DONE[word]}")
    face.dirty()
