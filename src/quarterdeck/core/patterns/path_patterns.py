"""Patterns over files: the folder they start at, and the paths they match below it."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from quarterdeck.core.patterns.glob_overlap import BRACES
from quarterdeck.core.patterns.globs import PathGlob, folded, plain
from quarterdeck.errors import BadPattern

MAX_PARTS = 64
"""Parts that the path of a pattern may have."""

_UNESCAPED = re.compile(r"(?<!\\)(?:\\\\)*([\[\]{}])")


class PathBase(StrEnum):
    ROOT = "root"
    HOME = "home"
    PROJECT = "project"
    CWD = "cwd"


class PathPattern(Struct, frozen=True):
    """Files below a base folder. `prefix`: the leading parts without a wildcard, which an index looks up."""

    base: PathBase
    parts: tuple[str, ...]
    prefix: str
    glob: PathGlob
    folded: PathGlob


def has_wildcard(path: str) -> bool:
    """True if the shell may expand this path to others."""
    if "*" in path or "?" in path or "[" in path:
        return True
    return "{" in path and BRACES.search(path) is not None


def read_path_pattern(tool: str, scope: str) -> PathPattern:
    """Read a path pattern: `//etc/**` from the root, `~/x` from home, `/x` from the project folder, `x/y` and `./x`
    from the working folder, and a lone name like `*.env` at any depth below that, as git reads it."""
    base, rest = _base(scope)
    parts = [part for part in rest.split("/") if part not in ("", ".")]
    if rest.endswith("/") and parts:
        parts.append("**")
    _check(tool, scope, base, parts)
    if base is PathBase.CWD and len(parts) == 1 and "/" not in scope:
        parts.insert(0, "**")
    return PathPattern(base, tuple(parts), _prefix(parts), PathGlob(parts), PathGlob([folded(part) for part in parts]))


def _base(path: str) -> tuple[PathBase, str]:
    if path.startswith("//"):
        return PathBase.ROOT, path[2:]
    if path == "~" or path.startswith("~/"):
        return PathBase.HOME, path[2:]
    if path.startswith("/"):
        return PathBase.PROJECT, path[1:]
    return PathBase.CWD, path


def _check(tool: str, scope: str, base: PathBase, parts: list[str]) -> None:
    label = f"{tool}({scope}): "
    if scope.startswith("file_path:") or scope.startswith("path:"):
        raise BadPattern(f"{label}write the path alone, {tool}({scope.partition(':')[2]})")
    if scope != scope.strip():
        raise BadPattern(f"{label}begins or ends with a blank; write it without, or use a folder and *")
    if ".." in parts:
        raise BadPattern(f"{label}a path must not go up with ..; write it from the root, {tool}(//folder/**)")
    if scope.startswith("!"):
        raise BadPattern(f"{label}a pattern cannot exclude files; write a deny rule for them")
    if scope.startswith("~") and base is not PathBase.HOME:
        raise BadPattern(f"{label}only your own home folder is known; write {tool}(~/…) or {tool}(//home/name/…)")
    if match := _UNESCAPED.search(scope):
        sign = match[1]
        raise BadPattern(f"{label}{sign} has no meaning here; write \\{sign} for the sign itself, or one rule for each")
    if not parts and base is not PathBase.HOME:
        raise BadPattern(f"{label}names no file; write {tool}(src/**), or {tool} for every file")
    if len(parts) > MAX_PARTS:
        raise BadPattern(f"{label}more than {MAX_PARTS} folders deep; write a folder further up and **")


def _prefix(parts: list[str]) -> str:
    prefix: list[str] = []
    for part in parts:
        text = plain(part)
        if text is None:
            break
        prefix.append(folded(text))
    return "/".join(prefix)
