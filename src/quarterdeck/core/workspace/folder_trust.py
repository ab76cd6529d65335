"""Trust in folders: the setting of the nearest folder at or above one counts, and each use needs a level."""

from __future__ import annotations

import posixpath as paths
from collections.abc import Mapping

NO_TRUST = "none"

LEVELS_NEEDED: Mapping[str, frozenset[str]] = {
    "rules": frozenset({"rules", "full"}),
    "sessions": frozenset({"full"}),
    "extensions": frozenset({"full"}),
}
"""The levels of trust that suffice for each use of a folder: allow rules of the project; sessions, which run the hooks
and programs that the project contains; plug-ins and MCP servers."""


def trust_at(trust: Mapping[str, str], folder: str) -> str | None:
    """The level of trust in a real folder; None when nobody has decided about it or a folder above it."""
    at = folder
    while at not in trust and paths.dirname(at) != at:
        at = paths.dirname(at)
    return trust.get(at)


def suffices(level: str | None, use: str) -> bool:
    """True when this level of trust is enough for this use."""
    return level in LEVELS_NEEDED[use]


def is_trusted(trust: Mapping[str, str], folder: str, use: str) -> bool:
    """True when a real folder is trusted enough for this use."""
    return suffices(trust_at(trust, folder), use)
