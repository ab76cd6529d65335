"""What one jumps to: rows that hold a text, went wrong, were decided, or are a person's word. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quarterdeck.surfaces.tui.feed.rows.block import Block
from quarterdeck.surfaces.tui.feed.rows.rows import Rows
from quarterdeck.surfaces.tui.feed.rows.summary import CHILD, DONE

Test = Callable[[Block, int], bool]

KINDS: Mapping[str, tuple[str, ...]] = {
    "error": ("tool.failure", "stop.failure", "permission.denied", "decision.refused"),
    "decision": ("permission.decision", "question.decision", "stop.decision"),
    "prompt": ("user.prompt", "message.user"),
    "request": ("permission.request", "question.request"),
}
"""What a word to jump by means, in kinds."""


def holds(term: str) -> Test:
    """Rows whose line, preview or outcome holds a text, in whatever case. A block without it is passed in one look."""
    wanted = term.lower()
    seen: dict[int, bool] = {}

    def test(block: Block, n: int) -> bool:
        known = seen.get(id(block))
        if known is None:
            known = seen[id(block)] = wanted in block.texts.decode(errors="replace").lower()
        return known and wanted in block.text(n).lower()

    return test


def is_a(kind: str, rows: Rows) -> Test:
    """Rows of these kinds; an error is also whatever was recorded as one, a request only one that waits."""
    wanted = {rows.kinds.code(name) for name in KINDS.get(kind, (kind,))}
    if kind == "error":
        return lambda block, n: block.level[n] == 3 or block.kind[n] in wanted
    if kind == "request":
        return lambda block, n: block.kind[n] in wanted and not block.flags[n] & (CHILD | DONE)
    return lambda block, n: block.kind[n] in wanted
