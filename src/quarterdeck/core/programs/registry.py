"""The programs with a grammar, by name. A grammar is read when its program first occurs."""

from __future__ import annotations

import re

from quarterdeck.core.programs.grammar import Command, read_command, read_rows
from quarterdeck.core.programs.tables import (
    builds,
    cloud,
    containers,
    databases,
    files,
    filters,
    forges,
    git,
    javascript,
    network,
    python,
    system,
)

_FAMILIES = (builds, cloud, containers, databases, files, filters, forges, git, javascript, network, python, system)
_ROWS = {name: rows for family in _FAMILIES for name, rows in read_rows(family.ROWS, family.SHARED).items()}

SAME_AS = {
    "py.test": "pytest",
    "pip3": "pip",
    "podman": "docker",
    "nerdctl": "docker",
    "k": "kubectl",
    "oc": "kubectl",
    "microk8s.kubectl": "kubectl",
    "tofu": "terraform",
    "terragrunt": "terraform",
    "[": "test",
}
_VERSION = re.compile(r"-?[0-9][0-9.]*\Z")
_UNREAD = Command(("",))
_read: dict[str, Command | None] = {}


def program(name: str) -> Command | None:
    """The grammar of the program that a command names, also by its path or with a version; None if it has none."""
    found = _read.get(name, _UNREAD)
    return _find(name) if found is _UNREAD else found


def _find(name: str) -> Command | None:
    base = name.rpartition("/")[2]
    known = base if base in _ROWS or base in SAME_AS else _VERSION.sub("", base)
    known = SAME_AS.get(known, known)
    found: Command | None = None
    if name == known and known in _ROWS:
        found = read_command(_ROWS[known])
    elif known in _ROWS:
        found = program(known)
    if (name == known and known in _ROWS) or len(_read) < MAX_NAMES:
        _read[name] = found
    return found


MAX_NAMES = 4000
"""Names that are kept: those of programs, their paths and versions, and of as many others."""


def known_programs() -> frozenset[str]:
    """The names of all programs with a grammar. Modules of Python itself are called `py:json.tool`."""
    return frozenset(_ROWS) | SAME_AS.keys()
