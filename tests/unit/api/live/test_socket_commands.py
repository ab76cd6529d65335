"""The commands of the WebSocket."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.live.socket_commands import COMMANDS, SLOW, TYPING


def test_decisions_and_typing_are_carried_out_in_order() -> None:
    deck = {"keypad_press", "dialpad_button_press", "adjustment", "page_nav", "terminals_snapshot"}
    assert COMMANDS.keys() - SLOW == {"decide", "add_rule", "remove_rule", *TYPING, *deck}


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("end_session", {"session_id": "../x"}, "session_id"),
        ("end_session", {"session_id": "s1", "more": 1}, "more"),
        ("end_session", {}, "session_id"),
        ("scan_projects", {"wait": 61}, "wait"),
        ("fork_session", {"session_id": "s1", "mode": "ssh"}, "mode"),
        ("remove_server", {"name": "-x"}, "name"),
    ],
)
def test_a_wrong_argument_is_named(name: str, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(ApiError) as raised:
        COMMANDS[name].read_arguments(arguments)
    assert (raised.value.code, raised.value.body["error"]["field"]) == (422, field)


def test_a_parameter_has_the_name_that_it_has_in_the_query() -> None:
    read: Any = COMMANDS["remove_server"].read_arguments({"name": "files", "scope": "local"})
    assert read.config_scope == "local"
