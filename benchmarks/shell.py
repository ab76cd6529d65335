"""Reading a shell command of 200 characters into calls and doubts, against the parser alone."""

from __future__ import annotations

import gc

from benchmarks.common import Figure, interleave, main, percentile
from quarterdeck.core.shell import read_script
from quarterdeck.core.shell_tree import parse

COMMAND = (
    "git log --oneline --since='2 weeks ago' -- src/quarterdeck tests | grep -v \"merge branch\" | sort -u | head -n 20"
    " && npm run test:unit -- --reporter=dot 2>&1 | tail -n 40; cat docs/architecture.md README.md"
)
ROUNDS = 20_000
GOALS = {50: 2.2, 99: 3.0}


def figures() -> list[Figure]:
    data = COMMAND.encode()
    assert not read_script(COMMAND).doubts
    gc.collect()
    gc.freeze()
    taken = interleave({"parse": lambda: _parse(data), "read": lambda: _read()}, ROUNDS)
    made = []
    for percent, goal in GOALS.items():
        ratio = percentile(taken["read"], percent) / percentile(taken["parse"], percent)
        made.append(
            Figure(
                name=f"read a command of 200 characters, p{percent}",
                value=round(ratio, 2),
                unit="×",
                against="tree-sitter's parse",
                goal=f"≤ {goal}",
                ok=ratio <= goal,
            )
        )
    return made


def _parse(data: bytes) -> None:
    parse(data)


def _read() -> None:
    read_script(COMMAND)


if __name__ == "__main__":
    main(figures)
