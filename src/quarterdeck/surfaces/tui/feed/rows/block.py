"""A block of about a thousand rows, stored in columns: some eighty bytes for each row, and its text."""

from __future__ import annotations

from array import array
from itertools import accumulate

SIZE = 1024

COLUMNS = {
    "place": "Q",
    "seq_no": "Q",
    "at": "d",
    "kind": "H",
    "flags": "H",
    "state": "B",
    "below": "B",
    "level": "B",
    "top": "B",
    "badge": "H",
    "tool": "H",
    "actor": "I",
    "session": "I",
    "run": "I",
    "seq": "I",
    "head": "Q",
    "next": "Q",
    "took": "d",
    "heights": "H",
}
"""The columns with their types. `head`: the row that shows this event; 0 for its own. `next`: the next event of the
same row. `state`, `below`, `top`: what all its events together are: flags, lines of an error, the highest level.
`took`: the seconds a call took, or by which a message was recorded late."""


class NameCodes:
    """Small numbers for names, so that a row stores no strings; 0 is no name."""

    def __init__(self) -> None:
        self.names: list[str] = [""]
        self._codes: dict[str, int] = {"": 0}

    def code(self, name: str) -> int:
        found = self._codes.get(name)
        if found is None:
            found = self._codes[name] = len(self.names)
            self.names.append(name)
        return found


class RowBlock:
    """Rows by their place. `heights`: the lines of each row, computed for the window's `version`."""

    def __init__(self, version: int) -> None:
        self.place = array("Q")
        self.seq_no = array("Q")
        self.at = array("d")
        self.kind = array("H")
        self.flags = array("H")
        self.state = array("B")
        self.below = array("B")
        self.level = array("B")
        self.top = array("B")
        self.badge = array("H")
        self.tool = array("H")
        self.actor = array("I")
        self.session = array("I")
        self.run = array("I")
        self.seq = array("I")
        self.head = array("Q")
        self.next = array("Q")
        self.took = array("d")
        self.heights = array("H")
        self.ends = array("I")
        self.texts = bytearray()
        self.height = 0
        self.version = version
        self._offsets: array[int] | None = None

    def __len__(self) -> int:
        return len(self.seq_no)

    def text(self, n: int) -> str:
        start = self.ends[n - 1] if n else 0
        return self.texts[start : self.ends[n]].decode(errors="replace")

    def set_height(self, n: int, height: int) -> None:
        self.height += height - self.heights[n]
        self.heights[n] = height
        self._offsets = None

    def set_heights(self, heights: list[int]) -> None:
        self.heights = array("H", heights)
        self.height = sum(heights)
        self._offsets = None

    def move(self, m: int, n: int, other: RowBlock) -> None:
        """Move row `m` to index `n` of a block; if that is this one, `n` counts without the row."""
        start, end = self.ends[m - 1] if m else 0, self.ends[m]
        text = self.texts[start:end]
        values = {name: getattr(self, name).pop(m) for name in COLUMNS}
        self.ends.pop(m)
        del self.texts[start:end]
        for later in range(m, len(self.ends)):
            self.ends[later] -= len(text)
        for name, value in values.items():
            getattr(other, name).insert(n, value)
        start = other.ends[n - 1] if n else 0
        other.ends.insert(n, start)
        other.texts[start:start] = text
        for later in range(n, len(other.ends)):
            other.ends[later] += len(text)
        self.height -= values["heights"]
        other.height += values["heights"]
        self._offsets = other._offsets = None

    def offsets(self) -> array[int]:
        """The first line of each row in the block."""
        if self._offsets is None or len(self._offsets) != len(self.heights) + 1:
            self._offsets = array("I", accumulate(self.heights, initial=0))
        return self._offsets
