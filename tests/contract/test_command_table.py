"""Every command has its place on every surface: REST, the WebSocket, OpenAPI, the terminal UI, plain mode and `qd`."""

from __future__ import annotations

from typing import cast

import pytest

from quarterdeck.api.live.socket_commands import COMMANDS, ROUTES
from quarterdeck.api.operations import OPERATIONS
from quarterdeck.cli.quick.command_index import read_index
from quarterdeck.surfaces.plain.command_help import NAMES, help_lines
from quarterdeck.surfaces.plain.sessions import COMMANDS as PLAIN_HANDLERS
from quarterdeck.surfaces.terminal.text_commands import BY_NAME, palette
from quarterdeck.surfaces.text.person_commands import SESSION_COMMANDS
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.flows.session_flow import SessionFlow
from quarterdeck.surfaces.tui.keys.command_dispatch import PAGE_NAMES, CommandDispatch
from quarterdeck.surfaces.tui.keys.decision_keys import VERBS as DECISION_KEYS
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.views.possible_actions import VERBS

PEOPLE: dict[str, tuple[str, str]] = {
    "start_session": ("start", "run"),
    "interrupt_sessions": ("stop-all", "interrupt"),
    "end_sessions": ("stop-all", "end"),
    "decide": ("allow", "allow"),
    "decide_many": ("many", "allow"),
    "add_rule": ("rules", "rules add"),
    "import_rules": ("", "rules import"),
    "remove_rule": ("rules", "rules remove"),
    "scan_projects": ("projects", "projects scan"),
    "trust_project": ("projects", "projects trust"),
    "untrust_project": ("projects", "projects untrust"),
    "install_plugin": ("plugins", "plugins install"),
    "enable_plugin": ("plugins", "plugins enable"),
    "disable_plugin": ("plugins", "plugins disable"),
    "update_plugin": ("plugins", "plugins update"),
    "uninstall_plugin": ("plugins", "plugins uninstall"),
    "add_marketplace": ("marketplaces", "plugins marketplaces add"),
    "update_marketplaces": ("marketplaces", "plugins marketplaces update"),
    "remove_marketplace": ("marketplaces", "plugins marketplaces remove"),
    "add_server": ("mcp", "mcp add"),
    "check_servers": ("mcp", "mcp list"),
    "remove_server": ("mcp", "mcp remove"),
    "create_token": ("", "tokens create"),
    "revoke_token": ("", "tokens revoke"),
    "create_login_code": ("", "login-url"),
    "create_pairing_code": ("", "pair"),
    "revoke_device": ("", "devices revoke"),
    "confirm_step_up": ("", "devices confirm"),
    **dict.fromkeys(("keypad_press", "dialpad_button_press", "adjustment", "page_nav"), ("deck", "deck")),
}
"""Where a person does what is no command on one session: on the `:` line, or on the page of that name, and in a shell.
Access and files are for the shell alone."""
FOR_PROGRAMS = {
    "terminals_snapshot": "what an editor's extension sends",
    "command_client": "for an editor's extension and the button deck",
    "pair_device": "what a new device itself sends",
    "ask_step_up": "what the page of a device sends",
    "logout": "what the page sends",
}
INDEX = read_index().commands
CHANGES = [row for row in OPERATIONS.values() if row.method != "GET" and not row.reads]
OF_SESSIONS = {name for command in SESSION_COMMANDS.values() for name in command.operations}


def test_every_operation_is_served_over_rest_and_every_change_over_the_socket_too() -> None:
    assert ROUTES.keys() == {row.name for row in OPERATIONS.values() if row.path}
    assert COMMANDS.keys() == {row.name for row in OPERATIONS.values() if row.is_command}


@pytest.mark.parametrize("name", sorted(ROUTES))
def test_the_title_of_an_operation_is_the_summary_of_its_route(name: str) -> None:
    handler = ROUTES[name].route()
    assert handler.summary == OPERATIONS[name].title
    assert handler.http_methods == {OPERATIONS[name].method}


def test_every_change_is_a_command_of_a_person_or_of_a_program() -> None:
    placed = PEOPLE.keys() | FOR_PROGRAMS.keys() | OF_SESSIONS
    assert {row.name for row in CHANGES} - placed == set(), "say where a person finds it, or why nobody needs to"
    assert placed - OPERATIONS.keys() == set()


@pytest.mark.parametrize("name", PEOPLE)
def test_a_person_finds_a_change_in_the_terminal_and_in_a_shell(name: str) -> None:
    line, qd = PEOPLE[name]
    assert line in ("", *BY_NAME)
    assert INDEX[qd].summary
    assert line or qd


def test_every_action_of_a_session_has_one_command() -> None:
    assert sorted(command.action for command in SESSION_COMMANDS.values()) == sorted(VERBS)


@pytest.mark.parametrize("verb", SESSION_COMMANDS)
def test_a_session_command_is_on_every_surface(verb: str) -> None:
    command = SESSION_COMMANDS[verb]
    assert command.operations
    assert all(name in OPERATIONS for name in command.operations)
    assert (command.command, "", command.command) in palette({})
    assert BY_NAME[command.command].words == command.help
    assert INDEX[command.qd].summary
    assert verb in SessionFlow(cast(QuarterdeckApp, None))._handlers
    keys = {binding.key for binding in MainScreen.BINDINGS if not isinstance(binding, tuple)}
    assert command.key in ("", *keys)
    assert command.key not in {key for key, _ in DECISION_KEYS.values()}
    in_plain_mode = {command.command} if command.plain is not None else set()
    assert {command.command} & PLAIN_HANDLERS.keys() == in_plain_mode
    assert {command.command} & set(NAMES) == in_plain_mode
    shown = [line for line in help_lines() if line.startswith(f"{command.command} {command.plain}:")]
    assert bool(shown) is bool(in_plain_mode)


def test_every_command_of_the_line_is_carried_out() -> None:
    handlers = CommandDispatch(cast(QuarterdeckApp, None))._handlers
    of_requests = {verb.replace("_", "-") for verb in DECISION_KEYS}
    of_sessions = {command.command for command in SESSION_COMMANDS.values()}
    assert BY_NAME.keys() <= {*handlers, *PAGE_NAMES, *of_requests, *of_sessions}
