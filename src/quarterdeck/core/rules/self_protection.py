"""What could change the rules themselves: our files, our commands, and the settings that connect an agent to us."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from quarterdeck.core.model.tool_use import Subject, from_there, is_within, searched_path, written_path
from quarterdeck.core.patterns.command_paths import LONGEST_CD, places_of, script_place
from quarterdeck.core.patterns.commands import is_unread
from quarterdeck.core.patterns.pattern import EDITS, READS
from quarterdeck.core.patterns.protected_paths import (
    FOLDERS,
    is_apart,
    is_settings,
    leads_to_us,
    may_name_us,
    wildcards_lead_to_us,
)
from quarterdeck.core.rules.command_rules import telling_calls
from quarterdeck.core.rules.embedded_code import WORD, texts_for
from quarterdeck.core.shell.script import Call, Script, read_script
from quarterdeck.core.shell.word_match import turns_into

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

SWEEPS = frozenset({"chgrp", "chmod", "chown", "ln", "mv", "rm", "rmdir", "rsync", "shred", "trash", "unlink"})
"""Programs that change, take away or make reachable elsewhere all that is below a folder they are given."""

STOPPERS = frozenset({"killall", "launchctl", "pkill", "service", "systemctl"})
"""Programs that end others by their name."""

CLAUDE_CHANGES = frozenset({"config", "install", "mcp", "plugin", "plugins"})
CLAUDE_LOOSENS = ("--allow", "--bare", "--dangerously", "--permission-mode", "--plugin-dir", "--setting")
"""What changes the settings that connect Claude Code to us, or starts one that does not ask us."""

_MOVES = frozenset({"cd", "pushd"})
_RECURSIVE = frozenset({"grep", "egrep", "fgrep", "diff", "cp", "zip"})
_STARTING = OUR_NAMES | RUNNERS | STOPPERS | {"claude"}
_FAR_REACHING = SWEEPS | _RECURSIVE | {"find", "rg", "tar"}
_FAR = re.compile(r"^[/~.]|/\.\.")
# Begins a path elsewhere, a hidden part of one, or `..`; within a name dots are mere letters.
_NOT_BELOW = re.compile(r"[/.](?<![A-Za-z0-9_*?).].)")
_QUOTING = re.compile(r"['\"\\]")
_GLOB = re.compile(r"[*?\[{]")
_WILD = re.compile(r"[*?\[]")  # braces that expand are never allowed anyway
_OUR_IMPORT = re.compile(
    r"\b(?:import|from|require|-m|runpy|run_module)\b.{0,40}\bquarterdeck\b|[\"' ]qd[\"' ]", re.DOTALL
)
_ELSEWHERE = re.compile(r"(?:\A|=)[/~]|(?:\A|[/=])[.\[]")  # begins a path elsewhere, or a hidden part of one
_OUR_WORD = re.compile(r"(?<![\w-])(?:qd|quarterdeck)(?![\w-])")

LONGEST_LINE = 8192
"""A longer line that names our places is not looked through word by word."""

_FILES = "concerns Quarterdeck's own files"
_CONNECTED = "could change the settings that connect Claude Code to Quarterdeck"


def touches_us(subject: Subject, our_home: str) -> str | None:
    """Why no allow rule may cover this use, in words; None when it has nothing to do with us. A guard against
    accidents and plain attempts: who runs programs as the same user has other ways."""
    if subject.tool_name == "Bash":
        script = read_script(subject.command)
        return line_touches_us(subject, our_home, script, telling_calls(script.calls))
    ours = our_home.rstrip("/").casefold()
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
        if subject.tool_name in EDITS and (is_settings(low) or _is_guarded(subject, low)):
            return _CONNECTED
    return None


def _is_guarded(subject: Subject, path: str) -> bool:
    return any(is_within(path, place.casefold()) for place in subject.guarded)


def _texts(subject: Subject, ours: str) -> str | None:
    """Any other tool: a text of its input that names our places."""
    for text in _leaves(subject.tool_input):
        low = text.casefold()
        if ours and ours in low:
            return _FILES
        if subject.tool_name.startswith("mcp__") and (is_settings(low) or _is_guarded(subject, low)):
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


def line_touches_us(
    subject: Subject, our_home: str, script: Script, telling: Sequence[Call], names: frozenset[str] | None = None
) -> str | None:
    """The same of a shell line. `telling` are those of its calls that may run or write more than their name says;
    `names` are those of its calls, when they are mere letters."""
    ours = our_home.rstrip("/").casefold()
    text = subject.command
    if names is not None and not telling and _STARTING.isdisjoint(names) and _stays_away(subject, text, ours):
        return None
    if names is None or _QUOTING.search(text):
        # As written, and as the shell sees it: quotes may stand anywhere in a name.
        text = "\n".join((text, *[" ".join(call.words) for call in script.calls]))
    text = text.casefold()
    if (script.doubts or not script.calls) and is_unread(script) and _OUR_WORD.search(text):
        return "names Quarterdeck in a line that cannot be read"
    if names is None or not _STARTING.isdisjoint(names):
        for call in script.calls:
            if _runs_us(call):
                return "runs a command of Quarterdeck that may change something"
    if telling and (reason := _told(subject, ours, script, telling)):
        return reason
    cwd = subject.cwd.casefold()
    near = (
        ".claude" in cwd
        or ".claude" in text
        or "managed-" in text
        or (bool(subject.guarded) and _names_guarded(subject, text, cwd))
    )
    wild = "*" in text or "?" in text or "[" in text
    if near or wild or (ours and (ours.rpartition("/")[2] in text or is_within(cwd, ours))):
        if len(text) > LONGEST_LINE:
            return "may name Quarterdeck's or Claude Code's files in a line too long to be looked through"
        if reason := _named(subject, ours, script):
            return reason
    if names is None or not _FAR_REACHING.isdisjoint(names):
        return _sweeps(subject, ours, script.calls)
    return None


def _stays_away(subject: Subject, line: str, ours: str) -> bool:
    """Whether a line at a glance names only what is below a folder that has nothing to do with us."""
    text = line.casefold()
    if subject.guarded or not ours or ours.rpartition("/")[2] in text or "claude" in text or "managed-" in text:
        return False
    if "[" in text or "{" in text or "~" in text or "\\" in text or _NOT_BELOW.search(text):
        return False
    return is_apart(subject.cwd, subject.home, ours)


def _names_guarded(subject: Subject, text: str, cwd: str) -> bool:
    """Whether the line or where it runs names a folder of settings that is not called `.claude`."""
    folders = {place.casefold().rpartition("/")[0] for place in subject.guarded}
    return any(folder and (folder.rpartition("/")[2] in text or is_within(cwd, folder)) for folder in folders)


def _name(call: Call) -> str:
    name = call.words[0] if call.words else ""
    return name.rpartition("/")[2] if "/" in name else name


def _runs_us(call: Call) -> bool:
    name, words = _name(call), call.words
    if name in OUR_NAMES:
        return words[1:2] not in READING and words[1:3] not in READING
    if name.rstrip("0123456789.") in RUNNERS:
        return any(word.removeprefix("-m").rpartition("/")[2].partition(".")[0] in OUR_NAMES for word in words[1:])
    if name in STOPPERS:
        return any(_OUR_WORD.search(word.casefold()) for word in words[1:])
    return name == "claude" and _changes_claude(words)


def _changes_claude(words: Sequence[str]) -> bool:
    if not CLAUDE_CHANGES.isdisjoint(words[1:2]):
        return words[2:3] not in (("list",), ("get",))
    return any(word.startswith(CLAUDE_LOOSENS) for word in words[1:])


def _told(subject: Subject, ours: str, script: Script, telling: Sequence[Call]) -> str | None:
    """Our names and places in what the line tells other programs: code, commands behind an option."""
    texts = [(call, text.casefold()) for call in telling for text in texts_for(call, subject.command)]
    home = subject.home.casefold()
    seen_from = list(map(str.casefold, places_of(subject, script)))
    every = bool(subject.guarded) or any(leads_to_us(place, ours) for place in seen_from)
    for call, text in texts:
        if _OUR_IMPORT.search(text):
            return "may run a command of Quarterdeck that changes something"
        for word in set(WORD.findall(text)):
            folders = call.unseen and "/" in word
            if not (every or folders or may_name_us(word, ours)):
                continue
            for path in (from_there(word, place, home) for place in seen_from):
                if ours and (is_within(path, ours) or (folders and is_within(ours, path))):
                    return _FILES
                if is_settings(path) or _is_guarded(subject, path):
                    return _CONNECTED
    return None


def _named(subject: Subject, ours: str, script: Script) -> str | None:
    """Our places among the words of a line, seen from where the session is and from each folder it changes to."""
    home = subject.home.casefold()
    places = [subject.cwd.casefold()]
    # To work out a path takes long, so a word is passed over that cannot lead to us from any folder the line is in.
    watchful = leads_to_us(places[0], ours) or leads_to_us(home, ours)
    guessing = wildcards_lead_to_us(places[0], ours) or bool(ours and ours in home)
    for call in script.calls:
        words = call.words
        if len(words) > 1 and words[0].casefold() in _MOVES:
            places = [places[0], *places[1:][-2:], from_there(words[-1].casefold(), places[-1], home)]
            watchful = watchful or leads_to_us(places[-1], ours)
            guessing = guessing or wildcards_lead_to_us(places[-1], ours)
        sweeping = _is_sweeping(call)
        every = watchful or sweeping or bool(subject.guarded) or (guessing and any(map(_WILD.search, words)))
        for word in _leading(call, every, ours):
            if reason := (
                why_word(word, _name(call), sweeping, places, home, ours)
                or _elsewhere(subject, word, _name(call), places, home)
            ):
                return reason
    for target in map(str.casefold, script.writes):
        if reason := (
            why_word(target, ">", False, places, home, ours) or _elsewhere(subject, target, ">", places, home)
        ):
            return reason
    return None


def _leading(call: Call, every: bool, ours: str) -> list[str]:
    """The arguments of a call that may lead to us, in lower case; a script or a pattern of a filter is none."""
    words = call.words
    if not words:
        return []
    if not every:
        text = "\n".join(words).casefold()
        if not may_name_us(text, ours) and not ("*" in text or "?" in text or "[" in text):
            return []
    unread = script_place(call)
    lower = [word.casefold() for place, word in enumerate(words) if place and place != unread]
    if every:
        return lower
    return [word for word in lower if may_name_us(word, ours) or (_WILD.search(word) and _ELSEWHERE.search(word))]


def why_word(word: str, name: str, sweeping: bool, places: list[str], home: str, ours: str) -> str | None:
    """Why a word of a call, in lower case, touches us from one of these places; None when it does not."""
    if ours and ours in word:
        return _FILES
    for text in {word, word.rpartition("=")[2]}:
        for place in places:
            path = _fixed(text, place, home)
            if ours and (is_within(path, ours) or ours in path):
                return _FILES
            if _WILD.search(text) and (reason := _guessed(from_there(text, place, home), name, ours)):
                return reason
            if name not in READERS and (is_settings(path) or (name != "cd" and path.endswith(FOLDERS))):
                return _CONNECTED
            if sweeping and _is_swept(text, path, place, home, ours):
                return _FILES
    return None


def _elsewhere(subject: Subject, word: str, name: str, places: list[str], home: str) -> str | None:
    """The settings of an agent that keeps them in another folder than most."""
    if not subject.guarded or name in READERS:
        return None
    paths = [from_there(text, place, home) for text in {word, word.rpartition("=")[2]} for place in places]
    return _CONNECTED if any(_is_guarded(subject, path) for path in paths) else None


def _guessed(path: str, name: str, ours: str) -> str | None:
    """What a path with wildcards in it may come to."""
    parts, our_parts = path.split("/"), ours.split("/")
    if ours and len(parts) >= len(our_parts) and all(map(turns_into, parts, our_parts)):
        return _FILES
    if name in READERS:
        return None
    for folder, inside in pairwise([*parts, ""]):
        hidden = folder[:1] in (".", "[") and turns_into(folder, ".claude")
        if hidden and (not inside or any(turns_into(inside, known) for known in _SETTINGS)):
            return _CONNECTED
    return None


_SETTINGS = ("settings.json", "settings.local.json", "plugins")


def _fixed(text: str, place: str, home: str) -> str:
    """The path that a word names, or the folder of one with a wildcard in it."""
    known = _GLOB.split(text, maxsplit=1)[0]
    return from_there(text if known == text else known.rpartition("/")[0] or ".", place, home)


def _sweeps(subject: Subject, ours: str, calls: Sequence[Call]) -> str | None:
    """A line that names none of our places, and may still sweep away a folder that they are in."""
    if not any(_is_far(call) for call in calls if _name(call) in _FAR_REACHING):
        return None
    home, cwd = subject.home.casefold(), subject.cwd.casefold()
    place = cwd
    for call in calls:
        if call.words[:1] in (("cd",), ("pushd",)) and len(call.words) > 1 and len(place) < LONGEST_CD:
            place = from_there(call.words[-1].casefold(), place, home)
        if ours and any(_finds_us(call, folder, ours) for folder in _looked_in(call, place, home)):
            return _FILES
        if call.words and _is_sweeping(call):
            for word in call.words[1:]:
                if _FAR.search(word) and _is_swept(word, _fixed(word.casefold(), cwd, home), cwd, home, ours):
                    return _FILES
    return None


def _is_far(call: Call) -> bool:
    """Whether a call may reach all that is below a folder; rg does so where nothing is hidden."""
    return _name(call) == "rg" or _reads_all(call) or _is_sweeping(call)


def _finds_us(call: Call, folder: str, ours: str) -> bool:
    """Whether a program that goes through a folder comes to our files; rg goes to none that is hidden."""
    if not is_within(ours, folder):
        return False
    return _reads_all(call) or (_name(call) == "rg" and "/." not in ours[len(folder.rstrip("/")) :])


def _reads_all(call: Call) -> bool:
    """Whether a program shows or copies all that is below a folder, hidden or not."""
    name = _name(call)
    if name in ("tar", "rsync"):
        return True
    if name != "rg" and name not in _RECURSIVE:
        return False
    options = [word for word in call.words[1:] if word[:1] == "-"]
    if name == "rg":
        return any(word in ("--hidden", "--unrestricted", "-.") or word.startswith("-u") for word in options)
    if name == "cp" and any(word.startswith("--archive") or (word[:2] != "--" and "a" in word) for word in options):
        return True
    return any(word.endswith("recursive") or (word[:2] != "--" and ("r" in word or "R" in word)) for word in options)


def _looked_in(call: Call, cwd: str, home: str) -> list[str]:
    words = [word.casefold() for word in call.words[1:] if word[:1] in ("/", "~", ".")]
    return [_fixed(word, cwd, home) for word in words] or [cwd]


def _is_sweeping(call: Call) -> bool:
    name = _name(call)
    return name in SWEEPS or (
        name == "find" and any(word.startswith(("-delete", "-exec", "-ok")) for word in call.words)
    )


def _is_swept(text: str, path: str, place: str, home: str, ours: str) -> bool:
    """Whether all of our files, or of the agent's settings, are below this folder. `*.log` takes no folder away."""
    if path == place and _GLOB.search(text):
        return False
    return bool(ours and is_within(ours, path)) or is_within(f"{home}/.claude", path)
