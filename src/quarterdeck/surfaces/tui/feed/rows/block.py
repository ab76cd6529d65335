"""A thousand rows in columns: what is known of each in some fifty bytes and its text."""

from __future__ import annotations

from array import array
from itertools import accumulate

SIZE = 1024


class Names:
    """Names by small numbers; 0 is no name."""

    __slots__ = ("_codes", "names")

    def __init__(self) -> None:
        self.names: list[str] = [""]
        self._codes: dict[str, int] = {"": 0}

    def code(self, name: str) -> int:
        found = self._codes.get(name)
        if found is None:
            found = self._codes[name] = len(self.names)
            self.names.append(name)
        return found


class Block:
    """Rows in the order of the log. `heights` says how many lines each takes, by the shape of `version`."""

    __slots__ = (
        "_offsets",
        "actor",
        "at",
        "badge",
        "ends",
        "flags",
        "height",
        "heights",
        "kind",
        "level",
        "partner",
        "run",
        "seq",
        "seq_no",
        "session",
        "tail",
        "texts",
        "took",
        "tool",
        "version",
    )

    def __init__(self, version: int) -> None:
        self.seq_no = array("Q")
        self.at = array("d")
        self.kind = array("H")
        self.tail = array("H")
        self.flags = array("H")
        self.level = array("B")
        self.badge = array("H")
        self.tool = array("H")
        self.actor = array("I")
        self.session = array("I")
        self.run = array("I")
        self.seq = array("I")
        self.partner = array("Q")
        self.took = array("f")
        self.ends = array("I")
        self.texts = bytearray()
        self.heights = array("H")
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

    def offsets(self) -> array[int]:
        """On which line of the block each row begins."""
        if self._offsets is None or len(self._offsets) != len(self.heights) + 1:
            self._offsets = array("I", accumulate(self.heights, initial=0))
        return self._offsets
