"""The card of a request of a backend: what the core does not hold is gathered here."""

from __future__ import annotations

import asyncio
import time

from quarterdeck.api.backend import Backend
from quarterdeck.api.views.resources import request_facts
from quarterdeck.core.model.state import Request
from quarterdeck.core.text.file_diff import FileDiff
from quarterdeck.views.code_colours import ColouredLine, diff_colours
from quarterdeck.views.resources import card_view as cards


async def card_view(backend: Backend, request: Request) -> cards.CardView:
    """A request with everything known about it now."""
    breakdown = await backend.requests.breakdown(request)
    is_open = request.status == "pending" and request.kind != "stop"
    return cards.card_view(
        request,
        request_facts(backend, request),
        breakdown,
        session=backend.sessions.get(request.session_id),
        colours=await _colours(breakdown.change),
        at=time.time(),
        others_waiting=sum(other.request_id != request.request_id for other in backend.requests.pending()),
        rule=await _rules_view(backend, request) if is_open else None,
    )


async def _colours(change: FileDiff | None) -> list[ColouredLine]:
    # Lexing hundreds of lines takes longer than the loop may stand still.
    return await asyncio.to_thread(diff_colours, change.path, change.diff) if change else []


async def _rules_view(backend: Backend, request: Request) -> cards.RulesView | None:
    found = await backend.rules.explain(request.request_id, "", {}, None, None)
    if found is None:
        return None
    trust = backend.projects.trust_of(request.cwd or "")
    return cards.rules_view(found.explanation.verdict, found.patterns, found.own_allows, trust)
