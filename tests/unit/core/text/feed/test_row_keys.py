"""The keys that join events into one row."""

from __future__ import annotations

import pytest

from quarterdeck.core.model.events import KINDS
from quarterdeck.core.text.feed.row_keys import KEYS, is_debug, row_keys
from tests.support.feed import EventStory


def test_every_kind_with_keys_is_a_kind_of_event() -> None:
    assert set(KEYS) <= set(KINDS)


def test_two_sessions_may_use_the_same_call_id() -> None:
    use = {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t"}
    mine, theirs = EventStory("mine").add("tool.pre", use), EventStory("theirs").add("tool.post", use)
    assert not set(row_keys(mine)) & set(row_keys(theirs))


def test_a_stop_that_waits_or_leaves_work_behind_does_not_end_the_run() -> None:
    end = EventStory().add("run.end", {"status": "completed", "counters": {}})
    assert row_keys(EventStory().add("stop.request", {"stop_hook_active": False})) == row_keys(end)
    assert row_keys(EventStory().add("stop.request", {"background": 1})) == ()
    held = EventStory().add("stop.request", {"request_id": "q"})
    assert not set(row_keys(held)) & set(row_keys(end))
    blocked = EventStory().add("stop.decision", {"request_id": "q", "decision_type": "block"})
    assert row_keys(blocked) == row_keys(held)
    let_go = EventStory().add("stop.decision", {"request_id": "q", "decision_type": "no_opinion"})
    assert set(row_keys(let_go)) == {*row_keys(held), *row_keys(end)}


@pytest.mark.parametrize("data", [None, "text", [], {}, {"tool_use_id": None}])
def test_events_with_unexpected_data_have_no_key_in_common(data: object) -> None:
    for kind in ("tool.pre", "permission.request", "permission.decision", "todo.add", "no.such.kind"):
        assert row_keys(EventStory().add(kind, data)) == ()


def test_notes_settings_and_what_repeats_the_state_are_for_debugging() -> None:
    book = EventStory()
    assert all(is_debug(book.add(kind, {})) for kind in ("agent.note", "setting.change", "setup", "session.usage"))
    assert is_debug(book.add("notification", {"message": "waits", "notification_type": "idle_prompt"}))
    assert not is_debug(book.add("notification", {"message": "logged in", "notification_type": "auth_success"}))
    assert not is_debug(book.add("tool.pre", {}))
