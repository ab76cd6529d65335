"""Stopping several sessions: asks the daemon what would stop, and then stops exactly that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.text.stop_labels import END, INTERRUPT, StopWords, stop_summary
from quarterdeck.views.resources.session_view import StopResult, StopResults

Json = dict[str, Any]


class StopDaemon(Protocol):
    """The daemon, as far as it is needed here."""

    async def long_call(self, method: str, path: str, body: Json | None = None) -> Json: ...


async def plan_stop(daemon: StopDaemon) -> dict[str, list[StopResult]]:
    """The sessions that would stop, by the route that stops them."""
    body = {"all": True, "dry_run": True}
    routes = [words.route for words in (INTERRUPT, END)]
    replies = {route: await daemon.long_call("POST", f"/sessions/{route}", body) for route in routes}
    return {route: read_view(StopResults, reply).sessions for route, reply in replies.items()}


async def stop_sessions(daemon: StopDaemon, sessions: Sequence[StopResult], words: StopWords) -> str:
    """Stop these sessions, and say in one line how it went."""
    body = {"session_ids": [session.session_id for session in sessions]}
    reply = await daemon.long_call("POST", f"/sessions/{words.route}", body)
    return stop_summary(read_view(StopResults, reply).sessions, words)
