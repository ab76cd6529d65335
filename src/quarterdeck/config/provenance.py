"""What somebody said about a setting and where, and what is wrong with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from quarterdeck.config.schema import KEYS, sections

Source = Literal["default", "file", "variable", "flag"]


class Place(Struct, frozen=True):
    """Where something is said: a line of a file, a variable, a flag; or nowhere, for a default."""

    source: Source
    name: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.line}" if self.line else self.name or self.source


DEFAULT = Place("default")


class Given(Struct, frozen=True):
    """A setting as somebody gave it, not yet looked at."""

    key: str
    value: Any
    place: Place


class Problem(Struct, frozen=True, kw_only=True):
    """What is wrong at a place, in words that follow the key; `nearest` is the known key that may have been meant."""

    place: Place
    says: str
    key: str | None = None
    nearest: str | None = None

    def __str__(self) -> str:
        about = f"{self.key} {self.says}" if self.key else self.says
        return f"{self.place}: {about}"


def unknown(key: str, place: Place) -> Problem:
    """A key that is no setting where it stands, with the one that was meant; secrets belong into files."""
    if f"{key}_file" in KEYS:
        says = f"must not hold a secret here: write it into a file of mode 0600, and name that in {key}_file"
        return Problem(place=place, key=key, says=says, nearest=f"{key}_file")
    section, _, name = key.partition(".")
    if key in KEYS:
        return Problem(place=place, key=key, says=f"stands in its section: write {name}: below {section}:", nearest=key)
    names = [name for name, _ in sections()]
    beside = [known for known in KEYS if known.startswith(f"{section}.")] or names
    near = nearest(key, KEYS if "." in key else names)
    hint = f"did you mean {near}?" if near else f"known: {', '.join(beside)}"
    return Problem(place=place, key=key, says=f"is not a setting; {hint}", nearest=near)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word that is most like this one, if any is like it."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)), None)
