"""Events of the key deck in the words of the feed."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.titles import title_of
from quarterdeck.wire import read_event, write_json


def event(kind: str, **data: Any) -> FeedEvent:
    place = {"seq_no": 1, "event_id": "quarterdeck:R0:E1", "seq": 1, "run_id": "quarterdeck:R0", "at": 1.0}
    who = {"session_id": "quarterdeck", "runner_id": "r", "level": "info", "actor_id": "user"}
    return read_event(write_json({**place, **who, "kind": kind, "data": data}))


@pytest.mark.parametrize(
    ("kind", "data", "title"),
    [
        ("operator.arm", {"prompt_id": "tests"}, "· Armed tests"),
        ("operator.arm", {}, "· Disarmed"),
        ("operator.page", {"page": 1}, "· Page 2"),
        ("operator.select", {"what": "session", "id": "s1"}, "· Chose session s1"),
        (
            "operator.dispatch",
            {"prompt_id": "a", "route": "sdk", "outcome": "sending"},
            "→ Sending a from the deck by sdk",
        ),
        ("operator.dispatch", {"prompt_id": "a", "outcome": "delivered"}, "→ Sent a from the deck"),
        (
            "operator.dispatch",
            {"outcome": "undelivered", "reason": "gone"},
            "✕ Not delivered: a key from the deck: gone",
        ),
        ("terminal.open", {"terminal_id": "t1", "name": "zsh"}, "· Terminal zsh opened"),
        ("terminal.close", {"terminal_id": "t1"}, "· Terminal t1 closed"),
    ],
)
def test_an_event_of_the_deck_reads_as_a_sentence(kind: str, data: dict[str, Any], title: str) -> None:
    assert title_of(event(kind, **data)) == title
