"""Tells whether a path in the words of a command is in the project, from its text alone."""

from __future__ import annotations

import re

from quarterdeck.core.programs.grammar import NAMED, OUTSIDE, PROGRAM, SECRET, WRITE, Effects

Folder = str | None
"""The folder that a command runs in. Empty if only relative paths are certain to be in the project, None if none is,
because the line changes to another folder."""

_STREAMS = frozenset(("-", "/dev/null", "/dev/stdout", "/dev/stderr"))
_ELSEWHERE = frozenset("/~$\\")
_REPORT = re.compile(
    r"(?:.*/)?(?:build|dist|bin|out|outputs?|reports?|coverage|htmlcov|logs?|artifacts|results|test-results|tmp|temp)/[^/]+"
    r"(?:/[^/]+)*|(?:.*/)?[\w.-]+\.(?:log|out|lcov|prof|cov|csv|tfplan|plan)"
    r"|(?:.*/)?(?:junit|coverage|cobertura|reports?|results?|test-results?|tests|pytest|lint|bandit)[\w-]*"
    r"\.(?:xml|html|json|txt|info)"
    r"|(?:.*/)?(?:htmlcov|cov_html|coverage|reports?|test-results|allure-results)/?|(?:.*/)?[\w-]*tfplan[\w.-]*"
)
"""Where reports are written: a folder of outputs, or a name that says what it is."""
_TEMPORARY = re.compile(r"/tmp/[\w-][\w.-]*+(?:/[\w-][\w.-]*+)*+")  # noqa: S108
_PLAIN = re.compile(r"[A-Za-z0-9_][\w.-]*+(?:/[A-Za-z0-9_][\w.-]*+)*+")
"""A path that cannot lead elsewhere, which most are: this saves the longer test."""


def written(path: str, folder: Folder) -> Effects:
    """The effects of writing a file. Hidden files configure programs, so they count as outside of the project."""
    if path in _STREAMS:
        return 0
    rest = _inside(path, folder)
    if rest is None or any(part[:1] == "." and part != "." for part in rest.split("/")):
        return OUTSIDE
    return WRITE


def report(path: str, folder: Folder) -> Effects:
    """The effects of a report that the program writes, such as `--junitxml=build/junit.xml`: none in a usual place,
    where it overwrites nothing that a person wrote."""
    effects = written(path, folder)
    return 0 if effects == WRITE and _REPORT.fullmatch(path) else effects | NAMED


def passed_on(path: str, folder: Folder) -> Effects:
    """The effects of reading a file whose text is sent on or recorded: none in the project or for a temporary file."""
    if written(path, folder) & ~WRITE and not _TEMPORARY.fullmatch(path):
        return SECRET
    return 0


def run(path: str, folder: Folder) -> Effects:
    """The effects of running code, or reading configuration that names programs: none if it is the project's own."""
    return 0 if is_inside(path, folder) else PROGRAM


def is_inside(path: str, folder: Folder) -> bool:
    """True if the path is certainly the project's folder or below it."""
    return (folder is not None and _PLAIN.fullmatch(path) is not None) or _inside(path, folder) is not None


def _inside(path: str, folder: Folder) -> str | None:
    """The path below the folder; None if it may lead elsewhere."""
    if folder is None or not path:
        return None
    if folder and folder != "/" and (path == folder or path.startswith(folder + "/")):
        path = path[len(folder) + 1 :] or "."
    elif path[0] in _ELSEWHERE:
        return None
    if ":" in path.partition("/")[0] and not path.startswith(("./", ":")):  # may be a host
        path = path.partition("::")[0]
        if ":" in path:
            return None
    parts = path.split("/")
    if any(part[:2] == ".." or (part[:1] == "." and _is_open(part)) for part in parts):
        return None
    return path


def _is_open(part: str) -> bool:
    """True if the shell may expand a part to `..`."""
    return "*" in part or "?" in part or "[" in part
