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


class JsonChange(Struct, frozen=True, kw_only=True):
    """A JSON file before and after; an empty text means no file."""

    path: Path
    before: str
    after: str

    @property
    def differs(self) -> bool:
        return bool(_value(self.before) != _value(self.after))


def _value(text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff")) if text.strip("\ufeff \t\r\n") else None
    except ValueError:
        return text


def diff_of(changes: Iterable[JsonChange]) -> str:
    """One diff of all changes; empty if there are none."""
    return "".join(_diff(change) for change in changes if change.differs)


def _diff(change: JsonChange) -> str:
    before, after = _lines(change.before), _lines(change.after)
    old, new = (str(change.path) if lines else "/dev/null" for lines in (before, after))
    lines = difflib.unified_diff(before, after, old, new, lineterm="")
    return "".join(_secret.sub(r"\1********\3", line) + "\n" for line in lines)


def _lines(text: str) -> list[str]:
    value = _value(text)
    return [] if value is None else json.dumps(value, indent=2, ensure_ascii=False).splitlines()
