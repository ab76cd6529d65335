"""Sanitised text shows every character and controls no terminal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.sanitize import hidden_parts, one_line, visible


@pytest.mark.law("I6")
@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\x1b[2Jb", "a⟨1b⟩[2Jb"),
        ("a\u202eb", "a⟨202e⟩b"),
        ("a\u200bb", "a⟨200b⟩b"),
        ("a\x9bb", "a⟨9b⟩b"),
        ("a\x7f\r", "a⟨7f⟩⟨d⟩"),
        ("\U000e0041", "⟨e0041⟩"),
        ("plain – «text» 日本 🎉", "plain – «text» 日本 🎉"),
    ],
)
def test_control_and_hidden_characters_are_spelled_out(hostile: str, shown: str) -> None:
    assert visible(hostile) == shown


@pytest.mark.law("I6")
@given(st.text())
def test_no_control_byte_reaches_the_terminal(text: str) -> None:
    assert all(c >= " " for c in one_line(text))
    assert visible(visible(text)) == visible(text)


def test_what_does_not_show_is_counted_wherever_it_is() -> None:
    assert hidden_parts({"a": [{"b\u200b": "\u202ex"}], "n": 3}) == ["2 hidden characters"]
    assert hidden_parts({"a": "\x07"}) == ["1 hidden character"]
    assert hidden_parts({"a": "plain\n\ttext"}) == []
    assert hidden_parts({}, 70_000) == ["70,000 bytes in all"]


def test_a_deep_input_is_read_without_recursion() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert hidden_parts(deep) == []
