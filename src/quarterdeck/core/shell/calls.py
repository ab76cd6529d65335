"""What a shell text comes to: the calls in it, and why it may not be covered by an allow rule."""

from __future__ import annotations

from msgspec import Struct

Stretches = dict[int, tuple[int, int, list[int] | None]]
"""Where simple commands stand. By the begin of the first word: the end of the last, how many words there are, and begin
and end of each; None instead for bare words, which are nothing but themselves, one blank apart."""


class Call(Struct, frozen=True, gc=False):
    """One program or builtin that the shell would start."""

    words: tuple[str, ...]  # name and arguments after quote removal
    source: str  # as written
    piped: bool = False  # reads the output of the call before it
    via: str = ""  # what runs it, in words; empty for a call of the line itself
    outer: tuple[str, ...] = ()  # the words of the wrapper in front of these words, when these follow in its own words
    unseen: bool = False  # gets more arguments, which nobody can see here


class Script(Struct, frozen=True, gc=False):
    """Everything a text would run, as far as it can be seen."""

    calls: tuple[Call, ...] = ()  # however nested; what deny, ask and risk look at
    doubts: tuple[str, ...] = ()  # why no allow rule may cover the text; empty means clear
    writes: tuple[str, ...] = ()  # targets of write redirections other than /dev/null
    reads: tuple[str, ...] = ()  # files that are read by a redirection
