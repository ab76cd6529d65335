"""Levels: how much of an event or a view leaves, by the folder of its project."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.link.redaction.share_levels import (
    EVERYTHING,
    NO_OUTPUT,
    NOTHING,
    TITLES,
    ShareLevels,
    gap_event,
    shared_event,
    shared_view,
    strictest,
)
from quarterdeck.wire import read_event, write_json

EVENT: dict[str, Any] = {
    "seq_no": 7,
    "event_id": "s1:R1:E7",
    "seq": 7,
    "run_id": "s1:R1",
    "session_id": "s1",
    "runner_id": "box",
    "at": 5.0,
    "kind": "tool.post",
    "level": "info",
    "actor_id": "agent:root",
    "cause": {"parent_event_id": "s1:R1:E6", "transcript_path": "/home/ann/t.jsonl"},
    "context": {"cwd": "/home/ann/shop"},
    "data": {"tool_name": "Bash", "tool_kind": "shell", "tool_input": {"command": "cat plan"}, "tool_response": "text"},
}


def test_everything_leaves_as_it_is() -> None:
    assert shared_event(EVENT, EVERYTHING) is EVENT


def test_without_output_the_input_stays() -> None:
    data = shared_event(EVENT, NO_OUTPUT)["data"]
    assert data == {"tool_name": "Bash", "tool_kind": "shell", "tool_input": {"command": "cat plan"}}


def test_titles_hold_nothing_that_an_agent_wrote_or_read() -> None:
    event = shared_event(EVENT, TITLES, "✓ Bash: cat plan")
    assert event["data"] == {"tool_name": "Bash", "tool_kind": "shell", "tool_input": {}}
    assert event["title"] == "✓ Bash: cat plan"
    assert "context" not in event
    assert "/home/ann" not in write_json(event).decode()


def test_decisions_leave_with_titles() -> None:
    data = {"request_id": "r1", "decision_type": "deny", "source": "user", "by": "ann", "message": "no", "answers": {}}
    event = shared_event({**EVENT, "kind": "permission.decision", "data": data}, TITLES)
    assert event["data"] == {"request_id": "r1", "decision_type": "deny", "source": "user", "by": "ann"}


@pytest.mark.parametrize("level", [NOTHING, "a level of the future"])
def test_nothing_leaves_but_that_there_was_an_event(level: str) -> None:
    event = shared_event(EVENT, level)
    assert event["kind"] == "link.withheld"
    assert event["seq_no"] == 7
    assert not any(word in write_json(event).decode() for word in ("s1", "Bash", "shop", "plan"))


@pytest.mark.law("H14")
def test_a_gap_is_an_event_with_its_bounds() -> None:
    event = read_event(write_json(gap_event(3, 9, "box", 5.0)))
    assert (event.kind, event.seq_no) == ("link.gap", 9)
    assert {name: event.data[name] for name in ("first", "last")} == {"first": 3, "last": 9}


def test_the_nearest_folder_counts() -> None:
    levels = ShareLevels(EVERYTHING, {"/home/ann": TITLES, "/home/ann/open": EVERYTHING, "/srv": NOTHING})
    folders = ("/home/ann/shop", "/home/ann/open/x", "/home/anna", "/srv", "/srv/a/b")
    assert [levels.of(folder) for folder in folders] == [TITLES, EVERYTHING, EVERYTHING, NOTHING, NOTHING]
    assert not levels.shares_all


def test_an_unknown_folder_may_be_any() -> None:
    assert ShareLevels(NO_OUTPUT, {"/srv": NOTHING}).of("") == NOTHING
    assert ShareLevels(NO_OUTPUT, {}).of("") == NO_OUTPUT


@pytest.mark.law("H10")
def test_the_hub_can_only_ask_for_less() -> None:
    levels = ShareLevels(NO_OUTPUT, {"/open": EVERYTHING}, most=TITLES)
    assert (levels.of("/open"), levels.of("/x"), levels.own()) == (TITLES, TITLES, TITLES)
    assert ShareLevels(NOTHING, {}, most=EVERYTHING).of("/x") == NOTHING
    assert ShareLevels(EVERYTHING, {}, most="whatever").of("/x") == NOTHING


def test_the_strictest_level_wins_and_an_unknown_one_is_stricter_than_all() -> None:
    assert strictest([EVERYTHING, TITLES, NO_OUTPUT]) == TITLES
    assert strictest([NOTHING, "unknown"]) == "unknown"
    assert strictest([]) == EVERYTHING


def test_a_view_with_titles_keeps_its_shape_without_content() -> None:
    view = {
        "request_id": "r1",
        "tool_input": {"command": "x"},
        "suggestions": ["a"],
        "title": "t",
        "risk": {"reasons": ["y"]},
    }
    shown = {"request_id": "r1", "tool_input": {}, "suggestions": [], "title": "t", "risk": {"reasons": []}}
    assert shared_view(view, TITLES) == shown
    assert shared_view(view, NO_OUTPUT) is view
    assert shared_view(view, NOTHING) is None
