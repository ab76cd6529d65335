"""What a command loads before it does anything: one that only talks to a daemon reads no settings."""

from __future__ import annotations

import subprocess
import sys

import pytest

SETTINGS = {"pydantic", "quarterdeck.config.schema"}


def loaded(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", ["cli.running", "cli.reading", "cli.deciding", "cli.sessions", "surfaces.tui.app"])
def test_what_talks_to_a_daemon_loads_no_settings(module: str) -> None:
    assert loaded(f"quarterdeck.{module}") & SETTINGS == set()


def test_the_settings_are_loaded_where_they_are_read() -> None:
    assert loaded("quarterdeck.config.loader") >= SETTINGS
