"""What a wrong value must be, in plain words."""

from __future__ import annotations

import pytest

from quarterdeck.config.value_words import demand


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Input should be greater than or equal to 1", "at least 1"),
        ("Input should be less than or equal to 1000", "at most 1000"),
        ("Input should be greater than 0", "above 0"),
        ("Input should be a valid integer, unable to parse string as an integer", "a whole number"),
        ("Input should be a valid number, unable to parse string as a number", "a number"),
        ("Input should be a valid boolean, unable to interpret input", "true or false"),
        ("Input should be 'auto', 'always' or 'never'", "auto, always or never"),
        ("Value error, 'odd' is not one of 'sdk', 'tmux', 'pty'.", "sdk, tmux or pty"),
        ("Value error, a path from the root, like ~/name", "a path from the root, like ~/name"),
    ],
)
def test_the_words_of_a_validator_become_plain(message: str, words: str) -> None:
    assert demand(message) == words
