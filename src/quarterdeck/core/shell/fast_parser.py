"""The plainest lines, read at one go: mere letters and whole quotes, one blank apart, and what joins such commands.

Of such a line it says what `read_plain` says, and of any other nothing. Most lines are of this kind. What it says
counts only if the tree says the same, which for such a line shows at few of its nodes.
"""

from __future__ import annotations

import re

from msgspec import Struct
from tree_sitter import Node

from quarterdeck.core.shell.calls import Call
from quarterdeck.core.shell.programs import RESERVED
from quarterdeck.core.shell.tree_parser import BASH, COMMAND, INNER, NUMBER, ROLES, SOLID
from quarterdeck.core.shell.wrappers import MEANT, ONLY_WITH

_NAME = r"[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./-]*+"
_LETTERS = r"[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./=-]*+"
# Of what can be printed, without what ends the quote, and without a tilde or backtick, which want a closer look.
_SINGLE = r"'[ -&(-_a-}]*+'"
_DOUBLE = r'"[ !#%-\[\]-_a-}]*+"'  # and without values and backslashes
_WORD = rf"(?:{_LETTERS}(?:{_SINGLE}|{_DOUBLE})?+|{_SINGLE}|{_DOUBLE})(?!>)"  # `2>&1` is none
_NOWHERE = r" (?:[0-9]?>&[0-9]|(?:[0-9]?>>?|&>>?) ?/dev/null)"
# Nothing is given back: what ends neither at a blank nor at what joins, as `>&12` or `/dev/nullx`, is not read.
_COMMAND = re.compile(
    rf"({_NAME}(?: {_WORD})*+)"  # the words
    rf"((?:{_NOWHERE})*+)"  # redirections to another descriptor, or to nowhere
    rf"( *+(?:&&|\|\||\|&|[|;]|&(?![>&])|\Z) *+)"  # what joins it to the next
    rf"|(.++)",  # what is not read, with all that follows: no second look at it
    re.DOTALL,
)
_QUOTED_WORD = re.compile(r" ([^ '\"]*+(?:'[^']*+'|\"[^\"]*+\"))")
# What joins a command to the next: how many letters it has, and whether it is a pipe.
_JOINS = {join: (len(join), join in ("|", "|&")) for join in ("&&", "||", "|&", "|", ";", "&", "")}
_JOINS |= {before + join + " ": known for join, known in _JOINS.items() for before in ("", " ")}  # as most write it
_ENDS = frozenset((";", "&", ""))
_SPECIAL = RESERVED | MEANT
_SIZES = bytes(len(name) if (name := BASH.node_kind_for_id(at)) in _JOINS else 0 for at in range(BASH.node_kind_count))

Stretch = tuple[int, int, int]
"""Where a command ends, how many words it has, and how many nodes the tree has for them beside one for each."""

_ELSEWHERE: Stretch = (-1, 0, 0)


class Quick(Struct, gc=False):
    """The commands of a line, where they stand by their begin, and how many letters stand outside of them."""

    calls: list[Call]
    stretches: dict[int, Stretch]
    outside: int
    alone: bool  # none of the commands runs another or changes the shell


def read_quick(text: str) -> Quick | None:
    """The commands of a line; None when any of it is not of the plainest."""
    found = _COMMAND.findall(text)
    if not found or found[-1][3] or "@P" in text:  # only the last can be what is not read
        return None
    calls: list[Call] = []
    stretches: dict[int, Stretch] = {}
    piped, alone = False, True
    start = outside = 0
    for run, redirected, after, _ in found:
        end = start + len(run)
        if "'" in run or '"' in run:
            words, more = _quoted(run)
            stretches[start] = (end, len(words), more)
        else:
            words = tuple(run.split(" "))
            stretches[start] = (end, len(words), 0)
        name = words[0]
        if name in _SPECIAL or "/" in name:
            if name in RESERVED:
                return None
            only = ONLY_WITH.get(name)
            alone = alone and only is not None and only.isdisjoint(words)
        if redirected:
            run += redirected
            end += len(redirected)
            outside += len(redirected.replace(" ", ""))
        calls.append(Call(words, run, piped))
        start = end + len(after)
        size, piped = _JOINS.get(after) or _JOINS[after.strip()]
        outside += size
    return Quick(calls, stretches, outside, alone) if after.strip() in _ENDS else None


def _quoted(run: str) -> tuple[tuple[str, ...], int]:
    """The words of a command with quotes, and how many nodes the tree has beside one for each."""
    parts = _QUOTED_WORD.split(run)
    words = parts[0].split(" ")
    more = 0
    for at in range(1, len(parts), 2):
        word = parts[at]
        quote = word[-1]
        if quote == '"':
            more += 3 if word[-2] != quote else 2  # the quotes themselves, and what they hold
        if word[0] != quote:
            more += 2  # what stands before the quotes, and what both are parts of
        words.append(word.replace(quote, ""))
        words += parts[at + 1].split()
    return tuple(words), more


def is_agreed(root: Node, quick: Quick) -> bool:
    """Whether the tree of the same text holds only known kinds, covers every letter, and has the same words in the same
    places."""
    if root.has_error:
        return False
    stretches, outside, left = quick.stretches, quick.outside, len(quick.calls)
    nodes = [root]
    for node in nodes:  # which grows
        kind = node.kind_id
        if size := _SIZES[kind]:
            outside -= size
            continue
        role = ROLES[kind]
        if role == COMMAND:
            # Mere letters and whole quotes, one blank apart, cannot be cut in two ways: as many nodes in the same
            # stretch are these words, the command's own and its name's besides. To look at each takes half a parse.
            end, count, more = stretches.get(node.start_byte, _ELSEWHERE)
            if node.end_byte != end or node.descendant_count != count + more + 2:
                return False
            if more and node.child_count != count:
                return False
            left -= 1
        elif role == INNER:
            nodes += node.children
        elif role == SOLID or (role == NUMBER and not node.child_count):
            outside -= node.end_byte - node.start_byte
        else:
            return False
    return not outside and not left
