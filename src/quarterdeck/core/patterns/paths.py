"""Patterns over files: where they start, and what they match below that place."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from quarterdeck.core.patterns.glob_overlap import BRACES
from quarterdeck.core.patterns.globs import PathGlob, folded, plain
from quarterdeck.errors import BadPattern

PARTS = 64
"""How many parts a pattern's path may have."""

_UNESCAPED = re.compile(r"(?<!\\)(?:\\\\)*([\[\]{}])")


class Base(StrEnum):
    ROOT = "root"
    HOME = "home"
    PROJECT = "project"
    CWD = "cwd"


class Files(Struct, frozen=True):
    """Files below a place. `prefix` are the leading parts without a wildcard, as an index finds them."""

    base: Base
    parts: tuple[str, ...]
    prefix: str
    glob: PathGlob
    folded: PathGlob


def has_wildcard(path: str) -> bool:
    """Whether the shell may make another path out of this one."""
    if "*" in path or "?" in path or "[" in path:
        return True
    return "{" in path and BRACES.search(path) is not None


def read_files(tool: str, scope: str) -> Files:
    """`//etc/**` from the root, `~/x` from the home, `/x` from the project's folder, `x/y` and `./x` from where the
    session is, and a lone name like `*.env` at any depth below that, as git reads it."""
    base, rest = _base(scope)
    parts = [part for part in rest.split("/") if part not in ("", ".")]
    if rest.endswith("/") and parts:
        parts.append("**")
    _check(tool, scope, base, parts)
    if base is Base.CWD and len(parts) == 1 and "/" not in scope:
        parts.insert(0, "**")
    return Files(base, tuple(parts), _prefix(parts), PathGlob(parts), PathGlob([folded(part) for part in parts]))


def _base(path: str) -> tuple[Base, str]:
    if path.startswith("//"):
        return Base.ROOT, path[2:]
    if path == "~" or path.startswith("~/"):
        return Base.HOME, path[2:]
    if path.startswith("/"):
        return Base.PROJECT, path[1:]
    return Base.CWD, path


def _check(tool: str, scope: str, base: Base, parts: list[str]) -> None:
    wrong = f"{tool}({scope}): "
    if scope.startswith("file_path:") or scope.startswith("path:"):
        raise BadPattern(f"{wrong}write the path alone, {tool}({scope.partition(':')[2]})")
    if scope != scope.strip():
        raise BadPattern(f"{wrong}begins or ends with a blank; write it without, or use a folder and *")
    if ".." in parts:
        raise BadPattern(f"{wrong}a path must not go up with ..; write it from the root, {tool}(//folder/**)")
    if scope.startswith("!"):
        raise BadPattern(f"{wrong}a pattern takes nothing back; write a deny rule for what is meant")
    if scope.startswith("~") and base is not Base.HOME:
        raise BadPattern(f"{wrong}only one's own home is known; write {tool}(~/…) or {tool}(//home/name/…)")
    if found := _UNESCAPED.search(scope):
        sign = found[1]
        raise BadPattern(f"{wrong}{sign} has no meaning here; write \\{sign} for the sign itself, or one rule for each")
    if not parts and base is not Base.HOME:
        raise BadPattern(f"{wrong}names no file; write {tool}(src/**), or {tool} for every file")
    if len(parts) > PARTS:
        raise BadPattern(f"{wrong}more than {PARTS} folders deep; write a folder further up and **")


def _prefix(parts: list[str]) -> str:
    known: list[str] = []
    for part in parts:
        text = plain(part)
        if text is None:
            break
        known.append(folded(text))
    return "/".join(known)
