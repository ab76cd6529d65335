"""Joins the events of a row, quickly for the latest one. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from quarterdeck.core.text.feed.row_keys import head_order
from quarterdeck.surfaces.tui.feed.rows.block import NameCodes, RowBlock
from quarterdeck.surfaces.tui.feed.rows.feed_row import RowPart, row_state
from quarterdeck.surfaces.tui.feed.rows.summary import ALLOWED, BELOW_SHIFT, DENIED, DONE, FAILED, WAITS
from quarterdeck.surfaces.tui.feed.rows.window import Place, Window

MAX_KEYS = 10_000
"""Keys of rows that may still get further events."""


class RowJoins:
    """The rows by their keys. Each event but the head names the head, and the next event of the row."""

    def __init__(self, window: Window, kinds: NameCodes) -> None:
        self._window = window
        self._kinds = kinds
        self._rows: dict[str, int] = {}

    def join(self, place: Place, keys: tuple[str, ...], *, is_last: bool) -> None:
        """Join the rows that have these keys with this one; `is_last` says that it is the last one of the log."""
        block, n = place
        seq_no = block.seq_no[n]
        heads: dict[int, Place] = {}
        for key in keys:
            found = self._window.find(self._rows.get(key, 0)) if key in self._rows else None
            if found is not None and (head := found[0].head[found[1]]):
                found = self._window.find(head)
            if found is not None:
                heads[found[0].seq_no[found[1]]] = found
        if len(heads) == 1 and is_last and self._follows(block, n, *next(iter(heads.items()))):
            seq_no = next(iter(heads))
        elif heads:
            seq_no = self._merge(heads | {seq_no: (block, n)})
        for key in keys:
            self._rows[key] = seq_no
        while len(self._rows) > MAX_KEYS:
            del self._rows[next(iter(self._rows))]

    def _follows(self, block: RowBlock, n: int, root: int, head: Place) -> bool:
        """Add the latest event of the log to a row, the usual case by far: what the row is follows without its other
        events. False if the event is to be the head."""
        other, m = head
        if head_order(self._kinds.names[other.kind[m]], root) > head_order(
            self._kinds.names[block.kind[n]], block.seq_no[n]
        ):
            return False
        block.head[n], block.next[n], other.next[m] = root, other.next[m], block.seq_no[n]
        flags = block.flags[n]
        if flags & (DONE | FAILED):
            other.state[m], other.below[m] = flags & (DONE | FAILED), flags >> BELOW_SHIFT
        elif flags & (WAITS | DENIED | ALLOWED) and not other.state[m] & (DONE | FAILED):
            other.state[m] = flags & (WAITS | DENIED)
        other.top[m] = max(other.top[m], block.level[n])
        self._window.resize_here(other, m)
        return True

    def _merge(self, places: dict[int, Place]) -> int:
        """Make one row of several; returns its head."""
        root = min(places, key=lambda one: head_order(self._kinds.names[places[one][0].kind[places[one][1]]], one))
        block, n = places.pop(root)
        for seq_no, (other, m) in places.items():
            last = (other, m)
            for last in self.chain(other, m):
                last[0].head[last[1]] = root
            last[0].next[last[1]] = block.next[n]
            block.next[n] = seq_no
            self._window.resize(seq_no)
        parts = sorted(self.part(*one) for one in self.chain(block, n))
        block.state[n], block.below[n] = row_state(parts)
        block.top[n] = max(one.level for one in parts)
        self._window.resize(root)
        return root

    def chain(self, block: RowBlock, n: int) -> Iterator[Place]:
        """The events of a row, its head first."""
        found: Place | None = (block, n)
        while found is not None:
            block, n = found
            yield found
            following = block.next[n]
            found = self._window.find(following) if following else None

    def part(self, block: RowBlock, n: int) -> RowPart:
        return RowPart(block.seq_no[n], self._kinds.names[block.kind[n]], block.flags[n], block.level[n])
