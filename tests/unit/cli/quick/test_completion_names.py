"""Names for completion, from the views of the API."""

from __future__ import annotations

from quarterdeck.cli.quick.completion_names import (
    live_sessions,
    names_of,
    request_names,
    rule_names,
    session_names,
    token_names,
)


def test_a_session_is_named_by_the_beginning_of_its_id() -> None:
    one = {"session_id": "5bcc959a-1111", "cwd": "/home/ann/shop", "title": "fix it", "agent_state": "running"}
    assert list(session_names([one])) == [("5bcc959a", "shop · fix it · running")]


def test_ended_sessions_are_left_out_where_a_command_does_not_take_them() -> None:
    states = [{"agent_state": state} for state in ("idle", "ended", "unknown")]
    assert [one["agent_state"] for one in live_sessions(states)] == ["idle", "unknown"]


def test_a_request_is_named_with_its_tool_and_subject() -> None:
    one = {"request_id": "h1-7", "tool_name": "Bash", "tool_input": {"timeout": 3, "command": "make deploy"}}
    assert list(request_names([one])) == [("h1-7", "Bash make deploy")]


def test_rules_and_tokens_are_named_with_what_they_do() -> None:
    assert list(rule_names([{"rule_id": "r1", "effect": "deny", "pattern": "Bash(rm:*)"}])) == [
        ("r1", "deny Bash(rm:*)")
    ]
    assert list(token_names([{"token_id": "t1", "name": "phone"}])) == [("t1", "phone")]


def test_a_kind_that_no_daemon_knows_has_no_names() -> None:
    assert names_of("planets") == []
