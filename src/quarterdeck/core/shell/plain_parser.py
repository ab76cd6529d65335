"""Reads the part of the shell language that is certain: simple commands, their words, and the operators between them.

A second parser beside tree-sitter, built to refuse: it reads nothing that it does not know exactly. Only a text on
which both parsers agree, word for word, is clear. Tree-sitter alone is not enough, because it reads some texts
differently from bash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from quarterdeck.core.shell.calls import CommandSpans
from quarterdeck.core.shell.vocabulary import PUBLIC_VARIABLES, RESERVED

# The values of these variables hold no secret. Only `echo` may use them, since elsewhere a value can hide an option.
_NAMES = "|".join(sorted(PUBLIC_VARIABLES, key=len, reverse=True))
_VALUE = rf"\$(?:\?|(?:{_NAMES})(?![A-Za-z0-9_])|\{{(?:{_NAMES}|\?)\}})"
# The shell does not expand braces without a comma or dots (`stash@{0}`, `{}`). Before < or > they name a descriptor.
_BRACES = r"\{[A-Za-z0-9_+-]*+\}(?![<>])"
_SINGLE = r"'[^']*+'"
_DOUBLE = rf'"(?:[^"$`\\]++|\\[^\n]|{_VALUE})*+\$?"'
_PLAIN = r"[A-Za-z0-9_@%+:,./^=~*?\[\]!#\x80-\xff-]++"
# A tilde is read as the home folder only: `~name`, `~+` and `~-` have other values.
_START = r"(?![#]|~(?![/ \t\n;|&()<>]|\Z))"
_WORD = rf"{_START}(?:{_PLAIN}|{_SINGLE}|{_DOUBLE}|\\[ -~]|{_BRACES}|{_VALUE})++"
_END = r"(?=[ \t\n;|&()<>]|\Z)"
_STOP = r"(?=[ \t\n;|&()]|\Z)"
_LETTERS = r"[A-Za-z0-9_./-][A-Za-z0-9_@%+:,./=-]*+"
_BARE = rf"{_LETTERS}{_STOP}"
_JOIN = r"&&|\|\||\|&|[|;]|&(?![>&])"
_TOKEN = re.compile(
    rf"[ \t]*+(?:"
    rf"({_BARE}(?: {_BARE})*+)(?:[ \t]*+({_JOIN}))?+"  # 1: plain words, one blank apart; 2: operator
    rf"|({_JOIN})"  # 3: an operator that joins two commands
    rf"|(\d?>&\d{_END}|(?:[0-9]?>>?|&>>?)[ \t]*+/dev/null{_END})"  # 4: redirection to a descriptor or to /dev/null
    rf"|0?<(?![<&>(])[ \t]*+({_WORD})"  # 5: redirection from a file
    rf"|([{{}}]){_END}"  # 6: a group's brace
    rf"|(?!\d+[<>])({_WORD})"  # 7: any other word
    rf"|(\n)"  # 8: a newline
    rf"|(\((?!\()|\))"  # 9: a subshell's brackets
    rf"|(\#[^\n]*+)"  # 10: a comment
    rf"|([^ \t])"  # 11: anything else, which is refused
    rf")"
)
_ONE_QUOTED = re.compile(rf"((?:{_LETTERS})?)(?:'([^']*+)'|\"([^\"$`\\]*+)\")")
_QUOTES = re.compile(r"['\"\\]")
_SPECIAL = re.compile(r"['\"\\*?\[$]")
_NOT_A_NAME = re.compile(r"[=$*?\[]|\A~|\A(?:''|\"\")*\Z")  # assignments, values, patterns, no name at all
_DEVICES = ("/dev/", "~", "-")  # bash itself connects to /dev/tcp/…
_PIECES = re.compile(rf"{_SINGLE}|({_DOUBLE})|\\.|({_VALUE})|.", re.DOTALL)
_ANY_VALUE = re.compile(rf"\\.|({_VALUE})", re.DOTALL)
_GLOBS = re.compile(r"[*?\[]")
_PARTS = re.compile(r"'([^']*+)'|\"((?:[^\"\\]++|\\.)*+)\"|\\(.)|([^'\"\\]++)|(.)", re.DOTALL)
_DOUBLE_ESCAPE = re.compile(r'\\(["\\$`])')


def _has_value(word: str) -> bool:
    """True if the shell puts a variable's value into the word."""
    for piece in _PIECES.finditer(word):
        inner = piece.group(1)
        if piece.group(2) or (inner and any(match.group(1) for match in _ANY_VALUE.finditer(inner))):
            return True
    return False


_ENDS = frozenset((";", "&"))
_PIPES = frozenset(("|", "|&"))


class SimpleCommand(Struct):
    """One simple command: its words, their positions, and whether it reads the output of the one before. It is bare as
    long as its words are plain text, one blank apart: then the positions follow from the words."""

    piped: bool
    words: list[str]
    start: int
    end: int  # of the last word
    positions: list[int] | None = None  # start and end of each word; None while it is bare
    redirected: int = 0  # end of its last redirection
    may_expand_to_option: bool = False  # a file name pattern may become an option
    has_values: bool = False  # a variable's value is among the words
    reads: tuple[str, ...] = ()  # files redirected to its input

    def add(self, words: list[str], positions: list[int]) -> None:
        if self.positions is None:
            self.positions = word_positions(self.words, self.start)
        self.positions += positions
        self.words += words
        self.end = positions[-1]


def word_positions(words: Sequence[str | bytes], start: int) -> list[int]:
    """Start and end of each word, for words one blank apart."""
    positions: list[int] = []
    for word in words:
        positions.append(start)
        start += len(word)
        positions.append(start)
        start += 1
    return positions


def unquote(word: str) -> tuple[str, str]:
    """The word after quote removal, and the part of it outside all quotes."""
    if not _QUOTES.search(word):
        return word, word
    parts: list[str] = []
    bare: list[str] = []
    for part in _PARTS.finditer(word):
        kind = part.lastindex or 0
        text = part[kind]
        if kind == 2 and "\\" in text:
            text = _DOUBLE_ESCAPE.sub(r"\1", text)
        parts.append(text)
        if kind > 3:
            bare.append(text)
    return "".join(parts), "".join(bare)


class _PlainParser:
    """Reads the tokens once and stops at the first that is not allowed there."""

    def __init__(self) -> None:
        self.commands: list[SimpleCommand] = []
        self.command: SimpleCommand | None = None
        self.groups: list[str] = []
        self.empty = False  # a group was opened and is still empty
        self.closed = False  # a group has ended: only an operator or a redirection may follow
        self.joined = False  # a joining operator waits for its command
        self.piped = False
        self.negated = False

    def read(self, text: str) -> bool:
        # Most of a text is bare words and operators. These are read here, which saves a call for each.
        for match in _TOKEN.finditer(text):
            kind = match.lastindex or 0
            if kind > 3:
                if not self._accepts(kind, match):
                    return False
                continue
            if kind < 3:
                words = match[1].split(" ")
                if self.command is not None:
                    self.command.add(words, word_positions(words, match.start(1)))
                elif self.closed or words[0] in RESERVED or "=" in words[0]:
                    return False
                else:
                    self._start(words, *match.span(1))
            if kind > 1:
                if self.command is None and not self.closed:
                    return False
                operator = match[kind]
                self.command = None
                self.closed = False
                self.joined = operator not in _ENDS
                self.piped = operator in _PIPES
        self._end_command()
        return not (self.groups or self.joined or self.negated)

    def _start(self, words: list[str], start: int, end: int) -> SimpleCommand:
        command = self.command = SimpleCommand(self.piped, words, start, end)
        self.commands.append(command)
        self.joined = self.negated = self.piped = self.empty = False
        return command

    def _accepts(self, kind: int, match: re.Match[str]) -> bool:
        if kind == 7:
            return self._word(match[7], *match.span(7))
        if kind == 8:
            return self._newline()
        if kind == 4:
            return self._redirect(match.end())
        if kind == 5:
            return self._input(match[5], match.end())
        return kind == 10 or (kind != 11 and self._bracket(match[kind]))

    def _word(self, raw: str, start: int, end: int) -> bool:
        command = self.command
        if command is None:
            if raw == "!":
                return self._negate()
            if self.closed or raw in RESERVED or _NOT_A_NAME.search(raw):
                return False
            command = self._start([], start, end)
        if "=~" in raw or ":~" in raw:
            return False  # bash expands a tilde in anything that looks like an assignment, even in an argument
        if quoted := _ONE_QUOTED.fullmatch(raw):
            word = quoted[1] + quoted[quoted.lastindex or 0]
        elif _SPECIAL.search(raw):
            word, bare = unquote(raw)
            command.may_expand_to_option = command.may_expand_to_option or (
                word[:1] in "-*?[" and _GLOBS.search(bare) is not None
            )
            command.has_values = command.has_values or ("$" in raw and _has_value(raw))
        else:
            word = raw
        command.add([word], [start, end])
        return True

    def _negate(self) -> bool:
        fits = not (self.negated or self.piped or self.closed)
        self.negated = True
        return fits

    def _end_command(self) -> bool:
        """End the command or group. False if there is none, so that nothing can be joined to it."""
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


def read_plain(text: str) -> list[SimpleCommand] | None:
    """The simple commands of a text in order; None if this parser refuses any part of it. In a clear text each has the
    words that tree-sitter has for that command, node by node, without their quotes."""
    parser = _PlainParser()
    return parser.commands if parser.read(text) else None


def command_spans(commands: Iterable[SimpleCommand]) -> CommandSpans:
    """The positions of the commands, for the comparison with the tree."""
    return {command.start: (command.end, len(command.words), command.positions) for command in commands}
