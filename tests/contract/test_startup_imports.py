"""Imports of a command at its start: one that only calls the daemon reads no settings."""

from __future__ import annotations

import subprocess
import sys

import pytest

CLIENTS = [
    "cli.admin.daemon",
    "cli.commands.decisions",
    "cli.commands.queries",
    "cli.commands.event_feed",
    "cli.commands.sessions",
    "surfaces.tui.app",
]
SETTINGS = {"pydantic", "quarterdeck.config.settings"}


def loaded(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", CLIENTS)
def test_what_talks_to_a_daemon_loads_no_settings(module: str) -> None:
    assert loaded(f"quarterdeck.{module}") & SETTINGS == set()


def test_the_settings_are_loaded_where_they_are_read() -> None:
    assert loaded("quarterdeck.config.loader") >= SETTINGS


PARSERS = {"tree_sitter", "quarterdeck.core.shell.tree_parser"}


@pytest.mark.parametrize("view", ["session_view", "request_view", "card_view", "event_view", "rule_view"])
def test_a_view_that_a_client_reads_loads_no_parser_of_shell_lines(view: str) -> None:
    assert loaded(f"quarterdeck.views.resources.{view}") & PARSERS == set()


def test_the_parsers_are_loaded_where_a_command_is_broken_down() -> None:
    assert loaded("quarterdeck.core.risk.breakdown") >= PARSERS


HEAVY = {"typer", "click", "rich", "http.client", "msgspec", "asyncio", "platformdirs", "quarterdeck.cli.common"}


@pytest.mark.parametrize("module", ["root_help", "command_index", "completion", "completion_names"])
def test_help_and_completion_import_next_to_nothing(module: str) -> None:
    assert loaded(f"quarterdeck.cli.main, quarterdeck.cli.quick.{module}") & HEAVY == set()
