"""Structs from others with the same fields."""

from __future__ import annotations

import pytest
from msgspec import Struct

from quarterdeck.views.projection import struct_of


class Source(Struct):
    name: str = "a"
    size: int = 1
    secret: str = "x"


class View(Struct, kw_only=True):
    name: str
    size: int
    note: str | None = None


def test_fields_of_the_same_name_are_taken_over_and_no_others() -> None:
    assert struct_of(View, Source()) == View(name="a", size=1)


def test_given_fields_win() -> None:
    assert struct_of(View, Source(), size=2, note="n") == View(name="a", size=2, note="n")


def test_a_field_that_nobody_gives_is_an_error() -> None:
    with pytest.raises(TypeError, match="size"):
        struct_of(View, object(), name="a")
