"""The part of the shell's language that can be read with certainty: simple commands, their words and what joins them.

A second reader beside tree-sitter, written for refusing: what it does not know by heart it does not read. Only a text
on which both readers agree, word for word, is clear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from quarterdeck.core.shell.calls import Stretches
from quarterdeck.core.shell.programs import KNOWN_NAMES, RESERVED

# A value of one of these names holds no secret; only `echo` may show it, since elsewhere a value can hide an option.
_NAMES = "|".join(sorted(KNOWN_NAMES, key=len, reverse=True))
_VALUE = rf"\$(?:\?|(?:{_NAMES})(?![A-Za-z0-9_])|\{{(?:{_NAMES}|\?)\}})"
# Braces without a comma or dots are not expanded (`stash@{0}`, `{}`); before < or > they would name a descriptor.
_BRACES = r"\{[A-Za-z0-9_+-]*+\}(?![<>])"
_SINGLE = r"'[^']*+'"
_DOUBLE = rf'"(?:[^"$`\\]++|\\[^\n]|{_VALUE})*+\$?"'
_PLAIN = r"[A-Za-z0-9_@%+:,./^=~*?\[\]!#\x80-\xff-]++"
# A tilde is only known as the home folder: `~name`, `~+` and `~-` are values.
_START = r"(?![#]|~(?![/ \t\n;|&()<>]|\Z))"
_WORD = rf"{_START}(?:{_PLAIN}|{_SINGLE}|{_DOUBLE}|\\[ -~]|{_BRACES}|{_VALUE})++"
_END = r"(?=[ \t\n;|&()<>]|\Z)"
_STOP = r"(?=[ \t\n;|&()]|\Z)"
_LETTERS = r"[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./=-]*+"
_BARE = rf"{_LETTERS}{_STOP}"
_JOIN = r"&&|\|\||\|&|[|;]|&(?![>&])"
_TOKEN = re.compile(
    rf"[ \t]*+(?:"
    rf"({_BARE}(?: {_BARE})*+)(?:[ \t]*+({_JOIN}))?+"  # 1: words that are nothing but themselves, one blank apart; 2
    rf"|({_JOIN})"  # 2, 3: what joins two commands
    rf"|(\d?>&\d{_END}|(?:[0-9]?>>?|&>>?)[ \t]*+/dev/null{_END})"  # 4: to another descriptor, or to nowhere
    rf"|0?<(?![<&>(])[ \t]*+({_WORD})"  # 5: from a file
    rf"|([{{}}]){_END}"  # 6: a group's brace
    rf"|(?!\d+[<>])({_WORD})"  # 7: any other word
    rf"|(\n)"  # 8
    rf"|(\((?!\()|\))"  # 9: a subshell's brackets
    rf"|(\#[^\n]*+)"  # 10: a comment
    rf"|([^ \t])"  # 11: what is not read
    rf")"
)
_ONE_QUOTED = re.compile(rf"((?:{_LETTERS})?)(?:'([^']*+)'|\"([^\"$`\\]*+)\")")
_QUOTES = re.compile(r"['\"\\]")
_SPECIAL = re.compile(r"['\"\\*?\[$]")
_NOT_IN_NAMES = re.compile(r"[=$*?\[]|\A~|\A(?:''|\"\")*\Z")  # assignments, values, patterns, no name at all
_DEVICES = ("/dev/", "~", "-")  # bash itself connects to /dev/tcp/…
_PIECES = re.compile(rf"{_SINGLE}|({_DOUBLE})|\\.|({_VALUE})|.", re.DOTALL)
_ANY_VALUE = re.compile(rf"\\.|({_VALUE})", re.DOTALL)
_GLOBS = re.compile(r"[*?\[]")
_PARTS = re.compile(r"'([^']*+)'|\"((?:[^\"\\]++|\\.)*+)\"|\\(.)|([^'\"\\]++)|(.)", re.DOTALL)
_DOUBLE_ESCAPE = re.compile(r'\\(["\\$`])')


def _has_value(word: str) -> bool:
    """Whether a variable's value would be put into the word."""
    for piece in _PIECES.finditer(word):
        inner = piece.group(1)
        if piece.group(2) or (inner and any(found.group(1) for found in _ANY_VALUE.finditer(inner))):
            return True
    return False


_ENDS = frozenset((";", "&"))
_PIPES = frozenset(("|", "|&"))


class Simple(Struct):
    """One simple command: its words, where they stand, and whether it reads what the one before it writes. Bare as long
    as its words are nothing but themselves, one blank apart."""

    piped: bool
    words: list[str]
    start: int
    end: int  # of the last word
    spread: list[int] | None = None  # begin and end of each word; None while it is bare
    redirected: int = 0  # where its last redirection ends
    globs: bool = False  # a file name pattern may become an option
    values: bool = False  # a variable's value is among the words
    reads: tuple[str, ...] = ()  # files that are its input

    def add(self, words: list[str], places: list[int]) -> None:
        if self.spread is None:
            self.spread = places_of(self.words, self.start)
        self.spread += places
        self.words += words
        self.end = places[-1]


def places_of(words: Sequence[str | bytes], start: int) -> list[int]:
    """Begin and end of each word, when they stand one blank apart."""
    places: list[int] = []
    for word in words:
        places.append(start)
        start += len(word)
        places.append(start)
        start += 1
    return places


def unquote(word: str) -> tuple[str, str]:
    """The word after quote removal, and the part of it that stands outside all quotes."""
    if not _QUOTES.search(word):
        return word, word
    said: list[str] = []
    bare: list[str] = []
    for part in _PARTS.finditer(word):
        kind = part.lastindex or 0
        text = part[kind]
        if kind == 2 and "\\" in text:
            text = _DOUBLE_ESCAPE.sub(r"\1", text)
        said.append(text)
        if kind > 3:
            bare.append(text)
    return "".join(said), "".join(bare)


class _Reader:
    """Goes through the tokens once and stops at the first that does not fit."""

    def __init__(self) -> None:
        self.commands: list[Simple] = []
        self.command: Simple | None = None
        self.groups: list[str] = []
        self.empty = False  # a group has been opened and holds nothing yet
        self.closed = False  # a group has ended: only what joins or redirects may follow
        self.joined = False  # a joining operator waits for its command
        self.piped = False
        self.negated = False

    def read(self, text: str) -> bool:
        # Most of a text is bare words and what joins them; these are read here, without a call for each.
        for found in _TOKEN.finditer(text):
            kind = found.lastindex or 0
            if kind > 3:
                if not self._takes(kind, found):
                    return False
                continue
            if kind < 3:
                words = found[1].split(" ")
                if self.command is not None:
                    self.command.add(words, places_of(words, found.start(1)))
                elif self.closed or words[0] in RESERVED or "=" in words[0]:
                    return False
                else:
                    self._start(words, *found.span(1))
            if kind > 1:
                if self.command is None and not self.closed:
                    return False
                operator = found[kind]
                self.command = None
                self.closed = False
                self.joined = operator not in _ENDS
                self.piped = operator in _PIPES
        self._end_command()
        return not (self.groups or self.joined or self.negated)

    def _start(self, words: list[str], start: int, end: int) -> Simple:
        command = self.command = Simple(self.piped, words, start, end)
        self.commands.append(command)
        self.joined = self.negated = self.piped = self.empty = False
        return command

    def _takes(self, kind: int, found: re.Match[str]) -> bool:
        if kind == 7:
            return self._word(found[7], *found.span(7))
        if kind == 8:
            return self._newline()
        if kind == 4:
            return self._redirect(found.end())
        if kind == 5:
            return self._input(found[5], found.end())
        return kind == 10 or (kind != 11 and self._bracket(found[kind]))

    def _word(self, raw: str, start: int, end: int) -> bool:
        command = self.command
        if command is None:
            if raw == "!":
                return self._negate()
            if self.closed or raw in RESERVED or _NOT_IN_NAMES.search(raw):
                return False
            command = self._start([], start, end)
        if "=~" in raw or ":~" in raw:
            return False  # bash puts the home folder into what looks like an assignment, even in an argument
        if quoted := _ONE_QUOTED.fullmatch(raw):
            word = quoted[1] + quoted[quoted.lastindex or 0]
        elif _SPECIAL.search(raw):
            word, bare = unquote(raw)
            command.globs = command.globs or (word[:1] in "-*?[" and _GLOBS.search(bare) is not None)
            command.values = command.values or ("$" in raw and _has_value(raw))
        else:
            word = raw
        command.add([word], [start, end])
        return True

    def _negate(self) -> bool:
        fits = not (self.negated or self.piped or self.closed)
        self.negated = True
        return fits

    def _end_command(self) -> bool:
        """Whether a command or a group stands here, so that it can be joined to another."""
        fits = self.closed or self.command is not None
        self.command = None
        self.closed = False
        return fits

    def _newline(self) -> bool:
        self._end_command()
        return not self.negated

    def _redirect(self, end: int) -> bool:
        if self.command is not None:
            self.command.redirected = end
        return self.command is not None or self.closed

    def _input(self, target: str, end: int) -> bool:
        word, bare = unquote(target)
        if self.command is None or "$" in target or _GLOBS.search(bare) or word.startswith(_DEVICES):
            return False
        self.command.piped = False
        self.command.reads += (word,)
        self.command.redirected = end
        return True

    def _bracket(self, bracket: str) -> bool:
        if bracket in "({":
            if self.command is not None or self.closed:
                return False
            self.groups.append(")" if bracket == "(" else "}")
            self.joined = self.negated = False
            self.empty = True
            return True
        if self.joined or self.negated or self.empty or not self.groups or self.groups[-1] != bracket:
            return False
        if bracket == "}" and self.command is not None:
            return False
        self._end_command()
        self.groups.pop()
        self.closed = True
        return True


def read_plain(text: str) -> list[Simple] | None:
    """The simple commands of a text in order; None when any of it is beyond this reader."""
    reader = _Reader()
    return reader.commands if reader.read(text) else None


def stretches_of(commands: Iterable[Simple]) -> Stretches:
    """Where the commands stand."""
    return {one.start: (one.end, len(one.words), one.spread) for one in commands}
