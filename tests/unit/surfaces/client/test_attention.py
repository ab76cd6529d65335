"""Whether a person looks at a terminal."""

from __future__ import annotations

from quarterdeck.surfaces.client.attention import AFTER_KEY_SECONDS, Attention


def test_without_reports_of_focus_the_last_key_counts() -> None:
    attention = Attention(100.0)
    assert attention.is_visible(100.0 + AFTER_KEY_SECONDS - 1)
    assert not attention.is_visible(100.0 + AFTER_KEY_SECONDS)
    attention.key(5000.0)
    assert attention.is_visible(5001.0)


def test_a_terminal_with_the_focus_is_looked_at_however_long_ago_a_key_was() -> None:
    attention = Attention(0.0)
    attention.focus(True, 1.0)
    assert attention.is_visible(1e6)
    attention.focus(False, 1e6)
    assert attention.is_visible(1e6 + AFTER_KEY_SECONDS - 1)
    assert not attention.is_visible(1e6 + AFTER_KEY_SECONDS)
