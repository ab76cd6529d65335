"""The words of a validator, as a person reads them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from quarterdeck.api.http.validation_words import field_problem

Level = Literal["low", "high"]
HINTS = {"scopes": list[Level] | None, "mode": Annotated[Level, Meta(description="x")]}


class Inner(Struct, forbid_unknown_fields=True):
    effect: Level


class Outer(Struct, forbid_unknown_fields=True):
    rules: Annotated[list[Inner], Meta(max_length=2)]
    path: Annotated[str, Meta(min_length=1, max_length=9, pattern=r"^/[^\0]*\Z")] = "/"
    size: Annotated[int, Meta(ge=2, le=9)] | None = None
    note: str | None = None


def words_of(value: dict[str, Any]) -> str:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Outer)
    return str(field_problem(str(caught.value), {"rules": list[Inner]}))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "rules: is required"),
        ({"rules": [{}]}, "rules[0].effect: is required"),
        ({"rules": [], "role": 1}, "role: is not a known field"),
        ({"rules": [{"effect": "odd"}]}, "rules[0].effect: must be low or high, is 'odd'"),
        ({"rules": [1, 2, 3]}, "rules: must have at most 2 entries"),
        ({"rules": "x"}, "rules: must be a list, is text"),
        ({"rules": [], "path": "rel"}, "path: must be an absolute path"),
        ({"rules": [], "path": ""}, "path: must not be empty"),
        ({"rules": [], "path": "/" * 10}, "path: must have at most 9 characters"),
        ({"rules": [], "size": 1}, "size: must be at least 2"),
        ({"rules": [], "size": 10}, "size: must be at most 9"),
        ({"rules": [], "size": "x"}, "size: must be a whole number, is text"),
        ({"rules": [], "note": 5}, "note: must be text, is a whole number"),
    ],
)
def test_a_problem_names_the_field_and_what_it_must_be(value: dict[str, Any], words: str) -> None:
    assert words_of(value) == words


def test_a_framework_may_name_the_place_apart() -> None:
    assert str(field_problem("Invalid enum value 'x'", HINTS, "scopes[0]")) == "scopes[0]: must be low or high, is 'x'"
    assert str(field_problem("Invalid enum value 'x'", HINTS, "mode")) == "mode: must be low or high, is 'x'"
    assert str(field_problem("Object missing required field `mode`", HINTS, "mode")) == "mode: is required"


def test_words_for_a_person_stay_as_they_are() -> None:
    assert str(field_problem("must have a `source`", {}, "attachments[0]")) == "attachments[0]: must have a `source`"
