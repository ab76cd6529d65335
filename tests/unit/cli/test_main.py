"""The answers that need no Typer."""

from __future__ import annotations

import pytest

from quarterdeck.cli.main import quick_answer


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["help"]])
def test_help_is_answered_at_once(words: list[str]) -> None:
    assert (quick_answer(words) or "").startswith("Usage: qd ")


@pytest.mark.parametrize("words", [["-V"], ["--version"], ["version"]])
def test_the_version_is_answered_at_once(words: list[str]) -> None:
    assert (quick_answer(words) or "").startswith("quarterdeck ")


@pytest.mark.parametrize("words", [[], ["up"], ["help", "rules"], ["rules", "--help"], ["version", "--json"]])
def test_everything_else_is_a_command(words: list[str]) -> None:
    assert quick_answer(words) is None
