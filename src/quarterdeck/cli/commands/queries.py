"""Show sessions and requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Annotated, Literal
from urllib.parse import quote

from msgspec import UNSET
from rich.console import RenderableType
from rich.table import Table

from quarterdeck.cli.common import (
    Json,
    Output,
    argument,
    client,
    command,
    full_request_id,
    group,
    option,
    out,
    state_cell,
    table,
)
from quarterdeck.cli.output.request_card import card_lines, request_lines
from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.text.amounts import count, cut, money
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.client.view_reader import read_views
from quarterdeck.surfaces.terminal.session_names import machine_of
from quarterdeck.surfaces.terminal.usage_totals import total_usage
from quarterdeck.surfaces.text.labels import ago, failure_texts, project_name
from quarterdeck.surfaces.text.session_order import in_order
from quarterdeck.surfaces.text.waiting_elsewhere import waiting_elsewhere_texts, waits_elsewhere
from quarterdeck.views.resources.session_view import SessionView

app = group("Show sessions and requests.")
WIDE = 110
"""Terminal width from which tables show optional columns."""


CHANGES = (ToolKind.WRITE, ToolKind.EDIT, ToolKind.MULTI_EDIT, ToolKind.NOTEBOOK_EDIT)
MOST_DIFFS = 20
"""Changes of files in a list that are shown as diffs, each of which is a call of its own."""
RequestStatus = Literal["pending", "decided", "withdrawn", "expired"]


@command(app)
def sessions(all: Annotated[bool, option("Include ended sessions.", "--all")] = False) -> Output:
    """List sessions with their states. A ~ marks a state known from the process table, not from a hook."""
    found = client().all("/api/v1/sessions")
    views = read_views(SessionView, found)
    shown = in_order(views if all else [s for s in views if s.ended_at is None])
    hint = "No live sessions. Start `claude` in any terminal; if it does not show up here, run: qd doctor"
    failures = failure_texts(views, time.time())
    return Output({"sessions": found, "next": None}, [_session_table(shown) if shown else hint, *failures])


def _session_table(sessions: list[SessionView]) -> Table:
    is_wide = out.width >= WIDE
    room = max(12, out.width - (82 if is_wide else 62)) if out.is_terminal else 50
    has_machines = any(s.runner_name is not UNSET for s in sessions)
    columns: dict[str, Callable[[SessionView], object]] = {
        "state": lambda s: state_cell(s).append(" ~" if s.state_source == "process" else "", "dim"),
        **({"machine": lambda s: cut(machine_of(s), 16)} if has_machines else {}),
        "session": lambda s: s.session_id[:8],
        "project": lambda s: cut(project_name(s.cwd), 18 if is_wide else 12),
        "title": lambda s: cut(s.title, room),
        "waits": _waits,
    }
    if is_wide:
        columns["tools"] = lambda s: s.counters.tool_uses
        columns["tokens"] = lambda s: count(total_usage([s]).tokens) if s.usage else ""
        columns["cost"] = lambda s: money(s.usage.cost_usd) if s.usage else ""
    return table(sessions, columns | {"last": lambda s: ago(s.last_event_at)})


def _waits(session: SessionView) -> str:
    """Numbers of pending requests and of queued prompts."""
    queued = f"{session.queued} queued" if session.queued else ""
    return " · ".join(filter(None, (str(session.pending or ""), queued)))


@command(app)
def requests(
    request_id: Annotated[
        str | None,
        argument("Request to show in full; a unique prefix or its number is enough.", metavar="[ID]"),
    ] = None,
    status: Annotated[RequestStatus, option("Only requests with this status.")] = "pending",
) -> Output:
    """List the requests that wait for you, or show one of them."""
    api = client()
    if request_id is not None:
        one = api.get(f"/api/v1/requests/{quote(full_request_id(api, request_id), safe='')}")
        return Output(one, card_lines(one))
    found = api.all("/api/v1/requests", status=status)
    all_sessions = api.sessions() if found or status == "pending" else []
    value: Json = {"requests": found, "next": None}
    elsewhere: list[SessionView] = []
    if status == "pending":
        elsewhere = [s for s in all_sessions if waits_elsewhere(s)]
        value["at_own_terminal"] = [s.session_id for s in elsewhere]
    by_id = {s.session_id: s for s in all_sessions}
    return Output(value, _request_lines(api, found, by_id, elsewhere, status))


def _request_lines(
    api: Client, found: list[Json], by_id: dict[str, SessionView], elsewhere: list[SessionView], status: RequestStatus
) -> Iterator[RenderableType]:
    if not found and not elsewhere:
        yield "No requests are waiting." if status == "pending" else f"No {status} requests."
    for number, request in enumerate(found):
        is_diff = request["tool_kind"] in CHANGES and number < MOST_DIFFS
        shown = api.get(f"/api/v1/requests/{request['request_id']}") if is_diff else request
        yield from request_lines(shown, by_id.get(request["session_id"]))
    yield from waiting_elsewhere_texts(elsewhere)
