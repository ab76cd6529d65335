"""The plainest lines, read at one go: mere letters and whole quotes, one blank apart, and what joins such commands.

Of such a line it says what `read_plain` says, and of any other nothing. Most lines are of this kind.
"""

from __future__ import annotations

import re

from quarterdeck.core.shell_calls import Call, Stretches
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
_PIPES = frozenset(("|", "|&"))
_ENDS = frozenset((";", "&", ""))


def read_quick(text: str) -> tuple[list[Call], Stretches] | None:
    """The commands of a line, and where they stand; None when any of it is not of the plainest."""
    calls: list[Call] = []
    stretches: Stretches = {}
    join = ";"
    start = 0
    for run, redirected, after, unread in _COMMAND.findall(text):
        if unread:
            return None
        end = start + len(run)
        if "'" in run or '"' in run:
            words, spread = _quoted(run, start)
        else:
            words, spread = run.split(" "), None
        if words[0] in RESERVED:
            return None
        calls.append(Call(tuple(words), run + redirected, join in _PIPES))
        stretches[start] = (end, len(words), spread)
        start = end + len(redirected) + len(after)
        join = after.strip()
    return (calls, stretches) if calls and join in _ENDS and "@P" not in text else None


def _quoted(run: str, start: int) -> tuple[list[str], list[int] | None]:
    """The words without their quotes, and where each begins and ends."""
    words: list[str] = []
    spread: list[int] = []
    for word in _WORDS.findall(run):
        spread.append(start)
        start += len(word)
        spread.append(start)
        start += 1
        quote = word[-1]
        words.append(word.replace(quote, "") if quote == "'" or quote == '"' else word)
    return words, spread
