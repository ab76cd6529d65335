"""Verdicts over 10 and 1,000 rules, with the reading of their commands, against the bare parse."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial

import tree_sitter_bash
from tree_sitter import Language, Parser

from benchmarks.common import Figure, load, main, ratios
from benchmarks.lines import ALLOWED, lines
from quarterdeck.core.rules.rulebook import Rule, Rulebook, ToolUse

PROGRAMS = ("git", "npm", "cargo", "docker", "kubectl", "make", "pip", "go", "gh", "aws")
FEW, MANY = 10, 1000
LINES, ROUNDS = 2000, 5
GOALS = {50: 3.0, 99: 4.0}


def rulebook(size: int) -> Rulebook:
    """The rules that decide the commands, among as many others: of commands, files, hosts and servers."""
    patterns = [("allow", f"Bash({words}:*)") for words in ALLOWED]
    for n in range(size - len(patterns)):
        program = PROGRAMS[n % len(PROGRAMS)]
        patterns.append(
            (
                ("allow", f"Bash({program} sub{n}:*)"),
                ("deny", f"Bash({program}{n} push:*)"),
                ("ask", f"Edit(src/part{n}/**)"),
                ("allow", f"Read(//srv/data{n}/**)"),
                ("allow", f"WebFetch(domain:host{n}.example.org)"),
                ("deny", f"mcp__server{n}__*"),
            )[n % 6]
        )
    return Rulebook.of(
        Rule(rule_id=f"r{n}", effect=effect, pattern=pattern, scope="user", created_at=0.0, created_by="bench")
        for n, (effect, pattern) in enumerate(patterns)
    )


def subject(text: str) -> ToolUse:
    return ToolUse(
        tool_name="Bash",
        tool_input={"command": text},
        session_id="s",
        cwd="/home/dev/project",
        home="/home/dev",
        quarterdeck_home="/home/dev/.local/share/quarterdeck",
    )


def figures() -> list[Figure]:
    texts = lines(LINES)
    subjects = [subject(text) for text in texts]
    parser = Parser(Language(tree_sitter_bash.language()))
    few, many = rulebook(FEW), rulebook(MANY)
    assert all(book.verdict(one, 0.0).effect == "allow" for book in (few, many) for one in subjects)
    gc.collect()
    gc.freeze()
    candidates: dict[str, list[Callable[[], object]]] = {
        "parse": [partial(parser.parse, text.encode()) for text in texts],
        "few": [partial(few.verdict, one, 0.0) for one in subjects],
        "parse again": [partial(parser.parse, text.encode()) for text in texts],
        "many": [partial(many.verdict, one, 0.0) for one in subjects],
    }
    taken = ratios(candidates, "parse", tuple(GOALS), ROUNDS)
    made = []
    for percent, goal in GOALS.items():
        ratio = taken["many", percent][0]
        made.append(
            Figure(
                name=f"verdict over {MANY:,} rules, p{percent}",
                value=round(ratio, 2),
                unit="×",
                against=f"the bare parse, {taken['parse', percent][1] * 1e6:.0f} µs; {load()}",
                goal=f"≤ {goal:g}",
                ok=ratio <= goal,
            )
        )
    flat = taken["many", 50][1] / taken["few", 50][1]
    made.append(
        Figure(
            name=f"verdict from {FEW} to {MANY:,} rules",
            value=round(flat, 3),
            unit="×",
            against=f"itself at {FEW}, {taken['few', 50][1] * 1e6:.0f} µs",
            goal="≤ 1.2",
            ok=flat <= 1.2,
        )
    )
    return made


if __name__ == "__main__":
    main(figures)
