"""The result of reading a shell text: its calls, and the doubts that keep allow rules from covering it."""

from __future__ import annotations

from msgspec import Struct

CommandSpans = dict[int, tuple[int, int, list[int] | None]]
"""Positions of simple commands. By the start of the first word: the end of the last, the number of words, and start and
end of each. None in place of the list for bare words: plain text without quotes, one blank apart."""


class Call(Struct, frozen=True, gc=False):
    """One program or builtin that the shell would start."""

    words: tuple[str, ...]  # name and arguments after quote removal
    source: str  # as written
    piped: bool = False  # reads the output of the call before it
    via: str = ""  # the program or construct that runs it; empty for a call of the line itself
    outer: tuple[str, ...] = ()  # the words of the wrapper before these, if these are among the wrapper's own words
    unseen: bool = False  # gets more arguments that are not visible here


class Script(Struct, frozen=True, gc=False):
    """Everything a text would run, as far as it is visible."""

    calls: tuple[Call, ...] = ()  # however deeply nested; deny rules, ask rules and risk check them all
    doubts: tuple[str, ...] = ()  # reasons why no allow rule may cover the text; empty means clear
    writes: tuple[str, ...] = ()  # targets of write redirections other than /dev/null
    reads: tuple[str, ...] = ()  # files that are read by a redirection
