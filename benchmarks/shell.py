"""Reading shell lines of 200 characters into calls and doubts, against the parser alone."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial

from benchmarks.common import Figure, load, main, ratios
from benchmarks.lines import SIZE, lines
from quarterdeck.core.shell.script import read_script
from quarterdeck.core.shell.tree_parser import parse

LINES, ROUNDS = 2000, 5
GOALS = {50: 2.2, 99: 3.0}


def figures() -> list[Figure]:
    texts = lines(LINES)
    assert not any(read_script(text).doubts for text in texts)
    gc.collect()
    gc.freeze()
    candidates: dict[str, list[Callable[[], object]]] = {
        "parse": [partial(parse, text.encode()) for text in texts],
        "read": [partial(read_script, text) for text in texts],
    }
    taken = ratios(candidates, "parse", tuple(GOALS), ROUNDS)
    made = []
    for percent, goal in GOALS.items():
        ratio = taken["read", percent][0]
        made.append(
            Figure(
                name=f"read a command of {SIZE} characters, p{percent}",
                value=round(ratio, 2),
                unit="×",
                against=f"tree-sitter's parse, {taken['parse', percent][1] * 1e6:.0f} µs; {load()}",
                goal=f"≤ {goal:g}",
                ok=ratio <= goal,
            )
        )
    return made


if __name__ == "__main__":
    main(figures)
