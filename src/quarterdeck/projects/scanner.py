"""Which folders are projects: found by looking at names alone, within limits, and without following a link."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

MARKS = frozenset({".git", ".claude"})


class Limits(Struct, frozen=True, kw_only=True):
    """How far one look goes: levels below a root, folders under a root, entries of a folder, and projects in all."""

    depth: int = 4
    folders: int = 50_000
    entries: int = 20_000
    projects: int = 5_000


STANDARD = Limits()


class Found(Struct, frozen=True, kw_only=True):
    """The folders, in order of their paths; those that were looked into on the way, the highest first; and what was
    left out."""

    folders: tuple[str, ...]
    between: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Place(Struct, frozen=True):
    path: str
    depth: int
    child: str
    """The folder of the root that this is in; empty for the root itself."""


def find(roots: Sequence[str], exclude: Sequence[str], known: Iterable[str] = (), limits: Limits = STANDARD) -> Found:
    """Under each root: every folder with a mark of a project, and every direct child that holds none deeper down.
    Folders that are known otherwise are projects when they exist."""
    notes: list[str] = []
    found: dict[str, None] = {}
    between: list[_Place] = []
    for root in roots:
        real = os.path.realpath(os.path.expanduser(root))  # noqa: PTH111 a plain string
        if os.path.isdir(real):  # noqa: PTH112 a plain string
            between += _look_under(real, exclude, limits, found, notes)
        else:
            notes.append(f"projects.roots: {root} is not a folder")
    for folder in known:
        real = real_folder(folder)
        if folder.startswith("/") and os.path.isdir(real):  # noqa: PTH112 a plain string
            found[real] = None
    folders = sorted(found)
    if len(folders) > limits.projects:
        notes.append(f"only the first {limits.projects:,} of {len(folders):,} projects are shown; name narrower roots")
    passed = [place.path for place in sorted(between, key=lambda place: place.depth)]
    return Found(folders=tuple(folders[: limits.projects]), between=tuple(passed), notes=tuple(notes))


def _look_under(
    root: str, exclude: Sequence[str], limits: Limits, found: dict[str, None], notes: list[str]
) -> list[_Place]:
    """Adds to what was found, and tells where else it looked."""
    waiting = deque([_Place(root, 0, "")])
    between: list[_Place] = []
    plain: dict[str, None] = {}
    looked = 0
    while waiting:
        place = waiting.popleft()
        looked += 1
        if looked > limits.folders:
            notes.append(f"{root}: has more than {limits.folders:,} folders, the deeper ones were left out")
            break
        below, marked = _listed(place.path, exclude, limits.entries)
        if marked:
            found[place.path] = None
            plain.pop(place.child, None)
            continue
        if place.depth == 1:
            plain[place.path] = None
        between.append(place)
        if place.depth < limits.depth:
            waiting += [_Place(path, place.depth + 1, place.child or path) for path in below]
    found.update(plain)
    return between


def _listed(folder: str, exclude: Sequence[str], most: int) -> tuple[list[str], bool]:
    """The folders in one that may hold projects, and whether it bears the mark of one. Of what is hidden only marked
    folders count."""
    below: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if entry.name in MARKS:
                    return [], True
                if number < most and _may_hold(entry, exclude):
                    below.append(entry.path)
    except OSError:
        return [], False
    return sorted(below), False


def _may_hold(entry: os.DirEntry[str], exclude: Sequence[str]) -> bool:
    try:
        if not entry.is_dir(follow_symlinks=False):
            return False
    except OSError:
        return False
    if excluded(entry.path, entry.name, exclude):
        return False
    return not entry.name.startswith(".") or _is_there(f"{entry.path}/.git")


def excluded(path: str, name: str, exclude: Sequence[str]) -> bool:
    """A pattern with a slash is about the whole path, any other about the name."""
    return any(fnmatchcase(path if "/" in pattern else name, pattern) for pattern in exclude)


def real_folder(path: str) -> str:
    """A folder with every link followed; a text that no folder can be called, as it is."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def _is_there(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
