"""What version 0.1 stored is read with the kinds of its tools."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import State
from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.store.upgrade import upgraded_event, upgraded_request, upgraded_state
from quarterdeck.wire import read_event, read_request, write_json
from tests.support.scene import Scene, bash

OLD: dict[str, Any] = {"request_id": "r", "digest": "d", "hook_name": "PermissionRequest", "held": True}


def stored(kind: str, **data: Any) -> FeedEvent:
    """An event without a kind of its tool, as version 0.1 wrote it."""
    about = {"run_id": "s:R1", "session_id": "s", "runner_id": "r", "at": 1.0, "level": "info", "actor_id": "system"}
    return read_event(write_json({"seq_no": 1, "event_id": "s:R1:E1", "seq": 1, "kind": kind, **about, "data": data}))


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("tool.pre", {}),
        ("tool.post", {}),
        ("tool.failure", {}),
        ("permission.denied", {}),
        ("permission.request", OLD),
    ],
)
def test_an_event_about_a_tool_gets_its_kind(kind: str, data: dict[str, Any]) -> None:
    event = stored(kind, tool_name="Bash", tool_input={"command": "ls"}, **data)
    assert (event.data.tool_kind, upgraded_event(event).data.tool_kind) == ("", ToolKind.SHELL)
    assert upgraded_event(upgraded_event(event)) == upgraded_event(event)


def test_a_form_is_no_tool_and_what_has_no_kind_gets_its_risk() -> None:
    form = stored("question.request", tool_name="Elicitation", tool_input={}, form="elicitation", **OLD)
    assert upgraded_event(form).data.tool_kind == ToolKind.FORM
    later = stored("permission.request", tool_name="CronCreate", tool_input={}, **OLD)
    assert upgraded_event(later).data.tool_risk == ("high", "schedules what runs later, perhaps unseen")


def test_an_event_of_another_kind_or_shape_stays_as_it_is() -> None:
    for event in (
        stored("session.end", reason="x"),
        stored("tool.pre", tool_name=3),
        stored("tool.new", tool_name="x"),
    ):
        assert upgraded_event(event) is event


def test_a_request_and_a_snapshot_are_upgraded_too() -> None:
    scene = Scene().receives("PermissionRequest", id="r1", **bash("ls"))
    now = scene.request("r1")
    old = read_request(write_json(now).replace(b'"tool_kind":"shell",', b""))
    assert old.tool_kind == ""
    assert upgraded_request(old) == upgraded_state(State(runner_id="r", requests={"r1": old})).requests["r1"] == now
    assert upgraded_request(now) is now


def test_a_stop_is_no_tool() -> None:
    scene = Scene(hold_stop=True).receives("Stop", id="r1")
    now = scene.request("r1")
    assert now.tool_kind == ToolKind.STOP
    assert upgraded_request(read_request(write_json(now).replace(b'"tool_kind":"stop",', b""))) == now
