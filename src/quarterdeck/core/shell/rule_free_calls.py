"""Calls that need no rule beside one that covers the rest of the line: they filter, wait, test, show or only start
another call that is judged too."""

from __future__ import annotations

from collections.abc import Sequence

from quarterdeck.core.programs.grammar import Effects, word_set
from quarterdeck.core.programs.project_paths import Folder, is_inside
from quarterdeck.core.programs.registry import program
from quarterdeck.core.shell.calls import Call, Script
from quarterdeck.core.shell.word_match import only_filters


def needs_no_rule(call: Call, effects: Effects, script: Script, folder: Folder) -> bool:
    """True for a call that does nothing by itself: it filters, waits or tests, or only starts another that is judged
    too."""
    words = call.words
    if effects or not words:
        return False
    name = words[0]
    if len(words) == 2 and words[1] == "--version" and program(name) is not None and "/" not in name:
        return not call.unseen
    if name not in _NEED_NO_RULE:
        return only_filters(call)
    if name in _IDLE:
        return not call.unseen
    if name in _PIPED_FILES:
        return only_filters(call) or (_feeds_another(call, script) and _names_project_files(words, folder))
    if name in _SHOWS:
        return not call.unseen and (name != "ls" or all(_is_in_project(word, folder) for word in words[1:]))
    if name == "cd":
        return folder is not None and not call.unseen
    if name in _STARTERS:
        return name != "env" or words[1:2] == () or words[1][:1] != "-"
    return False


_SHOWS = word_set("echo printf ls")
"""Commands that show their own words, or names of files in the project."""
_PIPED_FILES = word_set("cat head tail")
"""Commands that pass the text of files to the next one, which a rule covers and which could read them itself."""
_IDLE = word_set("true false : pwd sleep test [")
"""Commands that need no rule."""
_STARTERS = word_set("time timeout gtimeout nice stdbuf xargs gxargs env command")
"""Programs that only start another one, and need no rule if their own options are known."""
_NEED_NO_RULE = _IDLE | _STARTERS | _SHOWS | _PIPED_FILES | {"cd"}


def _feeds_another(call: Call, script: Script) -> bool:
    """True if the next command reads what this one prints."""
    calls = script.calls
    following = calls[calls.index(call) + 1 :][:1]
    return bool(following) and following[0].piped and not call.via and not call.unseen


def _names_project_files(words: Sequence[str], folder: Folder) -> bool:
    files = [word for word in words[1:] if word[:1] != "-" and not word.isdigit()]
    return bool(files) and all(_is_in_project(word, folder) for word in files)


def _is_in_project(word: str, folder: Folder) -> bool:
    """True for an option, or a path in the project that is not hidden."""
    return word[:1] == "-" or (is_inside(word, folder) and not any(part[:1] == "." != part for part in word.split("/")))
