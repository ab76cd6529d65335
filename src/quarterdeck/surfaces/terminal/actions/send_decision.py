"""Send decisions to the daemon and report how they ended: the same for every terminal surface."""

from __future__ import annotations

from typing import Any, Protocol

from textual.notifications import SeverityLevel

from quarterdeck.core.text.decision_words import DECIDED
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.connection import DaemonConnection
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.text.labels import about

Json = dict[str, Any]


class DecisionSurface(Protocol):
    """A surface that decides: it has the state, a connection to the daemon, and a place for messages."""

    daemon: DaemonConnection
    model: Model

    def say(self, words: str, severity: SeverityLevel = "information") -> None: ...

    def redraw_soon(self) -> None: ...


async def send_decision(surface: DecisionSurface, item: RequestItem, body: Json) -> bool:
    """Decide exactly this request. True if the daemon accepted it."""
    item.sending = f"your {body['decision']}"
    surface.redraw_soon()
    try:
        result = await surface.daemon.decide(item.view, **body)
    except QuarterdeckError as error:
        item.sending = ""
        surface.say(one_line(f"Not decided: {error}"), "error")
        surface.redraw_soon()
        return False
    surface.model.remove_request(item.request_id)
    surface.redraw_soon()
    rule = result.get("remembered")
    if rule:
        surface.say(one_line(f"Remembered: {rule['effect']} {rule['pattern']} ({rule['scope']})"))
    if result.get("also_decided"):
        surface.say(f"It also decided {len(result['also_decided'])} more")
    return True


async def fetch_outcome(surface: DecisionSurface, request_id: str, at: float) -> None:
    """Fetch how a request ended while there was no connection."""
    try:
        request = await surface.daemon.request(request_id)
    except QuarterdeckError:
        return
    if request["status"] != "pending":
        surface.model.update_request(request, at)
        surface.redraw_soon()


async def send_decisions(surface: DecisionSurface, decision: str, items: list[RequestItem], **more: Any) -> None:
    """Decide several requests at once, each with its own id and digest; `more` goes with each."""
    waiting = [item for item in items if item.is_pending]
    decisions = [
        {"request_id": item.request_id, "digest": item.view["digest"], "decision": decision, **more} for item in waiting
    ]
    if not decisions:
        surface.say("Nothing was sent: all of them are over", "warning")
        return
    _mark_sending(waiting, f"your {decision}")
    try:
        results = await surface.daemon.decide_many(decisions)
    except QuarterdeckError as error:
        _mark_sending(waiting, "")
        surface.say(one_line(f"Not decided: {error}"), "error")
        return
    refused = {result["request_id"] for result in results if not result["ok"]}
    _mark_sending([item for item in waiting if item.request_id in refused], "")
    _report(surface, decision, results)


def _mark_sending(items: list[RequestItem], sending: str) -> None:
    for item in items:
        item.sending = sending


def _report(surface: DecisionSurface, decision: str, results: list[Json]) -> None:
    done = [result for result in results if result["ok"]]
    for result in done:
        surface.model.remove_request(result["request_id"])
    for result in results:
        item = surface.model.items.get(result["request_id"])
        if not result["ok"]:
            name = about(item.view) if item else result["request_id"]
            surface.say(one_line(f"Not decided: {name}: {result['error']['message']}"), "error")
    surface.say(f"{len(done)} of {len(results)} {DECIDED[decision]}")
    surface.redraw_soon()
