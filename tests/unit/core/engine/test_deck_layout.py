"""The layout of the key deck."""

from __future__ import annotations

import pytest

from quarterdeck.core.engine.deck_layout import DeckPrompt


@pytest.mark.parametrize(
    ("own", "other", "for_claude", "for_another"),
    [("/test", "Test it.", "/test", "Test it."), ("/test", "", "/test", "/test"), ("", "Test it.", *["Test it."] * 2)],
)
def test_an_agent_gets_its_own_text_or_else_the_other(own: str, other: str, for_claude: str, for_another: str) -> None:
    prompt = DeckPrompt(label="Test", claude_command=own, fallback_text=other)
    assert prompt.effective_command(is_claude=True) == for_claude
    assert prompt.effective_command(is_claude=False) == for_another
