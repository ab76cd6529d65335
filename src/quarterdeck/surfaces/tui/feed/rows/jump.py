"""Tests for rows to jump to: with a text, an error, a decision, a prompt, a request. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from quarterdeck.surfaces.tui.feed.rows.block import RowBlock
from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from quarterdeck.surfaces.tui.feed.rows.summary import WAITS

RowTest = Callable[[RowBlock, int], bool]

JUMP_KINDS: Mapping[str, tuple[str, ...]] = {
    "error": ("tool.failure", "stop.failure", "permission.denied", "decision.refused"),
    "decision": ("permission.decision", "question.decision", "stop.decision"),
    "prompt": ("user.prompt", "message.user"),
    "request": ("permission.request", "question.request"),
}
"""The event kinds of each target."""


def contains(term: str) -> RowTest:
    """A test for rows whose line, preview or outcome contains a text, in any case. Each block is decoded and searched
    as a whole first, because most blocks do not contain the text."""
    lowered = term.lower()
    seen: dict[int, bool] = {}

    def test(block: RowBlock, n: int) -> bool:
        known = seen.get(id(block))
        if known is None:
            known = seen[id(block)] = lowered in block.texts.decode(errors="replace").lower()
        return known and lowered in block.text(n).lower()

    return test


def of_kind(kind: str, rows: FeedRows) -> RowTest:
    """A test for rows of these kinds. An error is also any row of level error; a request only one that waits."""
    kinds = {rows.kinds.code(name) for name in JUMP_KINDS.get(kind, (kind,))}
    if kind == "error":
        return lambda block, n: block.top[n] == 3 or block.kind[n] in kinds
    if kind == "request":
        return lambda block, n: not block.head[n] and bool(block.state[n] & WAITS)
    return lambda block, n: block.kind[n] in kinds


def shown_matches(rows: FeedRows, test: RowTest) -> Iterator[int | None]:
    """The rows on which something that passes a test is shown, from the top, each once. Yields None after each block,
    so that the caller can let other tasks run."""
    last = 0
    for seq_no in rows.seek(test, 0, 1):
        head = seq_no if seq_no is None else rows.head_of(seq_no)
        if head is None:
            yield None
        elif head != last and rows.window.height_of(head):
            last = head
            yield head
