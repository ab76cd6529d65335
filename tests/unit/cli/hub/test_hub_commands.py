"""Every command of `qd hub` is in its group."""

from __future__ import annotations

from quarterdeck.cli.hub.hub_commands import app
from quarterdeck.cli.hub.hub_group import hub


def test_the_group_has_the_commands_of_both_sides() -> None:
    names = {command.callback.__name__ for command in hub.registered_commands if command.callback}
    assert {"serve", "enroll", "runners", "expel"} <= names
    assert [group.typer_instance for group in app.registered_groups] == [hub]
