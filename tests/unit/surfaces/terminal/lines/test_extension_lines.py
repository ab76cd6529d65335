"""Plugins as rows."""

from __future__ import annotations

from quarterdeck.surfaces.terminal.lines.extension_lines import plugin_rows
from tests.support.recorded_daemon import (
    Json,
)


def test_only_errors_of_a_plugin_are_shown_as_warnings() -> None:
    plugin: Json = {"plugin_id": "a@b", "name": "a", "marketplace": "b", "version": None, "enabled": True}
    plugin |= {"scope": "project", "project": "/home/ann/shop", "capabilities": [], "errors": []}
    broken = plugin | {"errors": ["no such file"]}
    fine, wrong = (cells[-1] for _, cells in plugin_rows([plugin, broken]))
    assert fine == ("/home/ann/shop", "dim")
    assert wrong == ("! no such file", "warn")
