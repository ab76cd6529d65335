"""The text about a queued prompt."""

from __future__ import annotations

import pytest

from quarterdeck.cli.commands.sessions import queue_position


@pytest.mark.parametrize(
    ("ahead", "text"),
    [
        (0, ""),
        (1, "; it waits behind the running turn"),
        (2, "; it waits behind the running turn and 1 prompt before it"),
        (3, "; it waits behind the running turn and 2 prompts before it"),
    ],
)
def test_a_queued_prompt_shows_its_position(ahead: int, text: str) -> None:
    assert queue_position(ahead) == text
