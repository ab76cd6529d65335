"""Files that a shell line plainly names, so that a rule which denies a file counts for the shell too. What a program
opens by itself nobody sees here: this stops the plain ways, and no rule allows anything by it."""

from __future__ import annotations

from collections.abc import Iterator

from quarterdeck.core.shell import Call, Script
from quarterdeck.core.subject import Subject

READING = frozenset(
    {
        *(
            ".",
            "awk",
            "base64",
            "bat",
            "cat",
            "cmp",
            "comm",
            "cp",
            "cut",
            "diff",
            "egrep",
            "fgrep",
            "grep",
            "gzip",
            "head",
        ),
        *("hexdump", "jq", "less", "ln", "more", "mv", "nl", "od", "paste", "rev", "rg", "rsync", "scp", "sed", "sort"),
        *("source", "split", "strings", "tac", "tail", "tar", "tee", "uniq", "wc", "xxd", "yq", "zcat", "zip"),
    }
)
"""Programs that show or copy what is in the files they are given."""

CHANGING = frozenset(
    {
        *(
            "chmod",
            "chown",
            "cp",
            "dd",
            "ed",
            "install",
            "ln",
            "mv",
            "patch",
            "rm",
            "rmdir",
            "rsync",
            "scp",
            "shred",
            "tee",
        ),
        *("touch", "truncate", "unlink"),
    }
)
"""Programs that change, make or take away the files they are given."""

_EDITS = CHANGING | {"sed", "perl"}
_KNOWN = READING | _EDITS
_NONE: frozenset[str] = frozenset()
# The programs to look at, by whether reads and edits matter.
_CONCERNED = {(False, False): _NONE, (True, False): READING, (False, True): _EDITS, (True, True): _KNOWN}

MOST = 200
"""How many words of a line are looked at."""


def files_named(subject: Subject, script: Script, tools: frozenset[str]) -> tuple[Subject, ...]:
    """A use of one of these tools, Read or Edit, for each file that the line names, from where the session is."""
    concerned = _CONCERNED["Read" in tools, "Edit" in tools]
    names = [call.words[0].rpartition("/")[2] for call in script.calls if call.words]
    if not script.writes and concerned.isdisjoint(names):
        return ()
    found = dict.fromkeys(("Edit", target) for target in script.writes[:MOST])
    for call in script.calls:
        if call.words and call.words[0].rpartition("/")[2] in _KNOWN and len(found) <= MOST:
            found.update(dict.fromkeys(_named(call)))
    return tuple(_as_file(subject, tool, path) for tool, path in list(found)[:MOST] if tool in tools)


def _named(call: Call) -> Iterator[tuple[str, str]]:
    name = call.words[0].rpartition("/")[2]
    in_place = name in ("sed", "perl") and any(word.startswith(("-i", "--in-place")) for word in call.words)
    for word in call.words[1 : MOST + 1]:
        if not word or word.startswith("-"):
            continue
        path = word.partition("=")[2] if name == "dd" else word
        if name in READING:
            yield "Read", path
        if name in CHANGING or in_place:
            yield "Edit", path


def _as_file(subject: Subject, tool: str, path: str) -> Subject:
    return Subject(
        tool_name=tool,
        tool_input={"file_path": path},
        session_id=subject.session_id,
        cwd=subject.cwd,
        home=subject.home,
        case_folds=subject.case_folds,
    )
