"""What could change the rules themselves: our files, our commands, and the settings that connect an agent to us."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from quarterdeck.core.command_patterns import is_unread
from quarterdeck.core.patterns import EDITS, READS
from quarterdeck.core.shell import Call, Script, read_script
from quarterdeck.core.subject import Subject, from_there, is_within, searched_path, written_path

OUR_NAMES = frozenset({"qd", "quarterdeck"})

READING: frozenset[tuple[str, ...]] = frozenset(
    {
        ("--help",),
        ("--version",),
        ("doctor",),
        ("feed",),
        ("requests",),
        ("rules", "check"),
        ("rules", "explain"),
        ("rules", "list"),
        ("rules", "simulate"),
        ("rules", "suggest"),
        ("rules", "test"),
        ("sessions",),
        ("status",),
    }
)
"""Our commands that only read."""

RUNNERS = frozenset({"hatch", "pdm", "pipx", "poetry", "pypy", "python", "rye", "uv", "uvx"})
"""Programs that start another program by its name or module."""

READERS = frozenset({"cat", "cmp", "diff", "egrep", "fgrep", "file", "grep", "head", "jq", "ls", "stat", "tail", "wc"})
"""Programs that change none of the files they are given."""

SWEEPS = frozenset({"chgrp", "chmod", "chown", "find", "mv", "rm", "rmdir", "rsync", "shred", "trash", "unlink"})
"""Programs that change or take away all that is below a folder they are given."""

_SETTINGS = re.compile(
    r"(?:^|/)(?:\.claude/(?:settings[^/]*\.json|plugins(?:/.*)?)|\.claude\.json|claude-code/managed-[^/]*(?:/.*)?)$"
)
_FOLDERS = re.compile(r"(?:^|/)(?:\.claude|claude-code)$")
_GLOB = re.compile(r"[*?\[{]")
_OUR_WORD = re.compile(r"(?<![\w-])(?:qd|quarterdeck)(?![\w-])")

_FILES = "concerns Quarterdeck's own files"
_CONNECTED = "could change the settings that connect Claude Code to Quarterdeck"


def touches_us(subject: Subject, our_home: str, script: Script | None = None) -> str | None:
    """Why no allow rule may cover this use, in words; None when it has nothing to do with us. A guard against
    accidents and plain attempts: who runs programs as the same user has other ways."""
    ours = our_home.rstrip("/").casefold()
    if subject.tool_name == "Bash":
        return _command(subject, ours, script or read_script(subject.command))
    if subject.tool_name in EDITS or subject.tool_name in READS:
        return _file(subject, ours)
    return _texts(subject, ours)


def _file(subject: Subject, ours: str) -> str | None:
    for path in (subject.path, written_path(subject), searched_path(subject)):
        if path is None:
            continue
        low = path.casefold()
        if ours and (is_within(low, ours) or (subject.looks_in_folders and is_within(ours, low))):
            return _FILES
        if subject.tool_name in EDITS and _SETTINGS.search(low):
            return _CONNECTED
    return None


def _texts(subject: Subject, ours: str) -> str | None:
    """Any other tool: a text of its input that names our places."""
    for text in _leaves(subject.tool_input):
        low = text.casefold()
        if ours and ours in low:
            return _FILES
        if subject.tool_name.startswith("mcp__") and _SETTINGS.search(low):
            return _CONNECTED
    return None


def _leaves(value: Any) -> Iterator[str]:
    nodes = [value]
    while nodes:
        node = nodes.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            nodes.extend(node.values())
        elif isinstance(node, list | tuple):
            nodes.extend(node)


def _command(subject: Subject, ours: str, script: Script) -> str | None:
    text = subject.command.casefold()
    if is_unread(script) and _OUR_WORD.search(text):
        return "names Quarterdeck in a line that cannot be read"
    for call in script.calls:
        if _runs_us(call):
            return "runs a command of Quarterdeck that may change something"
    cwd = subject.cwd.casefold()
    near = ".claude" in cwd or ".claude" in text or "managed-" in text
    if not near and not (ours and (ours.rpartition("/")[2] in text or is_within(cwd, ours))):
        sweeping = [call for call in script.calls if call.words and _name(call) in SWEEPS]
        return _named(subject, ours, sweeping, ()) if sweeping else None
    return _named(subject, ours, script.calls, script.writes)


def _name(call: Call) -> str:
    return call.words[0].rpartition("/")[2]


def _runs_us(call: Call) -> bool:
    if not call.words:
        return False
    name, words = _name(call), call.words
    if name in OUR_NAMES:
        return words[1:2] not in READING and words[1:3] not in READING
    if name.rstrip("0123456789.") in RUNNERS:
        return any(word.rpartition("/")[2].partition(".")[0] in OUR_NAMES for word in words[1:])
    return False


def _named(subject: Subject, ours: str, calls: tuple[Call, ...] | list[Call], writes: tuple[str, ...]) -> str | None:
    """Our places among the words of a line, seen from where the session is and from each folder it changes to."""
    home = subject.home.casefold()
    places = [subject.cwd.casefold()]
    for call in calls:
        words = [word.casefold() for word in call.words]
        if words[:1] in (["cd"], ["pushd"]) and len(words) > 1:
            places.append(from_there(words[-1], places[-1], home))
        for word in words[1:]:
            if reason := _word(word, words[0].rpartition("/")[2], places, home, ours):
                return reason
    for target in writes:
        if reason := _word(target.casefold(), ">", places, home, ours):
            return reason
    return None


def _word(word: str, name: str, places: list[str], home: str, ours: str) -> str | None:
    if ours and ours in word:
        return _FILES
    for text in {word, word.rpartition("=")[2]}:
        fixed = _GLOB.split(text, maxsplit=1)[0]
        whole = fixed == text
        for place in places:
            path = from_there(text if whole else fixed.rpartition("/")[0] or ".", place, home)
            if ours and is_within(path, ours):
                return _FILES
            if name not in READERS and (_SETTINGS.search(path) or (name != "cd" and _FOLDERS.search(path))):
                return _CONNECTED
            if name in SWEEPS and (whole or path != place) and _above(path, home, ours):
                return _FILES
    return None


def _above(path: str, home: str, ours: str) -> bool:
    """Whether all of our files, or of the agent's settings, are below this folder."""
    return bool(ours and is_within(ours, path)) or is_within(f"{home}/.claude", path)
