"""The rows of a window of the log: paired, folded, filtered, opened, and on which line each stands. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from msgspec import Struct

from quarterdeck.surfaces.tui.feed.block import SIZE, Block, Names
from quarterdeck.surfaces.tui.feed.lines import preview_height
from quarterdeck.surfaces.tui.feed.summary import (
    CHILD,
    COMPACT,
    DONE,
    FAILED,
    FOOT,
    HEADS,
    PREVIEWED,
    TAILS,
    Summary,
    summary_of,
)
from quarterdeck.surfaces.tui.feed.wanted import LEVELS, Wanted

KEPT = 1_000_000
UNPAIRED = 10_000
TALLEST = 60_000
NOT_FOLDED = frozenset(
    {"permission.request", "question.request", "permission.decision", "question.decision", "decision.refused"}
)
"""What a folded sub-agent still shows: who waits for a person is never hidden."""


OVER = frozenset({"run.end", "session.end", "run.start"})
"""After these nothing of before is under way in a session."""


class Group(Struct):
    """A sub-agent: the row under which it folds, and what it did."""

    head: int = 0
    rows: int = 0
    tools: int = 0
    failed: int = 0
    opened: bool = False


class Row(NamedTuple):
    """A row as it is drawn. `after` and `after_flags` are its outcome's."""

    seq_no: int
    at: float
    kind: str
    level: int
    flags: int
    tool: str
    actor: str
    session: str
    badge: str
    text: str
    partner: int
    after: str
    after_flags: int
    after_kind: str
    took: float
    over: bool
    group: Group | None


class Rows:
    """Grows at both ends, up to `kept` rows; a row is known by its event's `seq_no`."""

    def __init__(self, width: int = 80, wanted: Wanted | None = None, kept: int = KEPT) -> None:
        self.width = width
        self.wanted = wanted or Wanted()
        self.expanded: dict[int, int] = {}
        self.kinds, self.tools, self.actors, self.sessions, self.badges = (Names() for _ in range(5))
        self.groups: dict[int, Group] = {}
        self._under: dict[int, int] = {}
        self._over: dict[int, int] = {}
        self._kept = kept
        self._blocks: list[Block] = []
        self._firsts: list[int] = []
        self._tops: list[int] = [0]
        self._version = 0
        self._heads: dict[str, int] = {}
        self._tails: dict[str, int] = {}
        self._folded: set[int] = set()
        self._kind_ok: list[bool] = []
        self._tool_ok: list[bool] = []
        self._actor_ok: list[bool] = []
        self._lowest = 0
        self._unfoldable: set[int] = set()
        self._learn()

    def __len__(self) -> int:
        return sum(len(block) for block in self._blocks)

    @property
    def first(self) -> int:
        """The first event of the window; 0 when it is empty."""
        return self._firsts[0] if self._firsts else 0

    @property
    def last(self) -> int:
        """The last event of the window; 0 when it is empty."""
        return self._blocks[-1].seq_no[-1] if self._blocks else 0

    def append(self, events: Iterable[dict[str, Any]]) -> int:
        """Add events that come after the last; older ones are known already. Gives how many of them are shown."""
        shown, last = 0, self.last
        for event in events:
            if event["seq_no"] <= last:
                continue
            last = event["seq_no"]
            if not self._blocks or len(self._blocks[-1]) >= SIZE:
                self._add_block(len(self._blocks), last)
            block = self._blocks[-1]
            shown += self._add(block, event) > 0
        self._tops_from(len(self._blocks) - 1)
        self._drop_first()
        return shown

    def prepend(self, events: list[dict[str, Any]]) -> None:
        """Add events that come before the first."""
        older = [event for event in events if not self._firsts or event["seq_no"] < self.first]
        known = len(self.groups)
        for n, start in enumerate(range(0, len(older), SIZE)):
            self._add_block(n, older[start]["seq_no"])
            for event in older[start : start + SIZE]:
                self._add(self._blocks[n], event)
        if len(self.groups) != known:
            self._reshape()
        self._tops_from(0)

    def _add_block(self, index: int, first: int) -> None:
        self._blocks.insert(index, Block(self._version))
        self._firsts.insert(index, first)

    def _drop_first(self) -> None:
        while len(self._blocks) * SIZE > self._kept + SIZE:
            del self._blocks[0], self._firsts[0]
            self._tops_from(0)

    def _add(self, block: Block, event: dict[str, Any]) -> int:
        made = summary_of(event)
        kind, data, ui = event["kind"], event["data"], event.get("ui")
        named = data if isinstance(data, dict) else {}
        seq_no = event["seq_no"]
        block.seq_no.append(seq_no)
        block.at.append(event["at"])
        kind_code = self.kinds.code(kind)
        if kind_code >= len(self._kind_ok):
            self._learn()
        block.kind.append(kind_code)
        block.tail.append(0)
        block.flags.append(made.flags)
        block.level.append(_LEVELS.get(event["level"], 1))
        block.badge.append(self.badges.code(str(ui.get("badge") or "")) if ui else 0)
        block.tool.append(min(self.tools.code(str(named.get("tool_name") or "")[:80]), 65535))
        block.actor.append(self.actors.code(event["actor_id"]))
        block.session.append(self.sessions.code(event["session_id"]))
        block.run.append(_run_of(event["run_id"]))
        block.seq.append(event["seq"] & 0xFFFFFFFF)
        block.partner.append(0)
        block.took.append(made.took)
        block.texts += made.text.encode(errors="replace")
        block.ends.append(len(block.texts))
        block.heights.append(0)
        n = len(block.heights) - 1
        if kind in HEADS:
            self._open(block, n, kind, made, named)
        elif kind in TAILS and made.pair:
            self._close(block, n, made)
        elif kind in OVER:
            session = block.session[n]
            self._over[session] = max(seq_no, self._over.get(session, 0))
        if block.actor[n] != self._root:
            self._count(block.actor[n], kind, made.flags)
        height = self._height(block, n)
        block.set_height(n, height)
        return height

    def _open(self, block: Block, n: int, kind: str, made: Summary, data: dict[str, Any]) -> None:
        if kind == "subagent.start":
            code = self.actors.code(f"subagent:{data.get('agent_id')}")
            group = self.groups.setdefault(code, Group())
            group.head = block.seq_no[n]
            self._under[group.head] = code
            if not group.opened:
                self._folded.add(code)
        if not made.pair:
            return
        tail = self._tails.pop(made.pair, 0)
        if tail:
            self._pair(block, n, tail)
        else:
            self._heads[made.pair] = block.seq_no[n]
            if len(self._heads) > UNPAIRED:
                del self._heads[next(iter(self._heads))]

    def _close(self, block: Block, n: int, made: Summary) -> None:
        head = self._heads.pop(made.pair, 0)
        found = self._find(head) if head else None
        if found is None:
            self._tails[made.pair] = block.seq_no[n]
            if len(self._tails) > UNPAIRED:
                del self._tails[next(iter(self._tails))]
            return
        self._link(*found, block, n)

    def _pair(self, block: Block, n: int, tail: int) -> None:
        found = self._find(tail)
        if found is not None:
            index, m = found
            self._link(-1, n, self._blocks[index], m, block)
            self._resize(index, m)

    def _link(self, index: int, n: int, tails: Block, m: int, heads: Block | None = None) -> None:
        """Two rows become one: the second is shown as the outcome of the first."""
        block = heads or self._blocks[index]
        block.partner[n], tails.partner[m] = tails.seq_no[m], block.seq_no[n]
        block.tail[n] = tails.kind[m]
        block.level[n] = max(block.level[n], tails.level[m])
        tails.flags[m] |= CHILD
        failed = tails.flags[m] & FAILED
        block.flags[n] |= DONE | failed
        if failed or not block.flags[n] & COMPACT:
            block.flags[n] |= FOOT
        if heads is None:
            self._resize(index, n)

    def _count(self, actor: int, kind: str, flags: int) -> None:
        group = self.groups.get(actor)
        if group is None:
            if not self.actors.names[actor].startswith("subagent:"):
                return
            group = self.groups[actor] = Group()
        group.rows += 1
        group.tools += kind == "tool.pre"
        group.failed += kind == "tool.failure"

    def _resize(self, index: int, n: int) -> None:
        block = self._blocks[index]
        height = self._height(block, n)
        if height != block.heights[n]:
            block.set_height(n, height)
            self._tops_from(index)

    def _height(self, block: Block, n: int) -> int:
        flags = block.flags[n]
        if flags & CHILD:
            return 0
        kind, tail = block.kind[n], block.tail[n]
        if not (self._kind_ok[kind] or (tail and self._kind_ok[tail])) or block.level[n] < self._lowest:
            return 0
        actor = block.actor[n]
        if self._picky and not (self._tool_passes(block.tool[n]) and self._actor_passes(actor)):
            return 0
        if actor in self._folded and kind not in self._unfoldable:
            return 0
        if self.expanded:
            opened = self.expanded.get(block.seq_no[n])
            if opened is not None:
                return opened
        height = 2 if flags & FOOT else 1
        return height + preview_height(block.text(n), self.width) if flags & PREVIEWED else height

    def _tool_passes(self, code: int) -> bool:
        return self.wanted.tool(self.tools.names[code])

    def _actor_passes(self, code: int) -> bool:
        return self.wanted.actor(self.actors.names[code])

    def _learn(self) -> None:
        """What the filter says of every kind there is."""
        self._kind_ok = [self.wanted.kind(name) for name in self.kinds.names]
        self._unfoldable = {n for n, name in enumerate(self.kinds.names) if name in NOT_FOLDED}
        self._lowest = self.wanted.lowest()
        self._picky = bool(self.wanted.tools or self.wanted.actors)
        self._root = self.actors.code("agent:root")

    def shape(self, *, width: int | None = None, wanted: Wanted | None = None) -> None:
        """Another width or filter. Rows that are looked at get their new height at once, the others by `settle`."""
        self.width = self.width if width is None else width
        self.wanted = self.wanted if wanted is None else wanted
        self._learn()
        self._reshape()

    def fold(self, actor: int, opened: bool) -> None:
        """Show or hide what a sub-agent did."""
        self.groups[actor].opened = opened
        (self._folded.discard if opened else self._folded.add)(actor)
        self._reshape()

    def expand(self, seq_no: int, lines: int | None) -> None:
        """Give a row room for so many lines; None closes it."""
        if lines is None:
            self.expanded.pop(seq_no, None)
        else:
            self.expanded[seq_no] = min(lines, TALLEST)
        found = self._find(seq_no)
        if found is not None:
            self._resize(*found)

    def _reshape(self) -> None:
        self._version += 1

    def settle(self, blocks: int) -> bool:
        """Bring some more blocks into shape, the latest first; whether any is left."""
        for index in range(len(self._blocks) - 1, -1, -1):
            if self._blocks[index].version != self._version:
                if not blocks:
                    return True
                self._settle(index)
                blocks -= 1
        return False

    def _settle(self, index: int) -> None:
        block = self._blocks[index]
        block.version = self._version
        for n in range(len(block)):
            height = self._height(block, n)
            if height != block.heights[n]:
                block.set_height(n, height)
        self._tops_from(index)

    def _tops_from(self, index: int) -> None:
        del self._tops[max(index, 0) + 1 :]

    def _ready(self) -> list[int]:
        """The first line of each block, and the number of all lines."""
        for block in self._blocks[len(self._tops) - 1 :]:
            self._tops.append(self._tops[-1] + block.height)
        return self._tops

    @property
    def height(self) -> int:
        """How many lines all rows take."""
        return self._ready()[-1]

    def at_line(self, line: int, effort: int = 32) -> tuple[int, int] | None:
        """Which row stands on a line, and on which line of the row it is. None past the end, or when finding out takes
        more than `effort` blocks that are not in shape yet."""
        if line < 0:
            return None
        for _ in range(effort):
            tops = self._ready()
            index = bisect_right(tops, line) - 1
            if index >= len(self._blocks):
                return None
            block = self._blocks[index]
            if block.version == self._version:
                offsets = block.offsets()
                n = bisect_right(offsets, line - tops[index]) - 1
                return block.seq_no[n], line - tops[index] - offsets[n]
            self._settle(index)
        return None

    def line_of(self, seq_no: int) -> int:
        """The first line of a row, or of the place where it would be."""
        index, n = self._place(seq_no)
        if index >= len(self._blocks):
            return self.height
        if self._blocks[index].version != self._version:
            self._settle(index)
        return self._ready()[index] + self._blocks[index].offsets()[n]

    def _place(self, seq_no: int) -> tuple[int, int]:
        index = max(bisect_right(self._firsts, seq_no) - 1, 0)
        if not self._blocks:
            return 0, 0
        n = bisect_left(self._blocks[index].seq_no, seq_no)
        return (index, n) if n < len(self._blocks[index]) else (index + 1, 0)

    def _find(self, seq_no: int) -> tuple[int, int] | None:
        index, n = self._place(seq_no)
        if index < len(self._blocks) and self._blocks[index].seq_no[n] == seq_no:
            return index, n
        return None

    def __contains__(self, seq_no: int) -> bool:
        return self._find(seq_no) is not None

    def height_of(self, seq_no: int) -> int:
        """How many lines a row takes; 0 when it is not shown or not known."""
        found = self._find(seq_no)
        if found is None:
            return 0
        index, n = found
        if self._blocks[index].version != self._version:
            self._settle(index)
        return self._blocks[index].heights[n]

    def row(self, seq_no: int) -> Row | None:
        """Everything that drawing a row needs."""
        found = self._find(seq_no)
        if found is None:
            return None
        block, n = self._blocks[found[0]], found[1]
        after, after_flags, after_kind, took = "", 0, "", block.took[n]
        partner = self._find(block.partner[n]) if block.partner[n] else None
        if partner is not None:
            tails, m = self._blocks[partner[0]], partner[1]
            after, after_flags, after_kind = tails.text(m), tails.flags[m], self.kinds.names[tails.kind[m]]
            took = tails.took[m] if tails.took[m] >= 0 else tails.at[m] - block.at[n]
        return Row(
            seq_no=seq_no,
            at=block.at[n],
            kind=self.kinds.names[block.kind[n]],
            level=block.level[n],
            flags=block.flags[n],
            tool=self.tools.names[block.tool[n]],
            actor=self.actors.names[block.actor[n]],
            session=self.sessions.names[block.session[n]],
            badge=self.badges.names[block.badge[n]],
            text=block.text(n),
            partner=block.partner[n],
            after=after,
            after_flags=after_flags,
            after_kind=after_kind,
            took=took,
            over=self._over.get(block.session[n], 0) > seq_no,
            group=self._group_under(seq_no),
        )

    def _group_under(self, seq_no: int) -> Group | None:
        actor = self.actor_under(seq_no)
        return None if actor is None else self.groups[actor]

    def actor_under(self, seq_no: int) -> int | None:
        """The sub-agent that folds under a row."""
        return self._under.get(seq_no)

    def shown_as(self, seq_no: int) -> int:
        """The row that shows an event: its own, or the one whose outcome it is."""
        found = self._find(seq_no)
        if found is None:
            return seq_no
        block, n = self._blocks[found[0]], found[1]
        return block.partner[n] if block.flags[n] & CHILD else seq_no

    def neighbour(self, seq_no: int, step: int) -> int | None:
        """The next row that is shown, downwards or upwards; None at the end."""
        line = self.line_of(seq_no)
        found = self.at_line(line + max(self.height_of(seq_no), 0) if step > 0 else line - 1, len(self._blocks) + 1)
        return None if found is None else found[0]

    def seek(self, test: Callable[[Block, int], bool], seq_no: int, step: int) -> Iterator[int | None]:
        """The rows that pass a test, from one on downwards or upwards. Yields None now and then while it looks, so that
        whoever asks can do something else."""
        index, n = self._place(seq_no)
        if index < len(self._blocks) and self._blocks[index].seq_no[n] == seq_no:
            n += step > 0
        while 0 <= index < len(self._blocks):
            block = self._blocks[index]
            places = range(n, len(block)) if step > 0 else range(min(n, len(block)) - 1, -1, -1)
            yield from (block.seq_no[m] for m in places if test(block, m))
            yield None
            index += 1 if step > 0 else -1
            n = 0 if step > 0 else SIZE

    def parent(self, event_id: str) -> int | None:
        """The row of an event by its id, where it is in the window."""
        run_id, _, seq = event_id.rpartition(":E")
        session, run = run_id.rpartition(":R")[0], _run_of(run_id)
        code = self.sessions.code(session)
        for block in reversed(self._blocks[-64:]):
            for n in range(len(block) - 1, -1, -1):
                if block.session[n] == code and block.run[n] == run and str(block.seq[n]) == seq:
                    return block.seq_no[n]
        return None


_LEVELS = {name: n for n, name in enumerate(LEVELS)}


def _run_of(run_id: str) -> int:
    number = run_id.rpartition(":R")[2]
    return int(number) & 0xFFFFFFFF if number.isascii() and number.isdigit() and len(number) < 10 else 0
