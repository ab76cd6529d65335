"""Changes of JSON files as an uncoloured unified diff, one key per line, without secrets."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

_secret = re.compile(r'("[^"]*(?:authorization|key|password|secret|token)[^"]*": ")((?:[^"\\]|\\.)+)(")', re.IGNORECASE)


class Change(Struct, frozen=True, kw_only=True):
    """A JSON file before and after; an empty text is no file."""

    path: Path
    before: str
    after: str

    @property
    def is_one(self) -> bool:
        return bool(_value(self.before) != _value(self.after))


def _value(text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff")) if text.strip("\ufeff \t\r\n") else None
    except ValueError:
        return text


def diff_of(changes: Iterable[Change]) -> str:
    """One diff of all changes; empty when there are none."""
    return "".join(_diff(change) for change in changes if change.is_one)


def _diff(change: Change) -> str:
    before, after = _lines(change.before), _lines(change.after)
    old, new = (str(change.path) if lines else "/dev/null" for lines in (before, after))
    lines = difflib.unified_diff(before, after, old, new, lineterm="")
    return "".join(_secret.sub(r"\1********\3", line) + "\n" for line in lines)


def _lines(text: str) -> list[str]:
    value = _value(text)
    return [] if value is None else json.dumps(value, indent=2, ensure_ascii=False).splitlines()
