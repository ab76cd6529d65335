"""Share policies for tests: who is in which folder, and what that shares."""

from __future__ import annotations

from quarterdeck.daemon.link.outgoing.share_policy import SharePolicy
from quarterdeck.link.redaction.secret_remover import SecretRemover
from quarterdeck.link.redaction.share_levels import ShareLevels

FOLDERS = {"open": "/open", "titles": "/titles", "closed": "/closed"}
LEVELS = {"/titles": "titles", "/closed": "nothing"}


def policy(default: str = "everything", *, folders: bool = True) -> SharePolicy:
    """Sessions `open`, `titles` and `closed`, each in a folder of that name and level; `of-X` is a request of X."""
    levels = ShareLevels(default, LEVELS if folders else {})
    return SharePolicy(levels, SecretRemover(), lambda s: FOLDERS.get(s, ""), lambda r: r.removeprefix("of-"))
