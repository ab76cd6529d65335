"""The blocks of rows in order, and the line on which each row is, quickly for any number of rows. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

from quarterdeck.core.text.feed.row_order import place
from quarterdeck.surfaces.tui.feed.rows.block import SIZE, RowBlock

Height = Callable[[RowBlock, int], int]
Place = tuple[RowBlock, int]


class Window:
    """Rows by their place; grows at both ends. After `reshape` a block keeps its old heights until one of its rows is
    needed or `settle` reaches it: computing all heights at once would block the screen. `moved`: the rows that are not
    in the order of the log, and the events before which they are shown."""

    def __init__(self, height: Height) -> None:
        self.blocks: list[RowBlock] = []
        self.moved: dict[int, int] = {}
        self._height = height
        self._firsts: list[int] = []
        self._tops: list[int] = [0]
        self._version = 0

    def block_for(self, seq_no: int) -> RowBlock:
        """The block to which the next row at the end is added."""
        if self.blocks and len(self.blocks[-1]) < SIZE:
            return self.blocks[-1]
        return self.insert(len(self.blocks), seq_no)

    def insert(self, index: int, first: int) -> RowBlock:
        """Insert a new block that will begin with this row."""
        block = RowBlock(self._version)
        self.blocks.insert(index, block)
        self._firsts.insert(index, place(first))
        self.changed(index)
        return block

    def move(self, seq_no: int, before: int) -> None:
        """Show a row before another one; 0 puts it back to where the log has it."""
        index, n = self._index(seq_no)
        block = self.blocks[index]
        if before:
            self.moved[seq_no] = before
        else:
            self.moved.pop(seq_no, None)
        block.place[n] = aim = place(seq_no, before)
        self._place_row(index, n, max(bisect_right(self._firsts, aim) - 1, 0), aim)

    def _place_row(self, index: int, n: int, target: int, aim: int) -> None:
        """Put a row of one block to its place in another one; a block that it leaves empty goes."""
        block, other = self.blocks[index], self.blocks[target]
        kept = [one for m, one in enumerate(other.place) if other is not block or m != n]
        block.move(n, bisect_left(kept, aim), other)
        self._firsts[target] = min(self._firsts[target], aim)
        if not len(block):
            del self.blocks[index], self._firsts[index]
        self.changed(min(index, target))

    def drop_first(self, kept: int) -> bool:
        """Drop the oldest rows if there are more than `kept`. False if there are not."""
        many = len(self.blocks) * SIZE - kept - SIZE
        for _ in range(-(-many // SIZE)):
            for seq_no in self.moved.keys() & set(self.blocks[0].seq_no) if self.moved else ():
                del self.moved[seq_no]
            del self.blocks[0], self._firsts[0]
            self.changed(0)
        return many > 0

    def changed(self, index: int) -> None:
        """Note that the heights of a block have changed."""
        del self._tops[max(index, 0) + 1 :]

    def grown(self) -> None:
        """Note that rows were added at the end."""
        self.changed(len(self.blocks) - 1)

    def reshape(self) -> None:
        """Note that every height may have changed."""
        self._version += 1

    def settle(self, blocks: int) -> bool:
        """Compute the heights of some more blocks, the latest first. False when all are done."""
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index].version != self._version:
                if not blocks:
                    return True
                self._settle(index)
                blocks -= 1
        return False

    def _settle(self, index: int) -> RowBlock:
        block = self.blocks[index]
        if block.version != self._version:
            block.version = self._version
            block.set_heights([self._height(block, n) for n in range(len(block))])
            self.changed(index)
        return block

    def resize(self, seq_no: int) -> None:
        """Compute the height of a changed row."""
        index, n = self._index(seq_no)
        if index < len(self.blocks) and self.blocks[index].seq_no[n] == seq_no:
            block = self.blocks[index]
            height = self._height(block, n)
            if height != block.heights[n]:
                block.set_height(n, height)
                self.changed(index)

    def resize_here(self, block: RowBlock, n: int) -> None:
        """Compute the height of a changed row whose block is known."""
        if self._height(block, n) != block.heights[n]:
            self.resize(block.seq_no[n])

    def _line_starts(self) -> list[int]:
        """The first line of each block, then the number of all lines."""
        tops = self._tops
        for block in self.blocks[len(tops) - 1 :]:
            tops.append(tops[-1] + block.height)
        return tops

    @property
    def height(self) -> int:
        """The lines of all rows."""
        return self._line_starts()[-1]

    def at_line(self, line: int, effort: int = 32) -> tuple[int, int] | None:
        """The row on a line, and the number of the line in the row. None past the end, or if more than `effort` blocks
        would need new heights to find out."""
        if line < 0:
            return None
        for _ in range(effort):
            tops = self._line_starts()
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
        """The first line of a row, or the line where it would be."""
        index, n = self._index(seq_no)
        if index >= len(self.blocks):
            return self.height
        offsets = self._settle(index).offsets()
        return self._line_starts()[index] + offsets[n]

    def height_of(self, seq_no: int) -> int:
        """The lines of a row; 0 if it is not shown or not known."""
        index, n = self._index(seq_no)
        if index >= len(self.blocks) or self.blocks[index].seq_no[n] != seq_no:
            return 0
        return self._settle(index).heights[n]

    def neighbour(self, seq_no: int, step: int) -> int | None:
        """The next shown row, downwards or upwards; None at the end."""
        line = self.line_of(seq_no)
        found = self.at_line(line + self.height_of(seq_no) if step > 0 else line - 1)
        return None if found is None else found[0]

    def find(self, seq_no: int) -> Place | None:
        """The block of a row and its index there."""
        index, n = self._index(seq_no)
        if index < len(self.blocks) and self.blocks[index].seq_no[n] == seq_no:
            return self.blocks[index], n
        return None

    def _index(self, seq_no: int) -> tuple[int, int]:
        """The block and the index of a row, or of the next one."""
        if not self.blocks:
            return 0, 0
        aim = place(seq_no, self.moved.get(seq_no, 0))
        index = max(bisect_right(self._firsts, aim) - 1, 0)
        n = bisect_left(self.blocks[index].place, aim)
        return (index, n) if n < len(self.blocks[index]) else (index + 1, 0)

    def walk(self, seq_no: int, step: int) -> Iterator[tuple[RowBlock, range]]:
        """The rows after or before one, a block at a time."""
        index, n = self._index(seq_no)
        if step > 0:
            n += self.find(seq_no) is not None
            for block in self.blocks[index:]:
                yield block, range(n, len(block))
                n = 0
            return
        for block in reversed(self.blocks[: index + 1]):
            whole = index >= len(self.blocks) or block is not self.blocks[index]
            yield block, range((len(block) if whole else n) - 1, -1, -1)

    def walk_log(self, seq_no: int) -> Iterator[tuple[RowBlock, range]]:
        """The rows before one in the log, the latest first, a block at a time. Moved rows come too early."""
        index = bisect_right(self._firsts, place(seq_no)) - 1
        for block in reversed(self.blocks[: index + 1]):
            yield block, range(bisect_left(block.place, place(seq_no)) - 1, -1, -1)
