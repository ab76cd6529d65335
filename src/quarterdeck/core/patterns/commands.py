"""Patterns over shell commands: whole words and then anything, one exact line, or text with stars in it."""

from __future__ import annotations

import re

from msgspec import Struct

from quarterdeck.core.patterns.globs import Glob, literal
from quarterdeck.core.shell.script import Script, read_script
from quarterdeck.errors import BadPattern

_ESCAPED = re.compile(r"\\([\\*])")
_STARS = re.compile(r"\\[\\*]|(\*)")
_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,^-]+(?: [A-Za-z0-9_./:=@%+,^-]+)*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


_UNREAD = frozenset(
    {"an expansion names the command", "cannot be parsed", "is too long to be read", "nests too deeply"}
)


def is_unread(script: Script) -> bool:
    """Whether there may be commands in the text that nobody has seen."""
    return not script.calls or not _UNREAD.isdisjoint(script.doubts)


class Command(Struct, frozen=True):
    """Whole words, and with `open_end` then anything. Without it also the one line they were written as."""

    words: tuple[str, ...]
    open_end: bool
    line: str


class WildCommand(Struct, frozen=True):
    """A command with stars in it; `words` are the whole words before the first one."""

    words: tuple[str, ...]
    globs: tuple[Glob, ...]

    def matches(self, text: str) -> bool:
        return any(glob.matches(text) for glob in self.globs)


def read_command(scope: str, effect: str) -> Command | WildCommand:
    """`P:*` and `P *` are the words of P and then anything; a star elsewhere is any text; `\\*` is a star."""
    text = scope.strip()
    body, open_end = _without_end(text)
    if not body:
        raise BadPattern(f"Bash({scope}): names no command; write Bash for every command")
    if any(found[1] for found in _STARS.finditer(body)):
        return _read_wild(scope, body, open_end, effect)
    line = _ESCAPED.sub(r"\1", body)
    return Command(_words(scope, line, open_end, effect), open_end, line)


def written_command(line: str) -> str:
    """The line as a pattern that is this line and nothing else."""
    return re.sub(r"([\\*])", r"\\\1", line.strip())


def _without_end(text: str) -> tuple[str, bool]:
    for end in (":*", " *"):
        if text.endswith(end):
            return text[: -len(end)].rstrip(), True
    return text, False


def _words(scope: str, line: str, open_end: bool, effect: str) -> tuple[str, ...]:
    """The words of the line. What is no plain call has none, and can be met only as a whole line."""
    if _PLAIN.fullmatch(line) and not _ASSIGNMENT.match(line):
        return tuple(line.split(" "))
    script = read_script(line)
    if not script.doubts and len(script.calls) == 1:
        return script.calls[0].words
    if effect != "allow":
        return tuple(line.split()) if open_end else ()
    if open_end:
        raise BadPattern(f"Bash({scope}): an open end needs one plain command before it; write Bash(git log:*)")
    if script.doubts:
        raise BadPattern(f"Bash({scope}): no rule can allow this, it {script.doubts[0]}; allow it each time")
    return ()


def _read_wild(scope: str, body: str, open_end: bool, effect: str) -> WildCommand:
    pieces: list[str] = [""]
    place = 0
    for found in _STARS.finditer(body):
        if found[1]:
            pieces[-1] += body[place : found.start()]
            pieces.append("")
            place = found.end()
    pieces[-1] += body[place:]
    texts = [_ESCAPED.sub(r"\1", piece) for piece in pieces]
    words = tuple(texts[0].rpartition(" ")[0].split())
    if effect == "allow" and not (words and _PLAIN.fullmatch(" ".join(words))):
        raise BadPattern(f"Bash({scope}): what is allowed must begin with a whole word; write Bash(git log:*)")
    glob = "*".join(literal(text) for text in texts)
    return WildCommand(words, (Glob(glob), Glob(f"{glob} *")) if open_end else (Glob(glob),))
