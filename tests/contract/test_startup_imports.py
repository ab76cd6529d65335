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


HEAVY = {"typer", "click", "rich", "http.client", "msgspec", "asyncio", "platformdirs", "quarterdeck.cli.common"}


@pytest.mark.parametrize("module", ["root_help", "command_index", "completion", "completion_names"])
def test_help_and_completion_import_next_to_nothing(module: str) -> None:
    assert loaded(f"quarterdeck.cli.main, quarterdeck.cli.quick.{module}") & HEAVY == set()
