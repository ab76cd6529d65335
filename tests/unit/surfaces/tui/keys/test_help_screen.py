"""The help: every place and command, in two columns where there is room."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from quarterdeck.surfaces.terminal.text_commands import COMMANDS
from quarterdeck.surfaces.tui.keys.help_screen import help_rows
from quarterdeck.surfaces.tui.keys.key_reference import PLACES


def lines(width: int) -> list[str]:
    return ["".join(span.text for span in row) for row in help_rows(width)]


@pytest.mark.parametrize("width", [60, 80, 108, 158])
def test_every_place_and_every_command_is_there_and_fits(width: int) -> None:
    text = "\n".join(lines(width))
    assert all(title in text for title, _ in PLACES)
    assert all(f"  {command.name}" in text for command in COMMANDS)
    assert max(cell_len(line.rstrip()) for line in lines(width)) <= width


def test_a_wide_screen_has_two_columns() -> None:
    assert len(lines(158)) < 0.65 * len(lines(100))
    assert any("In the projects" in line and line.startswith("  ") for line in lines(158))
