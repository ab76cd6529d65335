"""Show the feed: one line for each tool call, message and turn, or every event as it is stored."""

from __future__ import annotations

import asyncio
import contextlib
import json as jsonlib
import sys
import time
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from rich.text import Text

from quarterdeck.cli.common import (
    AsJson,
    Json,
    Output,
    cell,
    client,
    command,
    endpoint,
    full_session_id,
    group,
    known_kinds,
    option,
    out,
    project_id_named,
    require_one_of,
    show,
)
from quarterdeck.cli.output.time_args import SINCE, read_time
from quarterdeck.core.model.events import KINDS, OWN
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.durations import duration_words
from quarterdeck.core.text.feed.event_rows import EventRow, fold
from quarterdeck.core.text.feed.row_keys import is_debug
from quarterdeck.core.text.feed.row_stream import RowStream
from quarterdeck.core.text.feed.row_words import row_words
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.search_terms import matches, read_search, searchable_view_text
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.client.live import Connected, LiveClient, LiveMessage, Lost
from quarterdeck.surfaces.text.labels import project_name

app = group("Show the feed.")

LEVEL_STYLE = {"debug": "dim", "warn": "yellow", "error": "red"}
GLYPH_STYLE = {"✓": "green", "✗": "red", "!": "yellow"}
PAGE = 1000
"""Events read at once."""
MOST_PAGES = 10
"""A feed of nothing but debugging is not read to its beginning."""
LEVELS = ("debug", "info", "warn", "error")
PROJECT_CELLS = 13
MIN_TEXT = 24
"""Columns that the text of a row keeps beside the decision and the duration."""


@command(app)
def feed(
    follow_it: Annotated[bool, option("Keep printing new events until Ctrl-C.", "--follow", "-f")] = False,
    every: Annotated[bool, option("All stored events in log order, including debug events.", "--all-events")] = False,
    session: Annotated[str | None, option("Only this session.")] = None,
    kind: Annotated[list[str] | None, option("Only this kind of event; repeatable.")] = None,
    search: Annotated[
        str | None, option("Only events with all these words. Quote a phrase; the last word may be a prefix.")
    ] = None,
    tool: Annotated[str | None, option("Only calls of this tool.")] = None,
    actor: Annotated[str | None, option("Only by this actor, like user or agent:root.")] = None,
    level: Annotated[list[str] | None, option("Only this level: debug, info, warn or error; repeatable.")] = None,
    run_id: Annotated[str | None, option("Only this run, like SESSION:R3.", "--run")] = None,
    project: Annotated[str | None, option("Only sessions of this project, by its name or folder.")] = None,
    since: Annotated[str | None, option(f"Only events since then: {SINCE}.")] = None,
    until: Annotated[str | None, option(f"Only events until then: {SINCE}.")] = None,
    after: Annotated[int | None, option("Only events after this seq_no.", min=0)] = None,
    raw: Annotated[
        int | None, option("Print the event with this seq_no as JSON, with its causes and raw payload.", min=1)
    ] = None,
    limit: Annotated[
        int, option("Maximum number of lines (the latest); with --after, of events.", min=1, max=1000)
    ] = 50,
    json: AsJson = False,
) -> None:
    """Show what happened, a line for each tool call."""
    api = client()
    if raw is not None:
        return show(Output(api.get(f"/api/v1/events/{raw}")), as_json=True)
    for one in level or ():
        require_one_of("--level", one, LEVELS)
    filters = {
        "session_id": full_session_id(api, session) if session is not None else None,
        "run_id": run_id,
        "project_id": project_id_named(api, project) if project is not None else None,
        "kind": known_kinds(kind, KINDS, "event", "see docs/feed.md"),
        "level": level,
        "q": search,
        "tool": tool,
        "actor_id": actor,
        "since": read_time(since) if since else None,
        "until": read_time(until) if until else None,
    }
    end = _end(api) if follow_it else 0
    printer = FeedPrinter(
        as_json=json,
        every=every,
        debug=bool(kind or level),
        projects=SessionProjects(lambda: api.all("/api/v1/sessions")),
    )
    if json or every or after is not None:
        place = {"before": 2**53} if after is None else {"after": after}
        page = _page(api, limit, {**place, **filters})
    else:
        page = latest_page(lambda **place: _page(api, place.pop("limit"), {**place, **filters}), limit, printer)
    events = page["events"]
    if json and not follow_it:
        return show(Output({"events": events, "next": events[-1]["seq_no"] if events else None}), as_json=True)
    printer.print_page(events, is_all=not follow_it, limit=limit)
    if follow_it:
        last = events[-1]["seq_no"] if events else 0
        follow(last if after is not None and page["next"] else max(end, last), printer, **filters)


def _page(api: Client, limit: int, query: dict[str, Any]) -> Json:
    """A page, asked for again where the daemon's time for one look at the log was not enough."""
    page = api.get("/api/v1/feed", limit=limit, **query)
    while page["partial"] and len(page["events"]) < limit:
        is_earlier = query.get("after") is None
        place = {"before": page["previous"]} if is_earlier else {"after": page["next"]}
        query, found = {**query, **place}, page["events"]
        page = api.get("/api/v1/feed", limit=limit - len(found), **query)
        page["events"] = page["events"] + found if is_earlier else found + page["events"]
    return page


class SessionProjects:
    """The projects of sessions, of which `read` gives the list. An unknown session makes it be read again, once."""

    def __init__(self, read: Callable[[], Iterable[Json]]) -> None:
        self._read = read
        self._known: dict[str, Json] = {}

    def name(self, session_id: str) -> str:
        return project_name(self._session(session_id).get("cwd", ""))

    def project_id(self, session_id: str) -> str | None:
        return self._session(session_id).get("project_id")

    def _session(self, session_id: str) -> Json:
        if session_id not in self._known:
            self._known |= {one["session_id"]: one for one in self._read()}
        return self._known.setdefault(session_id, {})


def _end(api: Client) -> int:
    """The position of the last event."""
    last = api.get("/api/v1/feed", before=2**53, limit=1)["events"]
    return int(last[0]["seq_no"]) if last else 0


def latest_page(read: Callable[..., Json], limit: int, printer: FeedPrinter) -> Json:
    """The latest events, as many as make this many rows and one more: its beginning may be on an earlier page."""
    page = read(before=2**53, limit=PAGE)
    events = page["events"]
    for _ in range(MOST_PAGES):
        if page["previous"] is None or len(printer.rows(events)) > limit:
            break
        page = read(before=page["previous"], limit=PAGE)
        events = [*page["events"], *events]
    return {**page, "events": events}


class FeedPrinter:
    """Prints events as rows, or each as it is stored, below the date where that is not today. `debug`: also those for
    debugging. `projects` knows the project of a session."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        every: bool = False,
        debug: bool = False,
        projects: SessionProjects | None = None,
    ) -> None:
        self._projects = projects
        self._day = _day(time.time())
        self._as_json = as_json
        self._every = every
        self._debug = debug
        self._stream = RowStream()

    def print_page(self, events: list[Json], *, is_all: bool, limit: int = PAGE) -> None:
        """Print a page of the log, its last `limit` rows; if more follows, a call that still runs is printed with its
        outcome."""
        if self._as_json or self._every:
            return self.print_new(events)
        complete = {event["seq_no"] for row in self._stream.add(events) for event in row.events}
        self._print([row for row in self.rows(events) if is_all or row.head["seq_no"] in complete][-limit:])

    def rows(self, events: list[Json]) -> list[EventRow]:
        """The rows of these events that are printed."""
        return [row for row in fold(events) if self._is_shown(row)]

    def print_new(self, events: Iterable[Json]) -> None:
        """Print the events that follow."""
        if self._as_json or self._every:
            for event in events:
                if not self._as_json:
                    self._begin_day(event)
                show_event(event, self._as_json, self._project(event))
        else:
            self._print(self._stream.add(events))

    def print_rest(self) -> None:
        """Print the calls that still run."""
        self._print(self._stream.rest())

    def _print(self, rows: Iterable[EventRow]) -> None:
        for row in rows:
            if self._is_shown(row):
                self._begin_day(row.head)
                _write(row_line(row, out.width if out.is_terminal else None, self._project(row.head)))

    def _begin_day(self, event: Json) -> None:
        day = _day(event["at"])
        if day != self._day:
            self._day = day
            _write(cell(day, "bold"))

    def is_of_project(self, event: Json, project_id: str | None) -> bool:
        """True for an event of a session of this project; None for those of all."""
        projects = self._projects
        return project_id is None or projects is None or projects.project_id(event["session_id"]) == project_id

    def _project(self, event: Json) -> str | None:
        """The name for the column of projects; None without that column."""
        if self._projects is None:
            return None
        return "" if event["session_id"] == OWN else self._projects.name(event["session_id"])

    def _is_shown(self, row: EventRow) -> bool:
        return self._debug or not all(map(is_debug, row.events))


def _day(at: float) -> str:
    return time.strftime("%a %d %b %Y", time.localtime(at))


def follow(after: int | None, printer: FeedPrinter, **filters: Any) -> None:
    """Print new events until Ctrl-C. Waits for a daemon that restarts."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_follow(after, printer, filters))
    printer.print_rest()


async def _follow(after: int | None, printer: FeedPrinter, filters: dict[str, Any]) -> None:
    live = LiveClient(endpoint, client="cli", topics=["feed"], after=after)
    away = False
    async for message in live.follow():
        match message:
            case Lost(reason=reason):
                if not away:
                    sys.stderr.write(f"quarterdeck: {one_line(reason)}; waiting for the daemon\n")
                away = True
            case Connected(resumed=resumed, seq_no=seq_no):
                away = False
                if not resumed:
                    sys.stderr.write(f"quarterdeck: older events are no longer kept; continuing from {seq_no}\n")
            case LiveMessage(kind="event", body=body) if is_match(body["event"], filters):
                if printer.is_of_project(body["event"], filters.get("project_id")):
                    printer.print_new([body["event"]])
            case _:
                pass


def is_match(event: dict[str, Any], filters: dict[str, Any]) -> bool:
    """True when a new event passes the filters, by the same rules as the daemon's."""
    exact = {name: event.get(name) for name in ("session_id", "actor_id", "run_id")} | {
        "tool": event["data"].get("tool_name")
    }
    if filters.get("level") and event["level"] not in filters["level"]:
        return False
    kinds, since, until = filters.get("kind"), filters.get("since"), filters.get("until")
    if any(filters.get(name) not in (None, value) for name, value in exact.items()):
        return False
    if (kinds and event["kind"] not in kinds) or not (since or 0) <= event["at"] <= (until or float("inf")):
        return False
    if filters.get("q"):
        return matches(searchable_view_text(event["title"], event["data"]), read_search(filters["q"]))
    return True


def row_line(row: EventRow, width: int | None = None, project: str | None = None) -> Text:
    """A row as one line of `width` columns: what is cut is the middle of its text, never who decided or how long it
    took."""
    words, head = row_words(row), row.head
    line = _lead(head, project)
    end = Text()
    for part, style in (
        (words.verdict, GLYPH_STYLE.get(words.verdict[:1], "dim")),
        (words.outcome, LEVEL_STYLE.get(words.level, "dim")),
        ("" if words.took is None else duration_words(words.took), "dim"),
    ):
        if part:
            end.append_text(Text("  ")).append_text(cell(part, style))
    text = one_line(words.text)
    if width is not None:
        text = cut(text, max(width - line.cell_len - end.cell_len, MIN_TEXT))
    style = "red" if words.level == "error" and not words.outcome else ""
    return line.append_text(Text(text, style)).append_text(end)


def _lead(event: Json, project: str | None = None) -> Text:
    """The time, the session and its project."""
    line = Text(time.strftime("%H:%M:%S ", time.localtime(event["at"])), style="dim")
    whose = "qd" if event["session_id"] == OWN else event["session_id"][:8]
    line.append(f"{one_line(whose):<9}", style="cyan")
    return line if project is None else line.append(f"{cut(one_line(project), PROJECT_CELLS - 1):<{PROJECT_CELLS}}")


def show_event(event: dict[str, Any], as_json: bool = False, project: str | None = None) -> None:
    """Print one event as it is stored, on one line."""
    if as_json:
        sys.stdout.write(jsonlib.dumps(event, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        return
    _write(_lead(event, project).append_text(cell(event["title"], LEVEL_STYLE.get(event["level"], ""))))


def _write(line: Text) -> None:
    if out.is_terminal:
        out.print(line, overflow="ellipsis", no_wrap=True)
    else:
        sys.stdout.write(line.plain + "\n")
        sys.stdout.flush()
