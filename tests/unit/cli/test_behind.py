"""What is said of a prompt that waits for others."""

from __future__ import annotations

import pytest

from quarterdeck.cli.commands.sessions import behind


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (0, ""),
        (1, "; it waits behind the running turn"),
        (2, "; it waits behind the running turn and 1 prompt before it"),
        (3, "; it waits behind the running turn and 2 prompts before it"),
    ],
)
def test_what_comes_before_a_prompt_is_said(ahead: int, said: str) -> None:
    assert behind(ahead) == said
