"""The rows of a window of the log: events paired, folded and filtered, kept small. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from quarterdeck.core.text.feed.event_rows import OVER
from quarterdeck.core.text.feed.row_keys import is_debug, row_keys
from quarterdeck.core.text.feed.row_order import MESSAGES, MOST_EVENTS_BACK, Moment, announced, place, said_at
from quarterdeck.surfaces.tui.feed.rows.block import SIZE, NameCodes, RowBlock
from quarterdeck.surfaces.tui.feed.rows.feed_row import FeedRow, RowPart
from quarterdeck.surfaces.tui.feed.rows.filter import LEVELS, FeedFilter
from quarterdeck.surfaces.tui.feed.rows.preview import preview_height
from quarterdeck.surfaces.tui.feed.rows.repeats import TEXT_KINDS, RepeatedTexts
from quarterdeck.surfaces.tui.feed.rows.row_joins import RowJoins
from quarterdeck.surfaces.tui.feed.rows.row_lines import is_narrow, reserved_cells
from quarterdeck.surfaces.tui.feed.rows.subagents import Subagents
from quarterdeck.surfaces.tui.feed.rows.summary import (
    BELOW_SHIFT,
    FAILED,
    PREVIEWED,
    REPEATED,
    STATE,
    WAITS,
    stored_summary,
    summary_of,
)
from quarterdeck.surfaces.tui.feed.rows.window import Window

Event = dict[str, Any]
MAX_ROWS = 1_000_000
MAX_HEIGHT = 60_000
MAX_PARENT_BLOCKS = 64
"""Blocks that are searched for a parent."""

NOT_FOLDED = frozenset({"permission.request", "question.request", "decision.refused"})
"""Kinds that a folded sub-agent still shows, as it does a call that waits: what a person must see is never hidden."""

_LEVELS = {name: n for n, name in enumerate(LEVELS)}


class FeedRows:
    """The rows by the `seq_no` of their event; grows at both ends, up to `kept` rows."""

    def __init__(
        self, width: int = 80, feed_filter: FeedFilter | None = None, kept: int = MAX_ROWS, *, stored: bool = False
    ) -> None:
        self.width = width
        self.feed_filter = feed_filter or FeedFilter()
        self.stored = stored
        self.first = self.last = 0
        self.window = Window(self._height)
        self.subagents = Subagents()
        self.kinds, self.tools, self.actors, self.sessions, self.badges = (NameCodes() for _ in range(5))
        self._kept = kept
        self._expanded: dict[int, int] = {}
        self._over: dict[int, int] = {}
        self._cwds: dict[int, str] = {}
        self._joins = RowJoins(self.window, self.kinds)
        self._repeats = RepeatedTexts()
        self._run_id, self._run = "", 0
        self._apply_filter()

    def __len__(self) -> int:
        return sum(len(block) for block in self.window.blocks)

    def __contains__(self, seq_no: int) -> bool:
        return self.window.find(seq_no) is not None

    @property
    def height(self) -> int:
        return self.window.height

    def append(self, events: Iterable[Event]) -> int:
        """Add events after the last one; skip older ones, which are here already. Returns how many are shown."""
        window = self.window
        shown = 0
        for event in events:
            seq_no = event["seq_no"]
            if seq_no > self.last:
                self.last = seq_no
                self.first = self.first or seq_no
                shown += self._add(window.block_for(seq_no), event) > 0
        window.grown()
        if window.drop_first(self._kept):
            self.first = min(self.window.blocks[0].seq_no)
            self.subagents.forget_before(self.first)
        return shown

    def prepend(self, events: list[Event]) -> None:
        """Add events before the first one."""
        edge = self.first
        older = [event for event in events if not edge or event["seq_no"] < edge]
        if not older:
            return
        folded = len(self.subagents.folded)
        self.first, self.last = older[0]["seq_no"], self.last or older[-1]["seq_no"]
        for index, start in enumerate(range(0, len(older), SIZE)):
            block = self.window.insert(index, older[start]["seq_no"])
            for event in older[start : start + SIZE]:
                self._add(block, event, is_older=True)
        self._move_later_messages(edge, older[-1]["at"])
        self.window.changed(0)
        if len(self.subagents.folded) != folded:
            self.window.reshape()

    def _add(self, block: RowBlock, event: Event, is_older: bool = False) -> int:
        """Add an event at the end of a block; returns the lines of its row."""
        made = stored_summary(event) if self.stored else summary_of(event)
        seq_no, kind, data, ui = event["seq_no"], event["kind"], event["data"], event["ui"]
        named = data if isinstance(data, dict) else {}
        kind_code, actor = self.kinds.code(kind), self.actors.code(event["actor_id"])
        if kind_code >= len(self._kind_ok):
            self._apply_filter()
        if event["run_id"] != self._run_id:
            self._run_id, self._run = event["run_id"], run_of(event["run_id"])
        tool, badge = named.get("tool_name"), ui.get("badge") if ui else None
        level = 0 if is_debug(event) and not self.stored else _LEVELS.get(event["level"], 1)
        block.place.append(place(seq_no))
        block.seq_no.append(seq_no)
        block.at.append(event["at"])
        block.kind.append(kind_code)
        block.flags.append(made.flags)
        block.state.append(made.flags & STATE)
        block.below.append(made.flags >> BELOW_SHIFT)
        block.level.append(level)
        block.top.append(level)
        block.badge.append(self.badges.code(badge) if badge else 0)
        kind_and_tool = f"{named.get('tool_kind') or ''} {tool}"
        block.tool.append(min(self.tools.code(kind_and_tool), 65535) if tool else 0)
        block.actor.append(actor)
        block.session.append(self.sessions.code(event["session_id"]))
        block.run.append(self._run)
        block.seq.append(event["seq"] & 0xFFFFFFFF)
        block.head.append(0)
        block.next.append(0)
        block.took.append(made.took)
        block.texts += made.text.encode(errors="replace")
        block.ends.append(len(block.texts))
        block.heights.append(0)
        n = len(block.ends) - 1
        if not self.stored:
            self._connect(block, n, event, named, is_older)
        height = 0
        if not block.head[n]:
            height = self._height(block, n)
            block.height += height - block.heights[n]
            block.heights[n] = height
        if self.stored or kind not in TEXT_KINDS:
            return height
        self._drop_repeated_preview(self._repeats.receive(event))
        self._place_message(block, n, event)
        return self.window.height_of(seq_no)

    def _connect(self, block: RowBlock, n: int, event: Event, data: Event, is_older: bool) -> None:
        """Put an event into the row it belongs to, and note what it says about its session and sub-agent."""
        kind, session = event["kind"], block.session[n]
        if kind in OVER:
            self._over[session] = max(event["seq_no"], self._over.get(session, 0))
        elif kind == "user.prompt" and data.get("cwd"):
            self._cwds[session] = str(data["cwd"])[:1000]
        elif kind == "subagent.start" and "agent_type" in data:
            self.subagents.start(event["seq_no"], self.actors.code(f"subagent:{data.get('agent_id')}"))
        if event["actor_id"].startswith("subagent:"):
            self.subagents.count(block.actor[n], kind)
        keys = row_keys(event)
        if keys:
            self._joins.join((block, n), keys, is_last=not is_older)

    def _place_message(self, block: RowBlock, n: int, event: Event) -> None:
        """Show a message before what it announces."""
        at = said_at(event)
        if at is not None:
            block.took[n] = event["at"] - at
            self._move(event["seq_no"])

    def _move(self, seq_no: int) -> None:
        """Put a message to where it belongs among the rows that are here now."""
        found = self.window.find(seq_no)
        if found is None or found[0].took[found[1]] < 0:
            return
        block, n = found
        message = self._moment(block, n)
        before = announced(message, block.at[n] - block.took[n], self._earlier(seq_no))
        if before != self.window.moved.get(seq_no, 0):
            self.window.move(seq_no, before)
            self.window.resize(seq_no)

    def _earlier(self, seq_no: int) -> Iterator[Moment]:
        """The events before one in the log, the latest first."""
        for block, places in self.window.walk_log(seq_no):
            for n in places:
                yield self._moment(block, n)

    def _moment(self, block: RowBlock, n: int) -> Moment:
        run = (block.session[n], block.run[n])
        return Moment(
            block.seq_no[n], block.at[n], run, self.actors.names[block.actor[n]], self.kinds.names[block.kind[n]]
        )

    def _move_later_messages(self, edge: int, at: float) -> None:
        """Move the messages after the old edge of the window that announce something before it."""
        kinds = {self.kinds.code(kind) for kind in MESSAGES}
        later: list[int] = []
        for block, places in self.window.walk(edge - 1, 1):
            later += [block.seq_no[n] for n in places if block.kind[n] in kinds]
            if block.seq_no[-1] > edge + MOST_EVENTS_BACK:
                break
        for seq_no in later:
            if edge and seq_no <= edge + MOST_EVENTS_BACK:
                self._move(seq_no)

    def _drop_repeated_preview(self, seq_no: int) -> None:
        """Drop the preview of a stop whose text another row shows."""
        found = self.window.find(seq_no) if seq_no else None
        if found is not None and not found[0].flags[found[1]] & REPEATED:
            block, n = found
            block.flags[n] = block.flags[n] & ~PREVIEWED | REPEATED
            self.window.resize(seq_no)

    def _height(self, block: RowBlock, n: int) -> int:
        if block.head[n] or block.top[n] < self._lowest:
            return 0
        if self._picky and not self._matches(block, n):
            return 0
        if block.actor[n] in self.subagents.folded and not (
            block.state[n] & WAITS or block.kind[n] in self._unfoldable
        ):
            return 0
        if self._expanded:
            opened = self._expanded.get(block.seq_no[n])
            if opened is not None:
                return opened
        height, flags = 1 + block.below[n], block.flags[n]
        if block.state[n] & FAILED and block.tool[n] and not block.below[n] and is_narrow(self.width):
            return height + 1
        if not flags & PREVIEWED:
            return height
        return height + preview_height(block.text(n), self.width, reserved_cells(flags, self.width))

    def _matches(self, block: RowBlock, n: int) -> bool:
        """True if an event of the row passes the filter; the tool is that of the row."""
        passes = self.feed_filter
        if not passes.tool(self.tools.names[block.tool[n]].partition(" ")[2]):
            return False
        return any(
            self._kind_ok[other.kind[m]] and passes.actor(self.actors.names[other.actor[m]])
            for other, m in self._joins.chain(block, n)
        )

    def _apply_filter(self) -> None:
        """Look up once which kinds the filter shows, because heights are computed for every row."""
        self._kind_ok = [self.feed_filter.kind(name) for name in self.kinds.names]
        self._unfoldable = {n for n, name in enumerate(self.kinds.names) if name in NOT_FOLDED}
        self._lowest = 0 if self.stored else self.feed_filter.lowest()
        self._picky = bool(self.feed_filter.kinds or self.feed_filter.tools or self.feed_filter.actors)

    def reshape(self, *, width: int | None = None, feed_filter: FeedFilter | None = None) -> None:
        """Set the width or the filter. Rows on screen get their new height at once, the others in `settle`."""
        self.width = self.width if width is None else width
        self.feed_filter = self.feed_filter if feed_filter is None else feed_filter
        self._apply_filter()
        self.window.reshape()

    def fold(self, actor: int, opened: bool) -> None:
        """Show or hide the rows of a sub-agent."""
        self.subagents.fold(actor, opened)
        self.window.reshape()

    def reveal(self, seq_no: int) -> None:
        """Open the sub-agent that hides a row."""
        found = self.window.find(seq_no)
        if (
            found is not None
            and found[0].actor[found[1]] in self.subagents.folded
            and not self.window.height_of(seq_no)
        ):
            self.fold(found[0].actor[found[1]], True)

    def expand(self, seq_no: int, lines: int | None) -> None:
        """Give a row this many lines; None closes it."""
        if lines is None:
            self._expanded.pop(seq_no, None)
        else:
            self._expanded[seq_no] = min(lines, MAX_HEIGHT)
        self.window.resize(seq_no)

    def row(self, seq_no: int) -> FeedRow | None:
        """The row with everything that is needed to draw it."""
        found = self.window.find(seq_no)
        if found is None:
            return None
        block, n = found
        session = block.session[n]
        tool_kind, _, tool = self.tools.names[block.tool[n]].partition(" ")
        return FeedRow(
            seq_no=seq_no,
            at=block.at[n],
            kind=self.kinds.names[block.kind[n]],
            level=block.top[n],
            flags=block.flags[n],
            state=block.state[n],
            tool=tool,
            tool_kind=tool_kind,
            actor=self.actors.names[block.actor[n]],
            session=self.sessions.names[session],
            badge=self.badges.names[block.badge[n]],
            text=block.text(n),
            run=block.run[n],
            parts=tuple(sorted(self._shown_part(*one) for one in self._joins.chain(block, n))),
            over=self._over.get(session, 0) > seq_no,
            cwd=self._cwds.get(session, ""),
            stored=self.stored,
            group=self.subagents.group_under(seq_no),
        )

    def _shown_part(self, block: RowBlock, n: int) -> RowPart:
        badge = self.badges.names[block.badge[n]]
        return self._joins.part(block, n)._replace(at=block.at[n], text=block.text(n), took=block.took[n], badge=badge)

    def actor_under(self, seq_no: int) -> int | None:
        """The code of the sub-agent that folds under a row."""
        return self.subagents.under.get(seq_no)

    def head_of(self, seq_no: int) -> int:
        """The row that shows an event: its own, or the row whose outcome it is."""
        found = self.window.find(seq_no)
        if found is None:
            return seq_no
        block, n = found
        return block.head[n] or seq_no

    def seek(self, test: Callable[[RowBlock, int], bool], seq_no: int, step: int) -> Iterator[int | None]:
        """The rows that pass a test, downwards or upwards from one. Yields None after each block, so that the caller
        can let other tasks run."""
        for block, places in self.window.walk(seq_no, step):
            yield from (block.seq_no[n] for n in places if test(block, n))
            yield None

    def parent(self, event_id: str, before: int) -> int | None:
        """The row of an event by its id, if it is not too far before another row."""
        run_id, _, seq = event_id.rpartition(":E")
        run, session = run_of(run_id), self.sessions.code(run_id.rpartition(":R")[0])
        for searched, (block, places) in enumerate(self.window.walk(before, -1)):
            for n in places:
                if block.session[n] == session and block.run[n] == run and str(block.seq[n]) == seq:
                    return block.seq_no[n]
            if searched >= MAX_PARENT_BLOCKS:
                break
        return None


def run_of(run_id: str) -> int:
    """The n of `{session_id}:R{n}`; 0 if there is none."""
    number = run_id.rpartition(":R")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
