"""Filters find the same events as a plain comparison, wherever the index ends, in any number of steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.store.log import Entry, Log
from quarterdeck.store.queries import event_scan
from quarterdeck.store.reader import FeedQuery, Reader
from quarterdeck.store.search_index import LAYOUT, SearchIndex, search_path
from quarterdeck.store.sqlite import transaction
from tests.support.examples import examples
from tests.support.scene import Scene, bash

TOOLS = ["Bash", "Read", "Edit", "mcp__issues__find"]


def story() -> Scene:
    scene = Scene()
    for n in range(120):
        session = f"s{n % 3}"
        if n % 5 == 0:
            scene.receives("UserPromptSubmit", session=session, prompt=f"go {n}")
        tool = {**bash(f"run {n}", f"t{n}"), "tool_name": TOOLS[n % len(TOOLS)]}
        scene.receives("PreToolUse", session=session, **tool)
        hook = "PostToolUseFailure" if n % 7 == 0 else "PostToolUse"
        scene.receives(hook, session=session, **tool, tool_response={}, error="no")
        if n == 60:
            scene.clock -= 50  # the clock was set back: later events have earlier times
    return scene


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[FeedEvent]]]:
    """A log of which two thirds are in the index of fields, and half in that of sessions."""
    path = tmp_path_factory.mktemp("scan") / "events.db"
    scene = story()
    opened = Log.open(path)
    half, more = len(scene.events) // 2, len(scene.events) * 2 // 3
    opened.append([Entry(scene.events[:half])])
    opened.index_sessions()
    opened.append([Entry(scene.events[half:more])])
    index = SearchIndex(path)
    while index.add():
        pass
    index.close()
    opened.append([Entry(scene.events[more:])])
    yield path, scene.events
    opened.close()


RUNS = [f"s{n}:R{run}" for n in range(3) for run in (0, 1, 4)]


FILTERS: dict[str, list[Any]] = {
    "session_id": ["s0", "s1", "nobody"],
    "run_id": [*RUNS, "s0", ""],
    "kinds": [("tool.pre",), ("tool.failure", "run.start"), ("none",)],
    "levels": [("error",), ("warn", "error"), ("info",)],
    "actor_id": ["user", "agent:root", "system", "x"],
    "tool": [*TOOLS, "None"],
    "since": [1000.0, 1100.5, 1290.0],
    "until": [1000.0, 1100.5, 1290.0],
}
one_filter = st.sampled_from([(name, value) for name, values in FILTERS.items() for value in values])


@examples(8)
@given(
    after=st.none() | st.integers(0, 320),
    before=st.none() | st.integers(0, 320),
    limit=st.integers(1, 80),
    filters=st.lists(one_filter, max_size=3).map(dict),
    seconds=st.sampled_from([None, 60.0, 0.0]),
)
def test_pages_together_are_what_a_plain_filter_gives(
    log: tuple[Path, list[FeedEvent]],
    after: int | None,
    before: int | None,
    limit: int,
    filters: dict[str, Any],
    seconds: float | None,
) -> None:
    path, events = log
    query = FeedQuery(after=after, before=before, limit=limit, seconds=seconds, **filters)
    expected = [e for e in events if passes(e, query)]
    reader = Reader(path)
    found: list[FeedEvent] = []
    while True:
        page = reader.feed(query)
        assert page.partial or page.events or not (page.next or page.previous)
        place = page.previous if query.backwards else page.next
        found = page.events + found if query.backwards else found + page.events
        if place is None:
            break
        query = replace(query, before=place) if query.backwards else replace(query, after=place)
    reader.close()
    assert found == expected


def passes(event: FeedEvent, query: FeedQuery) -> bool:
    exact = {
        query.session_id: event.session_id,
        query.run_id: event.run_id,
        query.actor_id: event.actor_id,
        query.tool: getattr(event.data, "tool_name", None),
    }
    return (
        (query.after or 0) < event.seq_no < (10**9 if query.before is None else query.before)
        and all(wanted in (None, value) for wanted, value in exact.items())
        and (not query.kinds or event.kind in query.kinds)
        and (not query.levels or event.level in query.levels)
        and (query.since or 0) <= event.at <= (query.until or 10**9)
    )


def test_a_page_out_of_time_says_where_it_ended(
    log: tuple[Path, list[FeedEvent]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, events = log
    monkeypatch.setattr(event_scan, "STEP", 4)
    reader = Reader(path)
    page = reader.feed(FeedQuery(until=1.0, after=200, seconds=0.0))
    earlier = reader.feed(FeedQuery(since=2000.0, before=len(events), seconds=0.0))
    reader.close()
    assert (page.events, page.partial, page.more) == ([], True, True)
    assert page.next is not None
    assert 200 < page.next < len(events)
    assert (earlier.events, earlier.partial, earlier.next) == ([], True, None)
    assert earlier.previous is not None
    assert 0 < earlier.previous < len(events)


def test_an_index_of_another_layout_is_not_used_and_a_new_file_is_taken(tmp_path: Path) -> None:
    scene = story()
    opened = Log.open(tmp_path / "events.db")
    opened.append([Entry(scene.events)])
    index = SearchIndex(opened.path)
    while index.add():
        pass
    reader = Reader(opened.path)
    query = FeedQuery(tool="Edit", limit=1000)
    expected = reader.feed(query).events
    with transaction(index._db):
        index._db.execute("DELETE FROM fields")
    assert reader.feed(query).events == []
    index._db.execute(f"PRAGMA user_version={LAYOUT + 1}")
    assert reader.feed(query).events == expected
    index.close()
    search_path(opened.path).unlink()
    SearchIndex(opened.path).close()
    assert reader.feed(query).events == expected
    reader.close()
    opened.close()
