"""The plainest lines, read at one go: mere letters and whole quotes, one blank apart, and what joins such commands.

Of such a line it says what `read_plain` says, and of any other nothing. Most lines are of this kind.
"""

from __future__ import annotations

import re

from quarterdeck.core.shell_calls import Call, Stretches
from quarterdeck.core.shell_plain import places_of
from quarterdeck.core.shell_tables import RESERVED

_NAME = r"[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./-]*+"
_LETTERS = r"[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./=-]*+"
# Of what can be printed, without what ends the quote, and without a tilde or backtick, which want a closer look.
_SINGLE = r"'[ -&(-_a-}]*+'"
_DOUBLE = r'"[ !#%-\[\]-_a-}]*+"'  # and without values and backslashes
_STOP = r"(?=[ ;|&]|\Z)"
_WORD = rf"(?:{_LETTERS}(?:{_SINGLE}|{_DOUBLE})?+|{_SINGLE}|{_DOUBLE}){_STOP}"
_NOWHERE = rf" (?:[0-9]?>&[0-9]|(?:[0-9]?>>?|&>>?) ?/dev/null){_STOP}"
_COMMAND = re.compile(
    rf"({_NAME}{_STOP}(?: {_WORD})*+)"  # the words
    rf"((?:{_NOWHERE})*+)"  # redirections to another descriptor, or to nowhere
    rf"( *+(?:&&|\|\||\|&|[|;]|&(?![>&])|\Z) *+)"  # what joins it to the next
    rf"|(.++)",  # what is not read, with all that follows: no second look at it
    re.DOTALL,
)
_WORDS = re.compile(r"[^ '\"]++(?:'[^']*+'|\"[^\"]*+\")?+|'[^']*+'|\"[^\"]*+\"")
_QUOTES = frozenset("'\"")
_PIPES = frozenset(("|", "|&"))
_ENDS = frozenset((";", "&", ""))


def read_quick(text: str) -> tuple[list[Call], Stretches] | None:
    """The commands of a line, and where they stand; None when any of it is not of the plainest."""
    found = _COMMAND.findall(text)
    if not found or found[-1][3] or "@P" in text:  # only the last can be what is not read
        return None
    quoted = "'" in text or '"' in text
    calls: list[Call] = []
    stretches: Stretches = {}
    join = ";"
    start = 0
    for run, redirected, after, _ in found:
        if quoted and ("'" in run or '"' in run):
            raw = _WORDS.findall(run)
            words = tuple([word if (quote := word[-1]) not in _QUOTES else word.replace(quote, "") for word in raw])
            spread = places_of(raw, start)
        else:
            words = tuple(run.split(" "))
            spread = None
        if words[0] in RESERVED:
            return None
        end = start + len(run)
        stretches[start] = (end, len(words), spread)
        if redirected:
            run += redirected
            end += len(redirected)
        calls.append(Call(words, run, join in _PIPES))
        start = end + len(after)
        join = after.strip()
    return (calls, stretches) if join in _ENDS else None
