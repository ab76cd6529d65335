"""Shell lines of 200 characters as agents write them every day, no two alike, and the rules that allow them."""

from __future__ import annotations

import random
from itertools import islice

SIZE = 200
ALLOWED = ("cat", "cd", "find", "git diff", "git log", "git status", "grep", "ls", "npm run", "pytest")
"""The words that a rule allows; filters in a pipe need none."""

_PARTS = (
    "cd {folder}",
    "git log --oneline --since='{n} weeks ago' -- {folder} {file}",
    "git log --format='%h %s (%an)' -{n} {folder}",
    "git diff --stat main...feature/{word}-{n} -- {file}",
    "git status --short {folder}",
    "npm run test:unit -- --coverage --reporter=dot {file}",
    "npm run build --workspace {word}",
    "pytest -q -x -k {word} {folder}/test_{word}.py",
    "pytest {folder} --maxfail={n} -q 2>&1",
    'grep -rn "{word} {word}" {folder} --include={word}.py',
    "grep -c '{word}' {file} {file}",
    "find {folder} -name '*.{word}' -type f",
    "ls -la {folder} {folder}",
    "cat {file}",
)
_FILTERS = ("head -n {n}", "tail -{n}", "wc -l", "sort -u", "grep -v {word}", "sort -k2 | uniq -c", "cut -d: -f{n}")
_JOINS = (" && ", " && ", " && ", "; ", " || ")
_WORDS = (
    "session",
    "router",
    "login",
    "cache",
    "model",
    "worker",
    "token",
    "parser",
    "queue",
    "ledger",
    "report",
    "mailer",
)


def lines(count: int, seed: int = 1) -> list[str]:
    """As many lines, each once."""
    drawn = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found[_line(drawn)] = None
    return list(islice(found, count))


def _line(drawn: random.Random) -> str:
    """Commands until the line is nearly long enough, and a last one that fills it."""
    line = more = _command(drawn)
    while len(more) < SIZE - 20:
        line = more
        more += drawn.choice(_JOINS) + _command(drawn)
    line += " && cat "
    return line + _path(drawn, SIZE - len(line))


def _command(drawn: random.Random) -> str:
    piped = drawn.choice(_FILTERS) if drawn.random() < 0.4 else ""
    return _filled(drawn, f"{drawn.choice(_PARTS)} | {piped}" if piped else drawn.choice(_PARTS))


def _filled(drawn: random.Random, text: str) -> str:
    while "{" in text:
        name = text.partition("{")[2].partition("}")[0]
        value = {
            "n": str(drawn.randint(2, 60)),
            "word": drawn.choice(_WORDS),
            "folder": f"src/{drawn.choice(_WORDS)}/{drawn.choice(_WORDS)}",
            "file": f"src/{drawn.choice(_WORDS)}/{drawn.choice(_WORDS)}.{drawn.choice(('py', 'ts'))}",
        }[name]
        text = text.replace(f"{{{name}}}", value, 1)
    return text


def _path(drawn: random.Random, size: int) -> str:
    """A path of this many characters."""
    path = "/".join(drawn.choices(_WORDS, k=size))
    return path[:size].rstrip("/").ljust(size, "x")
