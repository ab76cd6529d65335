"""What `qd uninstall` leaves for running sessions, which still call: the digests of removed hook tokens for a while,
and a mark that no agent is connected."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from quarterdeck.system.private_files import write_private

FILE = "removed-hook-tokens.json"
DISCONNECTED = "disconnected"
"""The file that says so. Hooks that are commands carry no token that could be refused."""
KEPT_SECONDS = 7 * 86400.0
"""Longer than a session usually runs without `/reload-plugins`. A token that was replaced or revoked is not kept: its
owner wants it refused."""


def keep_removed(home: Path, token: str, now: float) -> None:
    """Keep the digest of a token that an uninstall removes."""
    kept = {**_read(home, now), hashlib.sha256(token.encode()).hexdigest(): now}
    write_private(home / FILE, json.dumps(kept))


def removed_digests(home: Path, now: float) -> frozenset[str]:
    """The digests that are kept at this time; none when they cannot be read."""
    return frozenset(_read(home, now))


def mark_disconnected(home: Path) -> None:
    """Mark that no agent is connected: sessions that began before are not recorded and not decided any more."""
    write_private(home / DISCONNECTED, "")


def mark_connected(home: Path) -> None:
    (home / DISCONNECTED).unlink(missing_ok=True)


def is_disconnected(home: Path) -> bool:
    return (home / DISCONNECTED).exists()


def _read(home: Path, now: float) -> dict[str, float]:
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
        found = json.loads((home / FILE).read_text(encoding="utf-8"))
        return {str(digest): float(at) for digest, at in found.items() if now - KEPT_SECONDS < float(at) <= now}
    return {}
