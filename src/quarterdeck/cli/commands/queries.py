"""Reading what happened: sessions, feed, requests."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import json as jsonlib
import sys
import time
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.table import Table
from rich.text import Text

from quarterdeck.cli.common import AsJson, ago, cell, client, out, plainly, print_json, state_cell, whole_id
from quarterdeck.cli.output.request_card import show_card, show_request
from quarterdeck.cli.output.time_args import read_time
from quarterdeck.config import home_path
from quarterdeck.core.model.events import HIDDEN, KINDS, OWN
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.search_terms import matches, read_search, searched_view
from quarterdeck.core.text.titles import count, cut, money
from quarterdeck.errors import Refused
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.client.live import Connected, Live, Lost, Message
from quarterdeck.surfaces.text.waiting_elsewhere import elsewhere_lines, waits_elsewhere

WIDE = 110
"""Columns from which on a table has room for what is nice to know."""

LEVEL_STYLE = {"debug": "dim", "warn": "yellow", "error": "red"}


class Status(StrEnum):
    PENDING = "pending"
    DECIDED = "decided"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@plainly
def sessions(json: AsJson = False, all: Annotated[bool, typer.Option("--all", help="Ended ones too.")] = False) -> None:
    """List sessions: who works, who waits, who has ended. A ~ marks what the process table says and no hook."""
    found = client().all("/api/v1/sessions")
    if not all and not json:
        found = [s for s in found if s["ended_at"] is None]
    if json:
        print_json({"sessions": found, "next": None})
        return
    if not found:
        out.print("No live sessions. Start `claude` in any terminal; if it does not show, run: qd doctor")
        return
    wide = out.width >= WIDE
    more = ("waits", "tools", "tokens", "cost") if wide else ("waits",)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("state", "session", "project", "title", *more, "last"):
        table.add_column(name, no_wrap=True)
    room = max(12, out.width - (82 if wide else 62)) if out.is_terminal else 50
    for s in found:
        spent = (cell(s["counters"]["tool_uses"]), *_spent(s["usage"])) if wide else ()
        table.add_row(
            state_cell(s["agent_state"]).append(" ~" if s["state_source"] == "process" else "", "dim"),
            cell(s["session_id"][:8]),
            cell(cut(s["cwd"].rsplit("/", 1)[-1] or s["cwd"], 18 if wide else 12)),
            cell(cut(s["title"], room)),
            cell(_waits(s)),
            *spent,
            cell(ago(s["last_event_at"])),
        )
    out.print(table)


def _waits(session: dict[str, Any]) -> str:
    """Requests that wait for a person, and prompts that wait for the agent."""
    queued = f"{session['queued']} queued" if session["queued"] else ""
    return " · ".join(filter(None, (str(session["pending"] or ""), queued)))


def _spent(usage: dict[str, Any] | None) -> tuple[Text, Text]:
    """Tokens and cost, where they are known."""
    if usage is None:
        return cell(""), cell("")
    tokens = sum(usage[f"{kind}_tokens"] for kind in ("input", "output", "cache_read", "cache_write"))
    return cell(count(tokens)), cell(money(usage["cost_usd"]))


@plainly
def feed(
    follow_it: Annotated[bool, typer.Option("--follow", "-f", help="Go on as events come.")] = False,
    session: Annotated[str | None, typer.Option(help="Only this session.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind; may be given again.")] = None,
    search: Annotated[
        str | None, typer.Option(help="Only events with all these words; quoted ones in a row, the last may be begun.")
    ] = None,
    tool: Annotated[str | None, typer.Option(help="Only calls of this tool.")] = None,
    actor: Annotated[str | None, typer.Option(help="Only by this actor, like user or agent:root.")] = None,
    since: Annotated[str | None, typer.Option(help="Not before: 30m, 2h, 3d ago, or a date.")] = None,
    until: Annotated[str | None, typer.Option(help="Not after: 30m, 2h, 3d ago, or a date.")] = None,
    after: Annotated[int | None, typer.Option(min=0, help="Only events after this seq_no.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="How many at most, without --after the latest ones.")
    ] = 50,
    json: AsJson = False,
) -> None:
    """Show what happened, oldest first."""
    asked = client()
    filters = {
        "session_id": whole_id(asked, session) if session is not None else None,
        "kind": _known(kind),
        "q": search,
        "tool": tool,
        "actor_id": actor,
        "since": read_time(since) if since else None,
        "until": read_time(until) if until else None,
    }
    end = _end(asked) if follow_it else 0
    place = {"before": 2**53} if after is None else {"after": after}
    page = asked.get("/api/v1/feed", limit=limit, **place, **filters)
    events = page["events"]
    if json and not follow_it:
        print_json({"events": events, "next": events[-1]["seq_no"] if events else None})
        return
    for event in events:
        if json or kind or event["kind"] not in HIDDEN:
            show_event(event, json)
    if follow_it:
        last = events[-1]["seq_no"] if events else 0
        follow(last if after is not None and page["next"] else max(end, last), json, **filters)


def _end(asked: Client) -> int:
    """The position of the last event there is."""
    last = asked.get("/api/v1/feed", before=2**53, limit=1)["events"]
    return int(last[0]["seq_no"]) if last else 0


def _known(kinds: list[str] | None) -> list[str] | None:
    for kind in kinds or ():
        if kind not in KINDS:
            near = difflib.get_close_matches(kind, KINDS, n=1)
            raise Refused(f"no such kind: {kind}" + (f"; did you mean {near[0]}?" if near else "; see docs/feed.md"))
    return kinds or None


def follow(after: int | None, as_json: bool = False, **filters: Any) -> None:
    """Print events as they come, until Ctrl-C. A daemon that restarts is waited for."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_follow(after, as_json, filters))


async def _follow(after: int | None, as_json: bool, filters: dict[str, Any]) -> None:
    live = Live(lambda: Client.where(home_path()), client="cli", topics=["feed"], after=after)
    away = False
    async for said in live.follow():
        match said:
            case Lost(reason=reason):
                if not away:
                    sys.stderr.write(f"quarterdeck: {one_line(reason)}; waiting for the daemon\n")
                away = True
            case Connected(resumed=resumed, seq_no=seq_no):
                away = False
                if not resumed:
                    sys.stderr.write(f"quarterdeck: older events are no longer kept; going on from {seq_no}\n")
            case Message(kind="event", body=body) if wanted(body["event"], as_json, filters):
                show_event(body["event"], as_json)
            case _:
                pass


def wanted(event: dict[str, Any], as_json: bool, filters: dict[str, Any]) -> bool:
    """Whether a followed event is one of those asked for, as the daemon chooses them."""
    exact = {name: event[name] for name in ("session_id", "actor_id")} | {"tool": event["data"].get("tool_name")}
    kinds, since, until = filters.get("kind"), filters.get("since"), filters.get("until")
    if any(filters.get(name) not in (None, value) for name, value in exact.items()):
        return False
    if (kinds and event["kind"] not in kinds) or not (since or 0) <= event["at"] <= (until or float("inf")):
        return False
    if filters.get("q"):
        return matches(searched_view(event["title"], event["data"]), read_search(filters["q"]))
    return bool(as_json or kinds or event["kind"] not in HIDDEN)


def show_event(event: dict[str, Any], as_json: bool = False) -> None:
    """One event on one line."""
    if as_json:
        sys.stdout.write(jsonlib.dumps(event, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        return
    clock = time.strftime("%H:%M:%S", time.localtime(event["at"]))
    line = Text(f"{clock} ", style="dim")
    whose = "qd" if event["session_id"] == OWN else event["session_id"][:8]
    line.append(f"{whose:<9}", style="cyan")
    line.append_text(cell(event["title"], LEVEL_STYLE.get(event["level"], "")))
    if out.is_terminal:
        out.print(line, overflow="ellipsis", no_wrap=True)
    else:
        sys.stdout.write(line.plain + "\n")
        sys.stdout.flush()


@plainly
def requests(
    request_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Show the card of this one, with everything a decision needs.")
    ] = None,
    json: AsJson = False,
    status: Annotated[Status, typer.Option(help="Those that wait, or how they ended.")] = Status.PENDING,
) -> None:
    """List who waits for a decision, and what exactly they want."""
    if request_id is not None:
        one = client().get(f"/api/v1/requests/{quote(request_id, safe='')}")
        print_json(one) if json else show_card(one)
        return
    asked = client()
    found = asked.all("/api/v1/requests", status=status.value)
    waits = status is Status.PENDING
    elsewhere = [s for s in asked.all("/api/v1/sessions") if waits_elsewhere(s)] if waits else []
    if json:
        there = {"at_own_terminal": [s["session_id"] for s in elsewhere]} if waits else {}
        print_json({"requests": found, "next": None, **there})
        return
    if not found and not elsewhere:
        out.print("Nobody waits for you." if waits else f"No {status} requests.")
    for request in found:
        show_request(request)
    for line in elsewhere_lines(elsewhere):
        out.print(cell(line))


def register(cli: typer.Typer) -> None:
    for command in (sessions, feed, requests):
        cli.command()(command)
