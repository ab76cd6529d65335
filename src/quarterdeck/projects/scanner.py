"""Finds project folders: by names alone, within limits, and without following a link."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from quarterdeck.agents.registry import AGENTS

AGENT_FOLDERS = frozenset(agent.project_folder for agent in AGENTS.values()) - {""}
MARKS = frozenset({".git"}) | AGENT_FOLDERS


class ScanLimits(Struct, frozen=True, kw_only=True):
    """The limits of one scan: levels below a root, folders under a root, entries of a folder, and projects in all."""

    depth: int = 4
    folders: int = 50_000
    entries: int = 20_000
    projects: int = 5_000


STANDARD = ScanLimits()


class ScanResult(Struct, frozen=True, kw_only=True):
    """The project folders, in order of their paths; the folders `between` that were read on the way, the highest first;
    and notes about what was left out."""

    folders: tuple[str, ...]
    between: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Folder(Struct, frozen=True):
    path: str
    depth: int
    child: str
    """The root's direct child that contains this folder; empty for the root itself."""


def find_projects(
    roots: Sequence[str], exclude: Sequence[str], known: Iterable[str] = (), limits: ScanLimits = STANDARD
) -> ScanResult:
    """Find, under each root, every folder with a mark of a project, and every direct child without one deeper down.
    Folders that are already known are projects if they exist."""
    notes: list[str] = []
    found: dict[str, None] = {}
    between: list[_Folder] = []
    for root in roots:
        real = os.path.realpath(os.path.expanduser(root))  # noqa: PTH111 a plain string
        if os.path.isdir(real):  # noqa: PTH112 a plain string
            between += _scan_root(real, exclude, limits, found, notes)
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
    return ScanResult(folders=tuple(folders[: limits.projects]), between=tuple(passed), notes=tuple(notes))


def _scan_root(
    root: str, exclude: Sequence[str], limits: ScanLimits, found: dict[str, None], notes: list[str]
) -> list[_Folder]:
    """Add the projects under a root to `found`; returns the other folders that were read."""
    waiting = deque([_Folder(root, 0, "")])
    between: list[_Folder] = []
    plain: dict[str, None] = {}
    read = 0
    while waiting:
        place = waiting.popleft()
        read += 1
        if read > limits.folders:
            notes.append(f"{root}: has more than {limits.folders:,} folders, the deeper ones were left out")
            break
        below, marked = _subfolders(place.path, exclude, limits.entries)
        if marked:
            found[place.path] = None
            plain.pop(place.child, None)
            continue
        if place.depth == 1:
            plain[place.path] = None
        between.append(place)
        if place.depth < limits.depth:
            waiting += [_Folder(path, place.depth + 1, place.child or path) for path in below]
    found.update(plain)
    return between


def _subfolders(folder: str, exclude: Sequence[str], most: int) -> tuple[list[str], bool]:
    """The folders inside one that may hold projects, and True if it has a project's mark itself. Hidden folders count
    only if they have a mark."""
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
    return not entry.name.startswith(".") or is_folder(f"{entry.path}/.git")


def excluded(path: str, name: str, exclude: Sequence[str]) -> bool:
    """True if a pattern matches: one with a slash matches the whole path, any other the name."""
    return any(fnmatchcase(path if "/" in pattern else name, pattern) for pattern in exclude)


def real_folder(path: str) -> str:
    """A folder with every link followed; text that cannot be a path is returned as it is."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def is_folder(path: str) -> bool:
    """True for a folder itself, and false for a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
