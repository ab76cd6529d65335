"""Patterns over shell commands: whole words and then anything, one exact line, or text with stars."""

from __future__ import annotations

import re

from msgspec import Struct

from quarterdeck.core.patterns.globs import Glob, literal
from quarterdeck.core.patterns.rule_words import BASH
from quarterdeck.core.shell.script import Script, read_script
from quarterdeck.errors import BadPattern

_ESCAPED = re.compile(r"\\([\\*])")
_STARS = re.compile(r"\\[\\*]|(\*)")
_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,^-]+(?: [A-Za-z0-9_./:=@%+,^-]+)*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


_UNREADABLE_DOUBTS = frozenset(
    {"an expansion names the command", "cannot be parsed", "is too long to be read", "nests too deeply"}
)


def is_unreadable(script: Script) -> bool:
    """True if the text may hold commands that could not be read."""
    return not script.calls or not _UNREADABLE_DOUBTS.isdisjoint(script.doubts)


class CommandPattern(Struct, frozen=True):
    """Whole words; with `open_end`, then anything. Without it, also exactly the line they were written as."""

    words: tuple[str, ...]
    open_end: bool
    line: str


class WildcardCommand(Struct, frozen=True):
    """A command with stars. `words`: the whole words before the first star."""

    words: tuple[str, ...]
    globs: tuple[Glob, ...]

    def matches(self, text: str) -> bool:
        return any(glob.matches(text) for glob in self.globs)


def read_command_pattern(scope: str, effect: str) -> CommandPattern | WildcardCommand:
    """Read `P:*` and `P *` as the words of P and then anything, a star elsewhere as any text, and `\\*` as a star."""
    text = scope.strip()
    body, open_end = _split_open_end(text)
    if not body:
        raise BadPattern(f"{BASH}({scope}): names no command; write {BASH} for every command")
    if any(found[1] for found in _STARS.finditer(body)):
        return _read_wildcard(scope, body, open_end, effect)
    line = _ESCAPED.sub(r"\1", body)
    return CommandPattern(_words(scope, line, open_end, effect), open_end, line)


def exact_command(line: str) -> str:
    """Escape a line, so that the pattern matches this line and nothing else."""
    return re.sub(r"([\\*])", r"\\\1", line.strip())


def _split_open_end(text: str) -> tuple[str, bool]:
    for end in (":*", " *"):
        if text.endswith(end):
            return text[: -len(end)].rstrip(), True
    return text, False


def _words(scope: str, line: str, open_end: bool, effect: str) -> tuple[str, ...]:
    """The words of the line. A line that is not one plain call has none, and matches only as a whole."""
    if _PLAIN.fullmatch(line) and not _ASSIGNMENT.match(line):
        return tuple(line.split(" "))
    script = read_script(line)
    if not script.doubts and len(script.calls) == 1:
        return script.calls[0].words
    if effect != "allow":
        return tuple(line.split()) if open_end else ()
    if open_end:
        raise BadPattern(f"{BASH}({scope}): an open end needs one plain command before it; write {_example(line)}")
    if script.doubts:
        raise BadPattern(f"{BASH}({scope}): no rule can allow this, it {script.doubts[0]}; allow it each time")
    return ()


def _example(text: str) -> str:
    """A valid pattern that begins like the text."""
    found = None if _ASSIGNMENT.match(text) else _PLAIN.match(text)
    return f"{BASH}({found[0] if found else 'git log'}:*)"


def _read_wildcard(scope: str, body: str, open_end: bool, effect: str) -> WildcardCommand:
    pieces: list[str] = [""]
    position = 0
    for match in _STARS.finditer(body):
        if match[1]:
            pieces[-1] += body[position : match.start()]
            pieces.append("")
            position = match.end()
    pieces[-1] += body[position:]
    texts = [_ESCAPED.sub(r"\1", piece) for piece in pieces]
    words = tuple(texts[0].rpartition(" ")[0].split())
    if effect == "allow" and not (words and _PLAIN.fullmatch(" ".join(words))):
        raise BadPattern(f"{BASH}({scope}): what is allowed must begin with a whole word; write {_example(body)}")
    glob = "*".join(literal(text) for text in texts)
    return WildcardCommand(words, (Glob(glob), Glob(f"{glob} *")) if open_end else (Glob(glob),))
