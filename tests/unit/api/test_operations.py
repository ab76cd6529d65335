"""The table of operations."""

from __future__ import annotations

from collections import Counter

from quarterdeck.api.http.credentials import SCOPES
from quarterdeck.api.operations import OPERATIONS, REST_ONLY


def test_no_two_operations_share_a_route() -> None:
    routes = Counter((row.method, row.path) for row in OPERATIONS.values() if row.path)
    assert [route for route, count in routes.items() if count > 1] == []


def test_every_operation_has_a_title_and_a_known_scope() -> None:
    assert all(row.title and row.scope in (*SCOPES, "none") for row in OPERATIONS.values())


def test_everything_that_changes_something_is_a_command() -> None:
    changing = {row.name for row in OPERATIONS.values() if row.method != "GET" and not row.reads}
    assert {row.name for row in OPERATIONS.values() if row.is_command} == changing - REST_ONLY
    assert changing >= REST_ONLY


def test_an_operation_that_is_no_route_is_a_command() -> None:
    assert {row.name for row in OPERATIONS.values() if not row.path} == {
        *("terminal_input", "terminal_resize", "keypad_press", "dialpad_button_press", "adjustment", "page_nav"),
        "terminals_snapshot",
    }
    assert all(row.is_command for row in OPERATIONS.values() if not row.path)
