"""The rows of a window of the log: events paired, folded and filtered, kept small. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from msgspec import Struct

from quarterdeck.surfaces.tui.feed.rows.block import SIZE, Block, Names
from quarterdeck.surfaces.tui.feed.rows.filter import LEVELS, Wanted
from quarterdeck.surfaces.tui.feed.rows.pending_calls import ABOUT_USES, Uses, Word
from quarterdeck.surfaces.tui.feed.rows.preview import kept, preview_height
from quarterdeck.surfaces.tui.feed.rows.repeats import ABOUT_WORDS, Echoes
from quarterdeck.surfaces.tui.feed.rows.row_lines import aside_of
from quarterdeck.surfaces.tui.feed.rows.summary import (
    BELOW,
    CHILD,
    COMPACT,
    DENIED,
    DONE,
    ECHO,
    FAILED,
    FOOT,
    HEADS,
    PREVIEWED,
    TAILS,
    WAITING,
    Summary,
    summary_of,
)
from quarterdeck.surfaces.tui.feed.rows.window import Place, Window

Event = dict[str, Any]
KEPT = 1_000_000
UNPAIRED = 10_000
TALLEST = 60_000
PARENTS = 64
"""In how many blocks a parent is looked for."""

OVER = frozenset({"run.end", "session.end", "run.start"})
"""After these nothing of before is under way in a session."""

NOT_FOLDED = frozenset(
    {"permission.request", "question.request", "permission.decision", "question.decision", "decision.refused"}
)
"""What a folded sub-agent still shows: who waits for a person is never hidden."""

_LEVELS = {name: n for n, name in enumerate(LEVELS)}
_FLAGS = {Word.WAITS: WAITING, Word.DENIED: DENIED, Word.RUNS: 0}
_HEAD, _TAIL, _OVER = 1, 2, 3
_PARTS = {**dict.fromkeys(HEADS, _HEAD), **dict.fromkeys(TAILS, _TAIL), **dict.fromkeys(OVER, _OVER)}


class Group(Struct):
    """A sub-agent: the row under which it folds, and what it did."""

    head: int = 0
    rows: int = 0
    tools: int = 0
    failed: int = 0
    opened: bool = False


class Row(NamedTuple):
    """A row as it is drawn. `after` and what begins so are its outcome's; `below` are lines of what went wrong; `over`
    is whether its run has ended, so that nothing of it can be under way."""

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
    after_badge: str
    below: str
    took: float
    over: bool
    cwd: str
    group: Group | None


class Rows:
    """Grows at both ends, up to `kept` rows; a row is known by its event's `seq_no`."""

    def __init__(self, width: int = 80, wanted: Wanted | None = None, kept: int = KEPT) -> None:
        self.width = width
        self.wanted = wanted or Wanted()
        self.window = Window(self._height)
        self.groups: dict[int, Group] = {}
        self.kinds, self.tools, self.actors, self.sessions, self.badges = (Names() for _ in range(5))
        self._root = self.actors.code("agent:root")
        self._kept = kept
        self._expanded: dict[int, int] = {}
        self._under: dict[int, int] = {}
        self._over: dict[int, int] = {}
        self._cwds: dict[int, str] = {}
        self._heads: dict[str, int] = {}
        self._tails: dict[str, int] = {}
        self._uses = Uses()
        self._echoes = Echoes()
        self._folded: set[int] = set()
        self._run_id, self._run = "", 0
        self._learn()

    def __len__(self) -> int:
        return sum(len(block) for block in self.window.blocks)

    def __contains__(self, seq_no: int) -> bool:
        return self.window.find(seq_no) is not None

    @property
    def first(self) -> int:
        return self.window.first

    @property
    def last(self) -> int:
        return self.window.last

    @property
    def height(self) -> int:
        return self.window.height

    def append(self, events: Iterable[Event]) -> int:
        """Add events that come after the last; older ones are known already. Gives how many of them are shown."""
        window = self.window
        shown, last = 0, window.last
        for event in events:
            seq_no = event["seq_no"]
            if seq_no > last:
                last = seq_no
                shown += self._add(window.block_for(seq_no), event) > 0
        window.grown()
        if window.drop_first(self._kept):
            self._forget_older()
        return shown

    def prepend(self, events: list[Event]) -> None:
        """Add events that come before the first."""
        older = [event for event in events if not self.first or event["seq_no"] < self.first]
        folded = len(self._folded)
        for index, start in enumerate(range(0, len(older), SIZE)):
            block = self.window.insert(index, older[start]["seq_no"])
            for event in older[start : start + SIZE]:
                self._add(block, event)
        self.window.changed(0)
        if len(self._folded) != folded:
            self.window.reshape()

    def _forget_older(self) -> None:
        """What is known of sub-agents that began before the window goes with it."""
        for head in [head for head in self._under if head < self.first]:
            actor = self._under.pop(head)
            self._folded.discard(actor)
            self.groups.pop(actor, None)

    def _add(self, block: Block, event: Event) -> int:
        """A new row at the end of a block; how many lines it takes."""
        made = summary_of(event)
        kind, data, ui = event["kind"], event["data"], event["ui"]
        named = data if isinstance(data, dict) else {}
        kind_code, actor = self.kinds.code(kind), self.actors.code(event["actor_id"])
        if kind_code >= len(self._kind_ok):
            self._learn()
        if event["run_id"] != self._run_id:
            self._run_id, self._run = event["run_id"], run_of(event["run_id"])
        tool, badge = named.get("tool_name"), ui.get("badge") if ui else None
        block.seq_no.append(event["seq_no"])
        block.at.append(event["at"])
        block.kind.append(kind_code)
        block.tail.append(0)
        block.flags.append(made.flags)
        block.level.append(_LEVELS.get(event["level"], 1))
        block.badge.append(self.badges.code(badge) if badge else 0)
        block.tool.append(min(self.tools.code(str(tool)), 65535) if tool else 0)
        block.actor.append(actor)
        block.session.append(self.sessions.code(event["session_id"]))
        block.run.append(self._run)
        block.seq.append(event["seq"] & 0xFFFFFFFF)
        block.partner.append(0)
        block.took.append(made.took)
        block.texts += made.text.encode(errors="replace")
        block.ends.append(len(block.texts))
        n = len(block.ends) - 1
        part = _PARTS.get(kind)
        if part is not None:
            self._connect(block, n, part, made, named)
        elif kind == "user.prompt" and named.get("cwd"):
            self._cwds[block.session[n]] = str(named["cwd"])[:1000]
        if kind in ABOUT_USES:
            self._tell_use(self._uses.hear(event))
        if actor != self._root:
            self._count(actor, kind)
        height = self._height(block, n)
        block.heights.append(height)
        block.height += height
        if kind in ABOUT_WORDS:
            self._hush(self._echoes.hear(event))
            return block.heights[n]
        return height

    def _hush(self, seq_no: int) -> None:
        """The row of a stop leaves out what another row says."""
        found = self.window.find(seq_no) if seq_no else None
        if found is not None and not found[0].flags[found[1]] & ECHO:
            block, n = found
            block.flags[n] = block.flags[n] & ~PREVIEWED | ECHO
            self.window.resize(seq_no)

    def _connect(self, block: Block, n: int, part: int, made: Summary, data: Event) -> None:
        seq_no = block.seq_no[n]
        if part == _OVER:
            session = block.session[n]
            self._over[session] = max(seq_no, self._over.get(session, 0))
            return
        if "agent_type" in data and self.kinds.names[block.kind[n]] == "subagent.start":
            self._fold_under(seq_no, f"subagent:{data.get('agent_id')}")
        if not made.pair:
            return
        ours, theirs = (self._heads, self._tails) if part == _HEAD else (self._tails, self._heads)
        found = self.window.find(theirs.pop(made.pair, 0))
        if found is None:
            if part == _HEAD:
                block.flags[n] |= _FLAGS[self._uses.word(made.pair)]
            ours[made.pair] = seq_no
            if len(ours) > UNPAIRED:
                del ours[next(iter(ours))]
            return
        here, there = (block, n), found
        self._link(*(here, there) if part == _HEAD else (there, here))
        self.window.resize(there[0].seq_no[there[1]])

    def _tell_use(self, use: str) -> None:
        """The row of a tool says that it waits or was denied, until something else is heard of it."""
        found = self.window.find(self._heads.get(use, 0)) if use else None
        if found is not None:
            block, n = found
            block.flags[n] = block.flags[n] & ~(WAITING | DENIED) | _FLAGS[self._uses.word(use)]

    def _link(self, head: Place, tail: Place) -> None:
        """Two rows become one: the second is shown as the outcome of the first."""
        (heads, n), (tails, m) = head, tail
        heads.partner[n], tails.partner[m] = tails.seq_no[m], heads.seq_no[n]
        heads.tail[n] = tails.kind[m]
        heads.level[n] = max(heads.level[n], tails.level[m])
        tails.flags[m] |= CHILD
        failed = tails.flags[m] & FAILED
        more = DONE | failed | tails.flags[m] >> BELOW << BELOW
        if failed or not heads.flags[n] & COMPACT:
            more |= FOOT
        heads.flags[n] = (heads.flags[n] | more) & ~(WAITING | DENIED)

    def _fold_under(self, seq_no: int, actor_id: str) -> None:
        code = self.actors.code(actor_id)
        group = self.groups.setdefault(code, Group())
        group.head = seq_no
        self._under[seq_no] = code
        if not group.opened:
            self._folded.add(code)

    def _count(self, actor: int, kind: str) -> None:
        group = self.groups.get(actor)
        if group is None:
            if not self.actors.names[actor].startswith("subagent:"):
                return
            group = self.groups[actor] = Group()
        group.rows += 1
        group.tools += kind == "tool.pre"
        group.failed += kind == "tool.failure"

    def _height(self, block: Block, n: int) -> int:
        flags = block.flags[n]
        if flags & CHILD:
            return 0
        kind, tail = block.kind[n], block.tail[n]
        if not (self._kind_ok[kind] or (tail and self._kind_ok[tail])) or block.level[n] < self._lowest:
            return 0
        actor = block.actor[n]
        if self._picky and not self._picked(block.tool[n], actor):
            return 0
        if actor in self._folded and kind not in self._unfoldable:
            return 0
        if self._expanded:
            opened = self._expanded.get(block.seq_no[n])
            if opened is not None:
                return opened
        height = (2 if flags & FOOT else 1) + (flags >> BELOW)
        if not flags & PREVIEWED:
            return height
        return height + preview_height(block.text(n), self.width, aside_of(flags))

    def _picked(self, tool: int, actor: int) -> bool:
        return self.wanted.tool(self.tools.names[tool]) and self.wanted.actor(self.actors.names[actor])

    def _learn(self) -> None:
        """What the filter says of every kind there is."""
        self._kind_ok = [self.wanted.kind(name) for name in self.kinds.names]
        self._unfoldable = {n for n, name in enumerate(self.kinds.names) if name in NOT_FOLDED}
        self._lowest = self.wanted.lowest()
        self._picky = bool(self.wanted.tools or self.wanted.actors)

    def shape(self, *, width: int | None = None, wanted: Wanted | None = None) -> None:
        """Another width or filter. Rows that are looked at get their new height at once, the others by `settle`."""
        self.width = self.width if width is None else width
        self.wanted = self.wanted if wanted is None else wanted
        self._learn()
        self.window.reshape()

    def fold(self, actor: int, opened: bool) -> None:
        """Show or hide what a sub-agent did."""
        self.groups[actor].opened = opened
        (self._folded.discard if opened else self._folded.add)(actor)
        self.window.reshape()

    def reveal(self, seq_no: int) -> None:
        """Open the sub-agent that hides a row."""
        found = self.window.find(seq_no)
        if found is not None and found[0].actor[found[1]] in self._folded and not self.window.height_of(seq_no):
            self.fold(found[0].actor[found[1]], True)

    def expand(self, seq_no: int, lines: int | None) -> None:
        """Give a row room for so many lines; None closes it."""
        if lines is None:
            self._expanded.pop(seq_no, None)
        else:
            self._expanded[seq_no] = min(lines, TALLEST)
        self.window.resize(seq_no)

    def row(self, seq_no: int) -> Row | None:
        """Everything that drawing a row needs."""
        found = self.window.find(seq_no)
        if found is None:
            return None
        block, n = found
        text, took, session = block.text(n), block.took[n], block.session[n]
        after, after_flags, after_badge = "", 0, 0
        partner = self.window.find(block.partner[n]) if block.partner[n] else None
        if partner is not None:
            tails, m = partner
            after, after_flags, after_badge = tails.text(m), tails.flags[m], tails.badge[m]
            took = tails.took[m] if tails.took[m] >= 0 else tails.at[m] - block.at[n]
        actor = self._under.get(seq_no)
        return Row(
            seq_no=seq_no,
            at=block.at[n],
            kind=self.kinds.names[block.kind[n]],
            level=block.level[n],
            flags=block.flags[n],
            tool=self.tools.names[block.tool[n]],
            actor=self.actors.names[block.actor[n]],
            session=self.sessions.names[session],
            badge=self.badges.names[block.badge[n]],
            text=text,
            partner=block.partner[n],
            after=kept(after).line,
            after_flags=after_flags,
            after_badge=self.badges.names[after_badge],
            below=kept(after or text).below if block.flags[n] >> BELOW else "",
            took=took,
            over=self._over.get(session, 0) > seq_no,
            cwd=self._cwds.get(session, ""),
            group=None if actor is None else self.groups.get(actor),
        )

    def actor_under(self, seq_no: int) -> int | None:
        """The sub-agent that folds under a row."""
        return self._under.get(seq_no)

    def shown_as(self, seq_no: int) -> int:
        """The row that shows an event: its own, or the one whose outcome it is."""
        found = self.window.find(seq_no)
        if found is None:
            return seq_no
        block, n = found
        return block.partner[n] if block.flags[n] & CHILD else seq_no

    def seek(self, test: Callable[[Block, int], bool], seq_no: int, step: int) -> Iterator[int | None]:
        """The rows that pass a test, from one on downwards or upwards. Yields None after each block, so that whoever
        asks can do something else meanwhile."""
        for block, places in self.window.walk(seq_no, step):
            yield from (block.seq_no[n] for n in places if test(block, n))
            yield None

    def parent(self, event_id: str, before: int) -> int | None:
        """The row of an event by its id, where it stands not too long before another."""
        run_id, _, seq = event_id.rpartition(":E")
        run, session = run_of(run_id), self.sessions.code(run_id.rpartition(":R")[0])
        for looked, (block, places) in enumerate(self.window.walk(before, -1)):
            for n in places:
                if block.session[n] == session and block.run[n] == run and str(block.seq[n]) == seq:
                    return block.seq_no[n]
            if looked >= PARENTS:
                break
        return None


def run_of(run_id: str) -> int:
    """The n of `{session_id}:R{n}`; 0 where there is none."""
    number = run_id.rpartition(":R")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
