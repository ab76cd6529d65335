"""Projects: which one a folder is, what is known of it, and how far a look for them has come."""

from __future__ import annotations

import hashlib
import posixpath as paths
from collections.abc import Mapping

from msgspec import Struct


def project_id_of(folder: str) -> str | None:
    """The same id for the same folder."""
    return "p_" + hashlib.sha256(folder.encode(errors="surrogatepass")).hexdigest()[:16] if folder else None


def is_trusted(trust: Mapping[str, str], folder: str) -> bool:
    """Whether a folder is trusted in full: what is said of the nearest folder above counts."""
    at = folder
    while at not in trust and paths.dirname(at) != at:
        at = paths.dirname(at)
    return trust.get(at) == "full"


class GitFacts(Struct, frozen=True, kw_only=True):
    """What git says of a folder. `is_dirty` is None when it could not say, and `trouble` then says why; a `branch` of
    None is a detached head; `ahead` and `behind` are None without an upstream."""

    remote: str | None = None
    branch: str | None = None
    is_dirty: bool | None = None
    ahead: int | None = None
    behind: int | None = None
    worktree_of: str | None = None
    trouble: str | None = None


class Project(Struct, frozen=True, kw_only=True):
    """One folder as a look found it; `checked_at` is when git was asked."""

    path: str
    has_claude_config: bool
    last_modified: float
    git: GitFacts | None = None
    checked_at: float = 0.0


class PastSession(Struct, frozen=True, kw_only=True):
    """A conversation of a project that can be taken up again."""

    session_id: str
    title: str
    last_used_at: float


class Listed(Struct, frozen=True, kw_only=True):
    """A project with what the desk knows of it: its trust, its conversations, and how many are live."""

    project: Project
    trust: str
    past: tuple[PastSession, ...] = ()
    live: int = 0


class Scan(Struct, frozen=True, kw_only=True):
    """How far a look for projects has come: `never`, `running` or `done`. `notes` say what was left out, and why;
    `watch` how changes are seen: `off` before the first look, `live`, `partly` or by a `slow` look now and then."""

    state: str = "never"
    done: int = 0
    total: int = 0
    started_at: float | None = None
    seconds: float | None = None
    notes: tuple[str, ...] = ()
    watch: str = "off"
