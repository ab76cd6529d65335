"""One folder looked at: what is there, and what git says, asked again only when something may have changed."""

from __future__ import annotations

import os
import stat
import time

from msgspec import Struct

from quarterdeck.core.workspace.projects import GitFacts, Project
from quarterdeck.projects.git_read import Git, Mark, Repository, repository_above

STALE_SECONDS = 60.0
"""How long git's word on the files of a work tree holds, when git itself did nothing there."""

MAX_KEPT = 10_000


class Asked(Struct, frozen=True):
    """What git said of a repository, when, and the mark that it bore then."""

    mark: Mark
    at: float
    facts: GitFacts


class Inspector:
    """Looks at folders, from several threads at once."""

    def __init__(self, git: Git | None = None) -> None:
        self._git = git or Git()
        self._asked: dict[str, Asked] = {}

    def inspect(
        self, folder: str, touched_at: float = 0.0, *, anew: bool = False, patient: bool = False
    ) -> Project | None:
        """The project in a folder, None when it is gone. `touched_at` is when an agent last did something in it;
        `anew` asks git in any case, `patient` only when something was done there, however long ago it was asked."""
        try:
            times = [os.lstat(folder).st_mtime]
        except OSError:
            return None
        repository = repository_above(folder)
        asked = self._ask(repository, touched_at, anew, patient) if isinstance(repository, Repository) else None
        if asked is not None:
            times += [mtime / 1e9 for mtime, _, _ in asked.mark]
        facts = GitFacts(trouble=repository) if isinstance(repository, str) else asked.facts if asked else None
        return Project(
            path=folder,
            has_claude_config=_is_folder(f"{folder}/.claude"),
            last_modified=max(times),
            git=facts,
            checked_at=asked.at if asked else time.time(),
        )

    def _ask(self, repository: Repository, touched_at: float, anew: bool, patient: bool) -> Asked:
        mark, now = repository.mark(), time.time()
        kept = self._asked.get(repository.folder)
        fresh = kept is not None and (patient or 0 <= now - kept.at < STALE_SECONDS)
        if kept and fresh and not anew and kept.mark == mark and kept.at > touched_at:
            return kept
        if len(self._asked) >= MAX_KEPT:
            self._asked.clear()
        asked = Asked(mark, now, self._git.facts(repository))
        self._asked[repository.folder] = asked
        return asked


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
