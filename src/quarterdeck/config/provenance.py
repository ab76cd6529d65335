"""The source of a setting's value, and problems with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from quarterdeck.config.settings import KEYS, sections

Source = Literal["default", "file", "variable", "flag"]


class ValueSource(Struct, frozen=True):
    """The source of a value: a line of a file, a variable, a flag; or none, for a default."""

    source: Source
    name: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.line}" if self.line else self.name or self.source


DEFAULT = ValueSource("default")


class GivenValue(Struct, frozen=True):
    """A value as it was set, not checked yet."""

    key: str
    value: Any
    place: ValueSource


class Problem(Struct, frozen=True, kw_only=True):
    """A problem at a place. `message` follows the key; `nearest` is the known key that may have been meant."""

    place: ValueSource
    message: str
    key: str | None = None
    nearest: str | None = None

    def __str__(self) -> str:
        about = f"{self.key} {self.message}" if self.key else self.message
        return f"{self.place}: {about}"


def unknown_key(key: str, place: ValueSource) -> Problem:
    """The problem with a key that is not a setting, with the key that may have been meant. Secrets belong in files, so
    a key that would hold one names its `_file` key."""
    if f"{key}_file" in KEYS:
        message = f"must not hold a secret here: write it into a file of mode 0600, and name that in {key}_file"
        return Problem(place=place, key=key, message=message, nearest=f"{key}_file")
    section, _, name = key.partition(".")
    if key in KEYS:
        return Problem(
            place=place, key=key, message=f"belongs in its section: write {name}: below {section}:", nearest=key
        )
    names = [name for name, _ in sections()]
    beside = [known for known in KEYS if known.startswith(f"{section}.")] or names
    near = nearest(key, KEYS if "." in key else names)
    hint = f"did you mean {near}?" if near else f"known: {', '.join(beside)}"
    return Problem(place=place, key=key, message=f"is not a setting; {hint}", nearest=near)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word that is most similar to this one, if any is."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)), None)
