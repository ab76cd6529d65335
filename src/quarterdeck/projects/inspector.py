"""Reads one project folder: its files and git's facts, which are cached until something may have changed."""

from __future__ import annotations

import os
import time

from msgspec import Struct

from quarterdeck.core.workspace.projects import GitFacts, Project
from quarterdeck.projects.git_read import GitReader, Mark, Repository, repository_above
from quarterdeck.projects.scanner import AGENT_FOLDERS, is_folder

STALE_SECONDS = 60.0
"""How long git's status of a work tree is used if git itself did nothing there: files may change without a sign."""

# Twice the projects of a scan: only folders that are gone pile up.
MAX_KEPT = 10_000


class CachedStatus(Struct, frozen=True):
    """Git's facts about a repository, their time, and the repository's mark then."""

    mark: Mark
    at: float
    facts: GitFacts


class Inspector:
    """Reads folders, from several threads at once."""

    def __init__(self, git: GitReader | None = None) -> None:
        self._git = git or GitReader()
        self._cache: dict[str, CachedStatus] = {}  # git takes long, and most of many folders have not changed

    def inspect(
        self, folder: str, touched_at: float = 0.0, *, refresh: bool = False, changed_only: bool = False
    ) -> Project | None:
        """The project in a folder; None if it is gone. `touched_at` is the time of an agent's last activity in it.
        `refresh` asks git in any case; `changed_only` asks only if something was done there, however old the facts
        are."""
        try:
            times = [os.lstat(folder).st_mtime]
        except OSError:
            return None
        repository = repository_above(folder)
        status = (
            self._cached_status(repository, touched_at, refresh, changed_only)
            if isinstance(repository, Repository)
            else None
        )
        if status is not None:
            times += [mtime / 1e9 for mtime, _, _ in status.mark]
        facts = GitFacts(trouble=repository) if isinstance(repository, str) else status.facts if status else None
        return Project(
            path=folder,
            has_agent_config=any(is_folder(f"{folder}/{name}") for name in AGENT_FOLDERS),
            last_modified=max(times),
            git=facts,
            checked_at=status.at if status else time.time(),
        )

    def _cached_status(
        self, repository: Repository, touched_at: float, refresh: bool, changed_only: bool
    ) -> CachedStatus:
        mark, now = repository.mark(), time.time()
        kept = self._cache.get(repository.folder)
        fresh = kept is not None and (changed_only or 0 <= now - kept.at < STALE_SECONDS)
        if kept and fresh and not refresh and kept.mark == mark and kept.at > touched_at:
            return kept
        if len(self._cache) >= MAX_KEPT:
            self._cache.clear()
        status = CachedStatus(mark, now, self._git.facts(repository))
        self._cache[repository.folder] = status
        return status
