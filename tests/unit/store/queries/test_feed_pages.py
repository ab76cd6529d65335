"""Pages of the feed: the search index finds the same events as a walk through the log, and every filter narrows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.search_terms import matches, read_search, searchable_text
from quarterdeck.store.log import Entry, Log
from quarterdeck.store.reader import FeedQuery, Reader
from quarterdeck.store.search_index import CHUNK, SearchIndex, search_path
from tests.support.examples import examples
from tests.support.scene import Scene, bash

WORDS = ["rm", "build", "builds", "make", "Straße", "東京", "a_b", "x", "rm -rf", "--", "ﬁne", "K"]


def story() -> Scene:
    scene = Scene()
    for n in range(60):
        text = f"{WORDS[n % len(WORDS)]} {WORDS[n * 7 % len(WORDS)]} {n}"
        scene.receives("UserPromptSubmit", session=f"s{n % 3}", prompt=text)
        scene.receives("PreToolUse", session=f"s{n % 3}", **bash(text, f"t{n}"))
    return scene


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[FeedEvent]]]:
    """A log whose first events are in both indexes and whose last are in neither."""
    path = tmp_path_factory.mktemp("paging") / "events.db"
    scene = story()
    opened = Log.open(path)
    half = len(scene.events) // 2
    opened.append([Entry(scene.events[:half])])
    opened.index_sessions()
    index = SearchIndex(path)
    while index.add():
        pass
    index.close()
    opened.append([Entry(scene.events[half:])])
    yield path, scene.events
    opened.close()


words = st.lists(st.sampled_from([*WORDS, "bui", "stras", "東", '"rm rf"', '"', "1", "5", "permission"]), max_size=3)
place = st.none() | st.integers(0, 260)


@examples(2)
@given(
    typed=st.none() | words.map(" ".join) | st.text(max_size=8),
    after=place,
    before=place,
    limit=st.integers(1, 300),
    session=st.none() | st.sampled_from(["s0", "s2", "nobody"]),
    sessions=st.none() | st.just(("s0", "s1")) | st.just(()),
    kinds=st.sampled_from([(), ("tool.pre",), ("tool.pre", "run.start")]),
    since=st.none() | st.floats(1000, 1130),
    until=st.none() | st.floats(1000, 1130),
)
def test_a_page_is_what_a_plain_filter_gives(
    log: tuple[Path, list[FeedEvent]],
    typed: str | None,
    after: int | None,
    before: int | None,
    limit: int,
    session: str | None,
    sessions: tuple[str, ...] | None,
    kinds: tuple[str, ...],
    since: float | None,
    until: float | None,
) -> None:
    path, events = log
    query = FeedQuery(
        after=after,
        before=before,
        limit=limit,
        session_id=session,
        sessions=sessions,
        kinds=kinds,
        search=typed,
        since=since,
        until=until,
    )
    expected = [
        e
        for e in events
        if (after or 0) < e.seq_no < (before if before is not None else 10**9)
        and session in (None, e.session_id)
        and (sessions is None or e.session_id in sessions)
        and (not kinds or e.kind in kinds)
        and (since or 0) <= e.at <= (until or 10**9)
        and (typed is None or matches(searchable_text(e), read_search(typed)))
    ]
    reader = Reader(path)
    page = reader.feed(query)
    reader.close()
    assert page.events == (expected[-limit:] if before is not None and after is None else expected[:limit])


def test_an_event_that_is_not_indexed_yet_is_found(log: tuple[Path, list[FeedEvent]]) -> None:
    path, events = log
    reader = Reader(path)
    newest = reader.feed(FeedQuery(search="59", before=2**53, limit=2)).events
    reader.close()
    assert newest == events[-2:]


def test_a_search_far_ahead_of_its_index_goes_on_where_it_stopped(
    log: tuple[Path, list[FeedEvent]],
) -> None:
    path, events = log
    expected = [e for e in events if matches(searchable_text(e), read_search("make"))]
    reader = Reader(path, walk=7)
    found: list[FeedEvent] = []
    after: int | None = 0
    while after is not None:
        page = reader.feed(FeedQuery(search="make", after=after, limit=2))
        found += page.events
        after = page.next
    reader.close()
    assert found == expected


def test_an_index_catches_up_after_it_was_left(tmp_path: Path) -> None:
    scene = story()
    log = Log.open(tmp_path / "events.db")
    log.append([Entry(scene.events[:50])])
    first = SearchIndex(log.path)
    assert (first.add(), first.add()) == (50, 0)
    first.close()
    log.append([Entry(scene.events[50:])])
    again = SearchIndex(log.path)
    assert again.seq_no == 50
    while again.add():
        pass
    assert again.seq_no == log.seq_no
    again.close()
    log.close()


def changed(sql: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        db = sqlite3.connect(path)
        db.execute(sql)
        db.commit()
        db.close()

    return change


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_bytes(b"noise" * 5000),
        changed("UPDATE mark SET hash=x'00'"),
        changed("PRAGMA user_version=99"),
    ],
    ids=["noise", "another log", "another layout"],
)
def test_an_index_that_does_not_fit_is_made_again(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    log = Log.open(tmp_path / "events.db")
    log.append([Entry(story().events)])
    index = SearchIndex(log.path)
    index.add()
    index.close()
    harm(search_path(log.path))
    again = SearchIndex(log.path)
    assert again.seq_no == 0
    assert again.add() == min(CHUNK, log.seq_no)
    again.close()
    log.close()
