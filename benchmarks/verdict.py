"""A verdict over 10 and 1,000 rules, with the parse of its command, against the bare parse."""

from __future__ import annotations

import gc

import tree_sitter_bash
from tree_sitter import Language, Parser

from benchmarks.common import Figure, interleave, main, percentile
from quarterdeck.core.rules import Rule, Rulebook, Subject

COMMAND = (
    "cd services/api && git log --oneline --since='2 weeks ago' -- src/routes src/models | head -40"
    " && npm run test:unit -- --coverage --reporter=dot src/routes/session.test.ts | tail -25 && git status --short ."
)
PROGRAMS = ("git", "npm", "cargo", "docker", "kubectl", "make", "pip", "go", "gh", "aws")
FEW, MANY = 10, 1000
ROUNDS = 6000


def rulebook(size: int) -> Rulebook:
    """The rules that decide the command, among as many others: of commands, files, hosts and servers."""
    patterns = [("allow", f"Bash({words}:*)") for words in ("cd", "git log", "npm run test:unit", "git status")]
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


def timed() -> dict[str, list[float]]:
    """Seconds of each call: the bare parse, and the verdict over few and over many rules, in turn."""
    subject = Subject(
        tool_name="Bash",
        tool_input={"command": COMMAND},
        session_id="s",
        cwd="/home/dev/project",
        home="/home/dev",
        our_home="/home/dev/.local/share/quarterdeck",
    )
    parser, data = Parser(Language(tree_sitter_bash.language())), COMMAND.encode()
    few, many = rulebook(FEW), rulebook(MANY)
    assert len(COMMAND) >= 200
    assert many.verdict(subject, 0.0).effect == few.verdict(subject, 0.0).effect == "allow"
    return interleave(
        {
            "parse": lambda: _drop(parser.parse(data)),
            "few": lambda: _drop(few.verdict(subject, 0.0)),
            "many": lambda: _drop(many.verdict(subject, 0.0)),
        },
        ROUNDS,
    )


def _drop(_: object) -> None:
    """What was made is thrown away."""


def figures() -> list[Figure]:
    gc.collect()
    gc.freeze()
    taken = timed()
    half = {name: percentile(values, 50) for name, values in taken.items()}
    most = {name: percentile(values, 99) for name, values in taken.items()}
    made = []
    for name, at, goal in (("p50", half, 3.0), ("p99", most, 4.0)):
        ratio = at["many"] / at["parse"]
        against = f"the bare parse, {at['parse'] * 1e6:.0f} µs"
        figure = f"verdict over {MANY:,} rules, {name}"
        made.append(
            Figure(name=figure, value=round(ratio, 2), unit="×", against=against, goal=f"≤ {goal:g}", ok=ratio <= goal)
        )
    flat = half["many"] / half["few"]
    made.append(
        Figure(
            name=f"verdict from {FEW} to {MANY:,} rules",
            value=round(flat, 3),
            unit="×",
            against=f"itself at {FEW}, {half['few'] * 1e6:.0f} µs",
            goal="≤ 1.2",
            ok=flat <= 1.2,
        )
    )
    return made


if __name__ == "__main__":
    main(figures)
