"""The command table, compiled; and the words of a call as its rows read them."""

from __future__ import annotations

import fnmatch
import posixpath as paths
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from msgspec import Struct

from quarterdeck.core.risk import command_table as table
from quarterdeck.core.risk.file_risk import RiskReason
from quarterdeck.core.shell.script import Call
from quarterdeck.core.text.amounts import cut

_OPTION_CLUSTER = re.compile(r"-[A-Za-z0-9]+")
_VERSION = re.compile(r"^(python|pip|perl|ruby|php|node)[\d.]+$")


class CommandRow(Struct, frozen=True):
    """A compiled row of the table. `matchers`: a word must match one of them, if there are any."""

    level: str
    subcommands: frozenset[str]
    matchers: tuple[Callable[[str], bool], ...]
    reason: str


def word_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a test for a word that a row names: an option, also within `-xzf` or before `=`, a word, or a glob."""
    if any(sign in pattern for sign in "*?["):
        glob = re.compile(fnmatch.translate(pattern))
        return lambda word: glob.match(word) is not None
    if len(pattern) == 2 and pattern[0] == "-" and pattern != "--":
        return lambda word: _OPTION_CLUSTER.fullmatch(word) is not None and pattern[1] in word
    if pattern.startswith("--") and "=" not in pattern:
        return lambda word: word == pattern or word.startswith(pattern + "=")
    return lambda word: word == pattern


def _read_rows() -> dict[str, list[CommandRow]]:
    """Read the table into rows by command."""
    rows: dict[str, list[CommandRow]] = {}
    unfolded = re.sub(r"(\|)?\n {4}", lambda match: match.group(1) or " ", table.ROWS)
    for line in unfolded.strip().split("\n"):
        if line.startswith("#"):
            continue
        head, patterns, reason = (part.strip() for part in line.split("·"))
        level, names, *rest = head.split()
        subcommands = frozenset(rest[0].split("|")) if rest else frozenset()
        row = CommandRow(level, subcommands, tuple(word_matcher(pattern) for pattern in patterns.split()), reason)
        for name in names.split("|"):
            rows.setdefault(name, []).append(row)
    return rows


_ROWS = _read_rows()
_VALUE_OPTIONS = {name: frozenset(options.split()) for name, options in table.VALUE_OPTIONS.items()}


def name_of(call: Call) -> str:
    """The name of the command a call runs, without its folder and version."""
    return _name(call.words[0]) if call.words else ""


# Every rule of risk asks for the name of the same call.
@lru_cache(maxsize=1024)
def _name(word: str) -> str:
    name = paths.basename(word)
    return name if name in table.INTERPRETERS else _VERSION.sub(r"\1", name)


def plain_words(call: Call) -> list[str]:
    """The words that are neither options nor values of options before the subcommand."""
    value_options = _VALUE_OPTIONS.get(name_of(call), frozenset())
    plain: list[str] = []
    skip = False
    for word in call.words[1:]:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-" and not plain:
            skip = word in value_options
        elif not word.startswith("-") or word == "-":
            plain.append(word)
    return plain


def table_reasons(call: Call, name: str) -> Iterator[RiskReason]:
    """Yield the reason of the first row that matches; nothing if none does."""
    plain = plain_words(call)
    for row in _ROWS.get(name, ()):
        if row.subcommands and (not plain or plain[0] not in row.subcommands):
            continue
        match = next((word for word in call.words[1:] if any(matches(word) for matches in row.matchers)), "")
        if row.matchers and not match:
            continue
        sub = plain[:1] if row.subcommands and plain[0] != match else []
        subject = " ".join(filter(None, [name, *sub, match]))
        yield RiskReason(row.level, f"{row.reason} ({cut(subject, 60)})")
        return
