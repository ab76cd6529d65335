"""Blocks of rows one after the other: which row stands on which line, whatever the number of rows. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

from quarterdeck.surfaces.tui.feed.rows.block import SIZE, Block

Height = Callable[[Block, int], int]
Place = tuple[Block, int]


class Window:
    """Grows at both ends; a row is known by its event's `seq_no`. Blocks that are out of shape keep their old heights
    until they are looked at or `settle` comes to them."""

    def __init__(self, height: Height) -> None:
        self.blocks: list[Block] = []
        self._height = height
        self._firsts: list[int] = []
        self._tops: list[int] = [0]
        self._version = 0

    @property
    def first(self) -> int:
        """The first row; 0 when there is none."""
        return self._firsts[0] if self._firsts else 0

    @property
    def last(self) -> int:
        """The last row; 0 when there is none."""
        return self.blocks[-1].seq_no[-1] if self.blocks else 0

    def block_for(self, seq_no: int) -> Block:
        """The block to which the next row at the end is added."""
        if self.blocks and len(self.blocks[-1]) < SIZE:
            return self.blocks[-1]
        return self.insert(len(self.blocks), seq_no)

    def insert(self, index: int, first: int) -> Block:
        """A new block that will begin with this row."""
        block = Block(self._version)
        self.blocks.insert(index, block)
        self._firsts.insert(index, first)
        self.changed(index)
        return block

    def drop_first(self, kept: int) -> bool:
        """Let go of the oldest rows when there are more than so many; whether there were."""
        many = len(self.blocks) * SIZE - kept - SIZE
        for _ in range(-(-many // SIZE)):
            del self.blocks[0], self._firsts[0]
            self.changed(0)
        return many > 0

    def changed(self, index: int) -> None:
        """The heights of a block have changed."""
        del self._tops[max(index, 0) + 1 :]

    def grown(self) -> None:
        """Rows were added at the end."""
        self.changed(len(self.blocks) - 1)

    def reshape(self) -> None:
        """Every height may be another."""
        self._version += 1

    def settle(self, blocks: int) -> bool:
        """Bring some more blocks into shape, the latest first; whether any is left."""
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index].version != self._version:
                if not blocks:
                    return True
                self._settle(index)
                blocks -= 1
        return False

    def _settle(self, index: int) -> Block:
        block = self.blocks[index]
        if block.version != self._version:
            block.version = self._version
            block.set_heights([self._height(block, n) for n in range(len(block))])
            self.changed(index)
        return block

    def resize(self, seq_no: int) -> None:
        """A row has changed."""
        index, n = self._place(seq_no)
        if index < len(self.blocks) and self.blocks[index].seq_no[n] == seq_no:
            block = self.blocks[index]
            height = self._height(block, n)
            if height != block.heights[n]:
                block.set_height(n, height)
                self.changed(index)

    def _ready(self) -> list[int]:
        """The first line of each block, and the number of all lines."""
        tops = self._tops
        for block in self.blocks[len(tops) - 1 :]:
            tops.append(tops[-1] + block.height)
        return tops

    @property
    def height(self) -> int:
        """How many lines all rows take."""
        return self._ready()[-1]

    def at_line(self, line: int, effort: int = 32) -> tuple[int, int] | None:
        """Which row stands on a line, and on which line of the row it is. None past the end, or when finding out takes
        more than `effort` blocks that are out of shape."""
        if line < 0:
            return None
        for _ in range(effort):
            tops = self._ready()
            index = bisect_right(tops, line) - 1
            if index >= len(self.blocks):
                return None
            block = self.blocks[index]
            if block.version == self._version:
                offsets = block.offsets()
                n = bisect_right(offsets, line - tops[index]) - 1
                return block.seq_no[n], line - tops[index] - offsets[n]
            self._settle(index)
        return None

    def line_of(self, seq_no: int) -> int:
        """The first line of a row, or of the place where it would be."""
        index, n = self._place(seq_no)
        if index >= len(self.blocks):
            return self.height
        offsets = self._settle(index).offsets()
        return self._ready()[index] + offsets[n]

    def height_of(self, seq_no: int) -> int:
        """How many lines a row takes; 0 when it is not shown or not known."""
        index, n = self._place(seq_no)
        if index >= len(self.blocks) or self.blocks[index].seq_no[n] != seq_no:
            return 0
        return self._settle(index).heights[n]

    def neighbour(self, seq_no: int, step: int) -> int | None:
        """The next row that is shown, downwards or upwards; None at the end."""
        line = self.line_of(seq_no)
        found = self.at_line(line + self.height_of(seq_no) if step > 0 else line - 1)
        return None if found is None else found[0]

    def find(self, seq_no: int) -> Place | None:
        """Where a row is kept."""
        index, n = self._place(seq_no)
        if index < len(self.blocks) and self.blocks[index].seq_no[n] == seq_no:
            return self.blocks[index], n
        return None

    def _place(self, seq_no: int) -> tuple[int, int]:
        """The place of a row, or of the next one."""
        if not self.blocks:
            return 0, 0
        index = max(bisect_right(self._firsts, seq_no) - 1, 0)
        n = bisect_left(self.blocks[index].seq_no, seq_no)
        return (index, n) if n < len(self.blocks[index]) else (index + 1, 0)

    def walk(self, seq_no: int, step: int) -> Iterator[tuple[Block, range]]:
        """The rows after one or before it, a block at a time."""
        index, n = self._place(seq_no)
        if step > 0:
            n += self.find(seq_no) is not None
            for block in self.blocks[index:]:
                yield block, range(n, len(block))
                n = 0
            return
        for block in reversed(self.blocks[: index + 1]):
            whole = index >= len(self.blocks) or block is not self.blocks[index]
            yield block, range((len(block) if whole else n) - 1, -1, -1)
