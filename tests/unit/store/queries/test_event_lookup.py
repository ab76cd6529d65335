"""An event by its id, with what led to it and what followed from it, indexed or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.core.model.decisions import Allow
from quarterdeck.core.model.events import Cause, FeedEvent
from quarterdeck.store.log import Entry, Log
from quarterdeck.store.queries.event_lookup import MOST_EFFECTS
from quarterdeck.store.reader import Reader
from quarterdeck.store.search_index import SearchIndex
from tests.support.scene import Scene, bash


def story() -> Scene:
    scene = Scene().receives("UserPromptSubmit", prompt="go").receives("PreToolUse", **bash("make", "t1"))
    scene.receives("PermissionRequest", id="r1", **bash("make", "t1")).decides("r1", Allow())
    scene.receives("PostToolUse", **bash("make", "t1"), tool_response={})
    return scene.receives("UserPromptSubmit", session="other", prompt="elsewhere").receives("Stop")


def opened(folder: Path, events: list[FeedEvent], indexed: int) -> Log:
    log = Log.open(folder / "events.db")
    log.append([Entry(events[:indexed])] if indexed else [])
    if indexed:
        index = SearchIndex(log.path)
        while index.add():
            pass
        index.close()
        log.index_sessions()
    log.append([Entry(events[indexed:])])
    return log


@pytest.mark.parametrize("indexed", [0, 3, 5, 100])
def test_every_event_is_found_with_its_causes_and_effects(tmp_path: Path, indexed: int) -> None:
    scene = story()
    log = opened(tmp_path, scene.events, min(indexed, len(scene.events)))
    reader = Reader(log.path)
    parents = {e.event_id: e.cause.parent_event_id if e.cause else None for e in scene.events}
    by_id = {e.event_id: e for e in scene.events}
    for event in scene.events:
        found = reader.event(event.event_id)
        assert found is not None
        assert found[0] == event
        assert reader.event(str(event.seq_no)) == found
        causes, parent = [], parents[event.event_id]
        while parent:
            causes.append(by_id[parent])
            parent = parents[parent]
        assert found[1].causes == causes
        assert found[1].effects == [e for e in scene.events if parents[e.event_id] == event.event_id]
        assert found[1].more is False
    assert any(parents.values())
    reader.close()
    log.close()


@pytest.mark.parametrize("name", ["", "0", "-1", "9" * 30, "s1:R9:E1", "s1", "other:R1:E99", "s1:R1:E1' OR 1", "*"])
def test_a_name_of_no_event_finds_none(tmp_path: Path, name: str) -> None:
    log = opened(tmp_path, story().events, 4)
    reader = Reader(log.path)
    assert reader.event(name) is None
    reader.close()
    log.close()


def test_causes_form_no_ring_and_effects_end(tmp_path: Path) -> None:
    first = story().events[0]
    ring = [
        replace(first, seq_no=n, seq=n, event_id=f"s1:R1:E{n}", cause=Cause(parent_event_id=f"s1:R1:E{parent}"))
        for n, parent in ((1, 2), (2, 1), *((n, 2) for n in range(3, MOST_EFFECTS + 10)))
    ]
    log = opened(tmp_path, ring, 50)
    reader = Reader(log.path)
    found = reader.event("s1:R1:E1")
    assert found is not None
    assert found[1].causes == []
    child = reader.event("s1:R1:E2")
    assert child is not None
    assert [e.seq_no for e in child[1].causes] == [1]
    assert (len(child[1].effects), child[1].more) == (MOST_EFFECTS, True)
    reader.close()
    log.close()
