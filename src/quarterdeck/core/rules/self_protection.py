"""Tool uses that could change the rules themselves: Quarterdeck's files and commands, and the settings that connect an
agent to it. No allow rule covers these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from quarterdeck.core.model.payload import texts_in
from quarterdeck.core.model.tool_use import ToolUse, absolute_path, glob_start, is_within, written_paths
from quarterdeck.core.patterns.command_paths import script_index, working_folders
from quarterdeck.core.patterns.command_patterns import is_unreadable
from quarterdeck.core.patterns.folder_sweeps import (
    FAR_REACHING_PROGRAMS,
    fixed_path,
    is_sweeping,
    is_swept,
    program_name,
    sweeps_protected,
)
from quarterdeck.core.patterns.protected_paths import (
    SETTINGS_FOLDERS,
    is_settings,
    is_unrelated,
    leads_to_protected,
    may_name_protected,
    wildcards_lead_to_protected,
)
from quarterdeck.core.patterns.rule_words import BASH, EDITS, READS
from quarterdeck.core.rules.command_rules import indirect_calls
from quarterdeck.core.rules.embedded_code import WORD, embedded_texts
from quarterdeck.core.shell.script import Call, Script, read_script
from quarterdeck.core.shell.word_match import may_expand_to

QD_NAMES = frozenset({"qd", "quarterdeck"})

READ_COMMANDS: frozenset[tuple[str, ...]] = frozenset(
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
"""Subcommands of `qd` that only read."""

PROGRAM_STARTERS = frozenset({"hatch", "pdm", "pipx", "poetry", "pypy", "python", "rye", "uv", "uvx"})
"""Programs that start another program by its name or module."""

READERS = frozenset({"cat", "cmp", "diff", "egrep", "fgrep", "file", "grep", "head", "jq", "ls", "stat", "tail", "wc"})
"""Programs that never change the files in their arguments."""

STOPPERS = frozenset({"killall", "launchctl", "pkill", "service", "systemctl"})
"""Programs that stop other programs by name."""

CLAUDE_CHANGES = frozenset({"config", "install", "mcp", "plugin", "plugins"})
CLAUDE_LOOSENS = ("--allow", "--bare", "--dangerously", "--permission-mode", "--plugin-dir", "--setting")
"""Subcommands that change the settings that connect Claude Code to Quarterdeck, and options that start it
unconnected."""

_CD_COMMANDS = frozenset({"cd", "pushd"})
_STARTERS = QD_NAMES | PROGRAM_STARTERS | STOPPERS | {"claude"}
# Begins a path elsewhere, a hidden part of one, or `..`; within a name dots are mere letters.
_LEAVES_FOLDER = re.compile(r"[/.](?<![A-Za-z0-9_*?).].)")
_QUOTING = re.compile(r"['\"\\]")
_WILDCARD = re.compile(r"[*?\[]")  # braces that expand are never allowed anyway
_QD_IMPORT = re.compile(
    r"\b(?:import|from|require|-m|runpy|run_module)\b.{0,40}\bquarterdeck\b|[\"' ]qd[\"' ]", re.DOTALL
)
_PATH_ELSEWHERE = re.compile(r"(?:\A|=)[/~]|(?:\A|[/=])[.\[]")  # begins a path elsewhere, or a hidden part of one
_QD_WORD = re.compile(r"(?<![\w-])(?:qd|quarterdeck)(?![\w-])")

MAX_LINE = 8192
"""Characters of a line that may name protected files and is still checked word by word."""

_TOUCHES_FILES = "concerns Quarterdeck's own files"
_TOUCHES_SETTINGS = "could change the settings that connect Claude Code to Quarterdeck"


def touches_quarterdeck(tool_use: ToolUse, quarterdeck_home: str) -> str | None:
    """The reason why no allow rule may cover this use; None if there is none. A guard against accidents and plain
    attempts: a program that runs as the same user has other ways."""
    if tool_use.tool_name == BASH:
        script = read_script(tool_use.command)
        return line_touches_quarterdeck(tool_use, quarterdeck_home, script, indirect_calls(script.calls))
    own_home = quarterdeck_home.rstrip("/").casefold()
    if tool_use.tool_name in EDITS or tool_use.tool_name in READS:
        return _file_reason(tool_use, own_home)
    return _input_reason(tool_use, own_home)


def _file_reason(tool_use: ToolUse, own_home: str) -> str | None:
    for path in (tool_use.path, *written_paths(tool_use), glob_start(tool_use)):
        if path is None:
            continue
        lowered = path.casefold()
        if own_home and (is_within(lowered, own_home) or (tool_use.covers_folder and is_within(own_home, lowered))):
            return _TOUCHES_FILES
        if tool_use.tool_name in EDITS and (is_settings(lowered) or _is_guarded(tool_use, lowered)):
            return _TOUCHES_SETTINGS
    return None


def _is_guarded(tool_use: ToolUse, path: str) -> bool:
    return any(is_within(path, folder.casefold()) for folder in tool_use.guarded)


def _input_reason(tool_use: ToolUse, own_home: str) -> str | None:
    """The reason for any other tool: a text in its input that names protected files."""
    for text in texts_in(tool_use.tool_input):
        lowered = text.casefold()
        if own_home and own_home in lowered:
            return _TOUCHES_FILES
        if tool_use.tool_name.startswith("mcp__") and (is_settings(lowered) or _is_guarded(tool_use, lowered)):
            return _TOUCHES_SETTINGS
    return None


def line_touches_quarterdeck(
    tool_use: ToolUse,
    quarterdeck_home: str,
    script: Script,
    indirect: Sequence[Call],
    names: frozenset[str] | None = None,
) -> str | None:
    """The same for a shell line. `indirect`: those of its calls that may run or write more than their name says.
    `names`: the names of its calls, if they are plain letters; they only save time and change no result.

    There is a reason wherever the plain way finds one, which is to resolve every word of every call and every file that
    the line writes, from every folder that the line is in: a call of `qd` that does more than read; a path in
    Quarterdeck's home; a path of Claude Code's settings, unless the program only reads; a folder above either, under a
    program that goes through folders. That way is too slow for every tool call of an agent, and nearly no line names
    any of this, so cheap tests of the text as a whole come first. `tests/unit/core/rules/test_shortcuts.py` compares
    the two.
    """
    own_home = quarterdeck_home.rstrip("/").casefold()
    text = tool_use.command
    if (
        names is not None
        and not indirect
        and _STARTERS.isdisjoint(names)
        and _is_unrelated_line(tool_use, text, own_home)
    ):
        return None
    if names is None or _QUOTING.search(text):
        # As written, and as the shell reads it: there may be quotes within a name.
        text = "\n".join((text, *[" ".join(call.words) for call in script.calls]))
    text = text.casefold()
    if (script.doubts or not script.calls) and is_unreadable(script) and _QD_WORD.search(text):
        return "names Quarterdeck in a line that cannot be read"
    if names is None or not _STARTERS.isdisjoint(names):
        for call in script.calls:
            if _runs_qd(call):
                return "runs a command of Quarterdeck that may change something"
    if indirect and (reason := _embedded_reason(tool_use, own_home, script, indirect)):
        return reason
    cwd = tool_use.cwd.casefold()
    near = (
        ".claude" in cwd
        or ".claude" in text
        or "managed-" in text
        or (bool(tool_use.guarded) and _names_guarded(tool_use, text, cwd))
    )
    has_wildcards = "*" in text or "?" in text or "[" in text
    if near or has_wildcards or (own_home and (own_home.rpartition("/")[2] in text or is_within(cwd, own_home))):
        if len(text) > MAX_LINE:
            return "may name Quarterdeck's or Claude Code's files in a line too long to be checked"
        if reason := _words_reason(tool_use, own_home, script):
            return reason
    if names is None or not FAR_REACHING_PROGRAMS.isdisjoint(names):
        return _TOUCHES_FILES if sweeps_protected(tool_use, own_home, script.calls) else None
    return None


def _is_unrelated_line(tool_use: ToolUse, line: str, own_home: str) -> bool:
    """A cheap test: true if a line names only files below a folder without protected files."""
    text = line.casefold()
    if (
        tool_use.guarded
        or not own_home
        or own_home.rpartition("/")[2] in text
        or "claude" in text
        or "managed-" in text
    ):
        return False
    if "[" in text or "{" in text or "~" in text or "\\" in text or _LEAVES_FOLDER.search(text):
        return False
    return is_unrelated(tool_use.cwd, tool_use.home, own_home)


def _names_guarded(tool_use: ToolUse, text: str, cwd: str) -> bool:
    """True if the line or its working folder names a folder of settings that is not called `.claude`."""
    folders = {folder.casefold().rpartition("/")[0] for folder in tool_use.guarded}
    return any(folder and (folder.rpartition("/")[2] in text or is_within(cwd, folder)) for folder in folders)


def _runs_qd(call: Call) -> bool:
    name, words = program_name(call), call.words
    if name in QD_NAMES:
        return words[1:2] not in READ_COMMANDS and words[1:3] not in READ_COMMANDS
    if name.rstrip("0123456789.") in PROGRAM_STARTERS:
        return any(word.removeprefix("-m").rpartition("/")[2].partition(".")[0] in QD_NAMES for word in words[1:])
    if name in STOPPERS:
        return any(_QD_WORD.search(word.casefold()) for word in words[1:])
    return name == "claude" and _changes_claude(words)


def _changes_claude(words: Sequence[str]) -> bool:
    if not CLAUDE_CHANGES.isdisjoint(words[1:2]):
        return words[2:3] not in (("list",), ("get",))
    return any(word.startswith(CLAUDE_LOOSENS) for word in words[1:])


def _embedded_reason(tool_use: ToolUse, own_home: str, script: Script, indirect: Sequence[Call]) -> str | None:
    """The reason in embedded code: it names Quarterdeck's commands or protected files."""
    texts = [(call, text.casefold()) for call in indirect for text in embedded_texts(call, tool_use.command)]
    home = tool_use.home.casefold()
    folders = list(map(str.casefold, working_folders(tool_use, script)))
    check_all = bool(tool_use.guarded) or any(leads_to_protected(folder, own_home) for folder in folders)
    for call, text in texts:
        if _QD_IMPORT.search(text):
            return "may run a command of Quarterdeck that changes something"
        for word in set(WORD.findall(text)):
            may_be_folder = call.unseen and "/" in word
            if not (check_all or may_be_folder or may_name_protected(word, own_home)):
                continue
            for path in (absolute_path(word, folder, home) for folder in folders):
                if own_home and (is_within(path, own_home) or (may_be_folder and is_within(own_home, path))):
                    return _TOUCHES_FILES
                if is_settings(path) or _is_guarded(tool_use, path):
                    return _TOUCHES_SETTINGS
    return None


def _words_reason(tool_use: ToolUse, own_home: str, script: Script) -> str | None:
    """The reason in the words of a line: protected files, seen from the working folder and each folder it changes
    to."""
    home = tool_use.home.casefold()
    folders = [tool_use.cwd.casefold()]
    # Resolving a path takes long, so words that cannot lead to protected files from any of the folders are skipped.
    watchful = leads_to_protected(folders[0], own_home) or leads_to_protected(home, own_home)
    guessing = wildcards_lead_to_protected(folders[0], own_home) or bool(own_home and own_home in home)
    for call in script.calls:
        words = call.words
        if len(words) > 1 and words[0].casefold() in _CD_COMMANDS:
            folders = [folders[0], *folders[1:][-2:], absolute_path(words[-1].casefold(), folders[-1], home)]
            watchful = watchful or leads_to_protected(folders[-1], own_home)
            guessing = guessing or wildcards_lead_to_protected(folders[-1], own_home)
        sweeping = is_sweeping(call)
        check_all = watchful or sweeping or bool(tool_use.guarded) or (guessing and any(map(_WILDCARD.search, words)))
        for word in _candidate_words(call, check_all, own_home):
            if reason := (
                word_reason(word, program_name(call), sweeping, folders, home, own_home)
                or _guarded_reason(tool_use, word, program_name(call), folders, home)
            ):
                return reason
    for target in map(str.casefold, script.writes):
        if reason := (
            word_reason(target, ">", False, folders, home, own_home)
            or _guarded_reason(tool_use, target, ">", folders, home)
        ):
            return reason
    return None


def _candidate_words(call: Call, check_all: bool, own_home: str) -> list[str]:
    """The arguments of a call that may lead to protected files, in lower case, without the script of a filter."""
    words = call.words
    if not words:
        return []
    if not check_all:
        text = "\n".join(words).casefold()
        if not may_name_protected(text, own_home) and not ("*" in text or "?" in text or "[" in text):
            return []
    script = script_index(call)
    lower = [word.casefold() for index, word in enumerate(words) if index and index != script]
    if check_all:
        return lower
    return [
        word
        for word in lower
        if may_name_protected(word, own_home) or (_WILDCARD.search(word) and _PATH_ELSEWHERE.search(word))
    ]


def word_reason(word: str, name: str, sweeping: bool, folders: list[str], home: str, own_home: str) -> str | None:
    """The reason why a word of a call, in lower case, leads to protected files from one of these folders; None if it
    does not."""
    if own_home and own_home in word:
        return _TOUCHES_FILES
    for text in {word, word.rpartition("=")[2]}:
        for folder in folders:
            path = fixed_path(text, folder, home)
            if own_home and (is_within(path, own_home) or own_home in path):
                return _TOUCHES_FILES
            if _WILDCARD.search(text) and (
                reason := _wildcard_reason(absolute_path(text, folder, home), name, own_home)
            ):
                return reason
            if name not in READERS and (is_settings(path) or (name != "cd" and path.endswith(SETTINGS_FOLDERS))):
                return _TOUCHES_SETTINGS
            if sweeping and is_swept(text, path, folder, home, own_home):
                return _TOUCHES_FILES
    return None


def _guarded_reason(tool_use: ToolUse, word: str, name: str, folders: list[str], home: str) -> str | None:
    """The reason for a word that leads to settings in another folder than the usual one."""
    if not tool_use.guarded or name in READERS:
        return None
    paths = [absolute_path(text, folder, home) for text in {word, word.rpartition("=")[2]} for folder in folders]
    return _TOUCHES_SETTINGS if any(_is_guarded(tool_use, path) for path in paths) else None


def _wildcard_reason(path: str, name: str, own_home: str) -> str | None:
    """The reason for a path with wildcards that may expand to protected files."""
    parts, own_parts = path.split("/"), own_home.split("/")
    if own_home and len(parts) >= len(own_parts) and all(map(may_expand_to, parts, own_parts)):
        return _TOUCHES_FILES
    if name in READERS:
        return None
    for folder, inside in pairwise([*parts, ""]):
        hidden = folder[:1] in (".", "[") and may_expand_to(folder, ".claude")
        if hidden and (not inside or any(may_expand_to(inside, known) for known in _SETTINGS)):
            return _TOUCHES_SETTINGS
    return None


_SETTINGS = ("settings.json", "settings.local.json", "plugins")
