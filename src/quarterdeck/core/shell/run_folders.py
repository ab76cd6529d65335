"""The folder that the commands of a line run in, as far as the line shows it."""

from __future__ import annotations

from itertools import dropwhile, takewhile

from quarterdeck.core.programs.grammar import word_set
from quarterdeck.core.programs.project_paths import Folder, is_inside
from quarterdeck.core.shell.calls import Call, Script

CHANGES_FOLDER = word_set("cd pushd")


def line_folder(script: Script, cwd: str) -> Folder:
    """The folder that relative paths of the line are certain to start at or below."""
    for call in script.calls:
        words = call.words
        if words and words[0] in CHANGES_FOLDER and (len(words) != 2 or not _is_subfolder(words[1], cwd)):
            return None
    return cwd


def entered_folders(script: Script) -> list[str]:
    """The folders that the line changes to, as written; the home for `cd` alone."""
    return [
        call.words[1] if len(call.words) > 1 else "~"
        for call in script.calls
        if call.words and call.words[0] in CHANGES_FOLDER
    ]


def call_folder(call: Call, folder: Folder) -> Folder:
    """The folder that a call of the line works in: `find -exec` runs it on files below the folders it starts in."""
    if call.outer and call.outer[0].rpartition("/")[2] in ("find", "gfind"):
        words = dropwhile(lambda word: word in _FOLLOWS_LINKS or word[:2] == "-O", call.outer[1:])
        starts = takewhile(lambda word: word[:1] not in ("-", "(", "!"), words)
        return folder if all(is_inside(word, folder) for word in starts) else None
    return folder


_FOLLOWS_LINKS = word_set("-H -L -P")
"""Options of `find` in front of the folders that it starts in."""


def _is_subfolder(path: str, cwd: str) -> bool:
    """True for a folder of the project that holds its own code: not a hidden one, and none of other people's."""
    return is_inside(path, cwd) and not any(
        part in _FOREIGN or (part[:1] == "." and part != ".") for part in path.removeprefix(cwd).split("/")
    )


_FOREIGN = word_set("node_modules vendor third_party site-packages")
