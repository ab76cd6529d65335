"""The group of `qd hub` by its name."""

from __future__ import annotations

from quarterdeck.cli.hub.hub_group import app, hub


def test_the_group_is_called_hub() -> None:
    assert hub.info.name == "hub"
    assert app.registered_groups[0].typer_instance is hub
