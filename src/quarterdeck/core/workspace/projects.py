"""Projects: a folder's id, its git facts, its past sessions, and the state of the scan for projects."""

from __future__ import annotations

import hashlib

from msgspec import Struct


def project_id_of(folder: str) -> str | None:
    """A stable id of a project's folder; None for an empty path."""
    return "p_" + hashlib.sha256(folder.encode(errors="surrogatepass")).hexdigest()[:16] if folder else None


class GitFacts(Struct, frozen=True, kw_only=True):
    """The facts that git reports of a folder. `is_dirty` is None when git failed, and `trouble` then says why; a
    `branch` of None is a detached head; `ahead` and `behind` are None without an upstream."""

    remote: str | None = None
    branch: str | None = None
    is_dirty: bool | None = None
    ahead: int | None = None
    behind: int | None = None
    worktree_of: str | None = None
    trouble: str | None = None


class Project(Struct, frozen=True, kw_only=True):
    """One folder found by a scan; `checked_at` is when git was run for it."""

    path: str
    has_agent_config: bool
    last_modified: float
    git: GitFacts | None = None
    checked_at: float = 0.0


class PastSession(Struct, frozen=True, kw_only=True):
    """A conversation of a project that can be resumed, and the name of its agent."""

    session_id: str
    agent: str
    title: str
    last_used_at: float


class ProjectEntry(Struct, frozen=True, kw_only=True):
    """A project with its trust, its past conversations, and the number of live sessions."""

    project: Project
    trust: str
    past: tuple[PastSession, ...] = ()
    live: int = 0


class Scan(Struct, frozen=True, kw_only=True):
    """The state of the scan for projects: `never`, `running` or `done`. `notes` say what was left out, and why; `watch`
    says how changes are noticed: `off` before the first scan, `live`, `partly`, or by a `slow` scan now and then."""

    state: str = "never"
    done: int = 0
    total: int = 0
    started_at: float | None = None
    seconds: float | None = None
    notes: tuple[str, ...] = ()
    watch: str = "off"
