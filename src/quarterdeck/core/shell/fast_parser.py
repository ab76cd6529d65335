"""Reads the plainest lines with one regular expression: plain letters and whole quotes, one blank apart, and the
operators that join such commands.

For such a line, which most are, the result is that of `read_plain`; any other line is refused. The result counts only
if the tree confirms it, which takes a check of few nodes for such a line. This saves most of the time of the
other two parsers.
"""

from __future__ import annotations

import re

from msgspec import Struct
from tree_sitter import Node

from quarterdeck.core.shell.calls import Call
from quarterdeck.core.shell.tree_parser import BASH, COMMAND, INNER, NUMBER, ROLES, SOLID
from quarterdeck.core.shell.vocabulary import RESERVED
from quarterdeck.core.shell.wrappers import SPECIAL_NAMES, WRAPS_ONLY_WITH

_NAME = r"[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./-]*+"
_LETTERS = r"[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./=-]*+"
# Printable characters, without the end of the quote, and without a tilde or backtick, which the other parsers check.
_SINGLE = r"'[ -&(-_a-}]*+'"
_DOUBLE = r'"[ !#%-\[\]-_a-}]*+"'  # and without values and backslashes
_WORD = rf"(?:{_LETTERS}(?:{_SINGLE}|{_DOUBLE})?+|{_SINGLE}|{_DOUBLE})(?!>)"  # `2>&1` is none
_NULL_REDIRECT = r" (?:[0-9]?>&[0-9]|(?:[0-9]?>>?|&>>?) ?/dev/null)"
# Possessive: text that ends neither at a blank nor at an operator, such as `>&12` or `/dev/nullx`, is not read.
_COMMAND = re.compile(
    rf"({_NAME}(?: {_WORD})*+)"  # the words
    rf"((?:{_NULL_REDIRECT})*+)"  # redirections to another descriptor or to /dev/null
    rf"( *+(?:&&|\|\||\|&|[|;]|&(?![>&])|\Z) *+)"  # the operator that joins it to the next
    rf"|(.++)",  # unreadable text and everything after it, so that the search stops there
    re.DOTALL,
)
_QUOTED_WORD = re.compile(r" ([^ '\"]*+(?:'[^']*+'|\"[^\"]*+\"))")
# Operators that join a command to the next: their length, and true for a pipe.
_JOINS = {join: (len(join), join in ("|", "|&")) for join in ("&&", "||", "|&", "|", ";", "&", "")}
_JOINS |= {before + join + " ": known for join, known in _JOINS.items() for before in ("", " ")}  # as most write it
_ENDS = frozenset((";", "&", ""))
_SPECIAL = RESERVED | SPECIAL_NAMES
_SIZES = bytes(len(name) if (name := BASH.node_kind_for_id(at)) in _JOINS else 0 for at in range(BASH.node_kind_count))

CommandSpan = tuple[int, int, int]
"""The end of a command, the number of its words, and the number of tree nodes for them beyond one for each."""

_NO_SPAN: CommandSpan = (-1, 0, 0)


class FastParse(Struct, gc=False):
    """The commands of a line, their spans by start, and the number of characters outside of them."""

    calls: list[Call]
    spans: dict[int, CommandSpan]
    outside: int
    self_contained: bool  # none of the commands runs another or changes the shell


def read_fast(text: str) -> FastParse | None:
    """The commands of a line; None if any part of it is not plain. Otherwise words, places and sources are those of
    `read_plain`, and `tree_confirms` says of it what `tree_agrees` says of that."""
    matches = _COMMAND.findall(text)
    if not matches or matches[-1][3] or "@P" in text:  # only the last match can hold unreadable text
        return None
    calls: list[Call] = []
    spans: dict[int, CommandSpan] = {}
    piped, alone = False, True
    start = outside = 0
    for command, redirected, joining, _ in matches:
        end = start + len(command)
        if "'" in command or '"' in command:
            words, extra_nodes = _quoted(command)
            spans[start] = (end, len(words), extra_nodes)
        else:
            words = tuple(command.split(" "))
            spans[start] = (end, len(words), 0)
        name = words[0]
        if name in _SPECIAL or "/" in name:
            if name in RESERVED:
                return None
            needed_words = WRAPS_ONLY_WITH.get(name)
            alone = alone and needed_words is not None and needed_words.isdisjoint(words)
        if redirected:
            command += redirected
            end += len(redirected)
            outside += len(redirected.replace(" ", ""))
        calls.append(Call(words, command, piped))
        start = end + len(joining)
        size, piped = _JOINS.get(joining) or _JOINS[joining.strip()]
        outside += size
    return FastParse(calls, spans, outside, alone) if joining.strip() in _ENDS else None


def _quoted(command: str) -> tuple[tuple[str, ...], int]:
    """The words of a command with quotes, and the number of tree nodes beyond one for each."""
    parts = _QUOTED_WORD.split(command)
    words = parts[0].split(" ")
    extra_nodes = 0
    for at in range(1, len(parts), 2):
        word = parts[at]
        quote = word[-1]
        if quote == '"':
            extra_nodes += 3 if word[-2] != quote else 2  # the quotes themselves, and their content
        if word[0] != quote:
            extra_nodes += 2  # the text before the quotes, and the node that holds both
        words.append(word.replace(quote, ""))
        words += parts[at + 1].split()
    return tuple(words), extra_nodes


def tree_confirms(root: Node, fast: FastParse) -> bool:
    """True if the tree of the same text holds only known kinds, covers every character, and has the same words in the
    same places."""
    if root.has_error:
        return False
    spans, outside, left = fast.spans, fast.outside, len(fast.calls)
    nodes = [root]
    for node in nodes:  # grows meanwhile
        kind = node.kind_id
        if size := _SIZES[kind]:
            outside -= size
            continue
        role = ROLES[kind]
        if role == COMMAND:
            # Plain letters and whole quotes, one blank apart, can be split in one way only. So the same number of nodes
            # in the same span means the same words, plus one node for the command and one for its name. Visiting each
            # node would take half as long as the parse.
            end, count, extra_nodes = spans.get(node.start_byte, _NO_SPAN)
            if node.end_byte != end or node.descendant_count != count + extra_nodes + 2:
                return False
            if extra_nodes and node.child_count != count:
                return False
            left -= 1
        elif role == INNER:
            nodes += node.children
        elif role == SOLID or (role == NUMBER and not node.child_count):
            outside -= node.end_byte - node.start_byte
        else:
            return False
    return not outside and not left
