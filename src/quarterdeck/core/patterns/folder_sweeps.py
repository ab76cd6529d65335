"""Programs that read, change or remove everything below a folder, which may hold protected files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quarterdeck.core.model.tool_use import ToolUse, absolute_path, is_within
from quarterdeck.core.patterns.command_paths import MAX_CD_LENGTH
from quarterdeck.core.shell.script import Call

SWEEPERS = frozenset({"chgrp", "chmod", "chown", "ln", "mv", "rm", "rmdir", "rsync", "shred", "trash", "unlink"})
"""Programs that change or remove everything below a folder, or make it reachable elsewhere."""

_RECURSIVE = frozenset({"grep", "egrep", "fgrep", "diff", "cp", "zip"})
FAR_REACHING_PROGRAMS = SWEEPERS | _RECURSIVE | {"find", "rg", "tar"}
_FAR_PATH = re.compile(r"^[/~.]|/\.\.")
_GLOB = re.compile(r"[*?\[{]")


def program_name(call: Call) -> str:
    """The name of the program a call runs, without its folder; empty if there is none."""
    name = call.words[0] if call.words else ""
    return name.rpartition("/")[2] if "/" in name else name


def sweeps_protected(tool_use: ToolUse, own_home: str, calls: Sequence[Call]) -> bool:
    """True if a line that may name no protected file reads or removes a folder that holds them."""
    if not any(_may_reach_far(call) for call in calls if program_name(call) in FAR_REACHING_PROGRAMS):
        return False
    home, cwd = tool_use.home.casefold(), tool_use.cwd.casefold()
    folder = cwd
    for call in calls:
        if call.words[:1] in (("cd",), ("pushd",)) and len(call.words) > 1 and len(folder) < MAX_CD_LENGTH:
            folder = absolute_path(call.words[-1].casefold(), folder, home)
        if own_home and any(
            _reaches_own_home(call, folder, own_home) for folder in _searched_folders(call, folder, home)
        ):
            return True
        if call.words and is_sweeping(call):
            for word in call.words[1:]:
                if _FAR_PATH.search(word) and is_swept(
                    word, fixed_path(word.casefold(), cwd, home), cwd, home, own_home
                ):
                    return True
    return False


def _may_reach_far(call: Call) -> bool:
    """True if a call may reach everything below a folder. rg does, except for hidden files."""
    return program_name(call) == "rg" or _reads_all(call) or is_sweeping(call)


def _reaches_own_home(call: Call, folder: str, own_home: str) -> bool:
    """True if a program that goes through a folder reaches Quarterdeck's files. rg skips hidden folders."""
    if not is_within(own_home, folder):
        return False
    return _reads_all(call) or (program_name(call) == "rg" and "/." not in own_home[len(folder.rstrip("/")) :])


def _reads_all(call: Call) -> bool:
    """True if a program shows or copies everything below a folder, hidden or not."""
    name = program_name(call)
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


def _searched_folders(call: Call, cwd: str, home: str) -> list[str]:
    words = [word.casefold() for word in call.words[1:] if word[:1] in ("/", "~", ".")]
    return [fixed_path(word, cwd, home) for word in words] or [cwd]


def is_sweeping(call: Call) -> bool:
    """True if a call changes or removes everything below a folder."""
    name = program_name(call)
    return name in SWEEPERS or (
        name == "find" and any(word.startswith(("-delete", "-exec", "-ok")) for word in call.words)
    )


def is_swept(text: str, path: str, folder: str, home: str, own_home: str) -> bool:
    """True if all of Quarterdeck's files, or of the agent's settings, are below this folder. `*.log` removes no
    folder."""
    if path == folder and _GLOB.search(text):
        return False
    return bool(own_home and is_within(own_home, path)) or is_within(f"{home}/.claude", path)


def fixed_path(text: str, folder: str, home: str) -> str:
    """The path that a word names; for a word with a wildcard, the folder before it."""
    fixed = _GLOB.split(text, maxsplit=1)[0]
    return absolute_path(text if fixed == text else fixed.rpartition("/")[0] or ".", folder, home)
