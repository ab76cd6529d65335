"""Worktrees for sessions: a branch and a folder of their own, compared with its base, merged into it or thrown away."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from quarterdeck.core.workspace.git_output import read_status
from quarterdeck.core.workspace.worktree_output import (
    PREFIX,
    Listed,
    branch_of,
    folder_name,
    read_changes,
    read_names,
    read_worktrees,
)
from quarterdeck.core.workspace.worktrees import Difference, Worktree
from quarterdeck.errors import Refused
from quarterdeck.projects.git_read import Repository, repository_at
from quarterdeck.projects.git_write import GitWork

T = TypeVar("T")

MAX_DIFF = 1024 * 1024
MAX_NAMES = 256 * 1024
MAX_SAID = 10
BASE, SESSION = "quarterdeckbase", "quarterdecksession"
"""Settings of the branch, which git takes away with it."""


class Worktrees:
    """Those in one folder of ours, of any project. A call raises Refused, and has then changed nothing."""

    def __init__(self, folder: Path, git: GitWork | None = None) -> None:
        self._folder = folder
        self._git = git or GitWork()
        self._one = asyncio.Lock()

    async def create(self, project: str, session_id: str, base: str | None = None) -> Worktree:
        """A fresh one on a new branch, from a branch of the project: the one that is checked out, if none is named."""
        return await self._alone(lambda: self._create(project, session_id, base))

    async def of(self, project: str) -> list[Worktree]:
        """Those of one project."""
        return await asyncio.to_thread(self._of, project)

    async def diff(self, worktree: Worktree, limit: int = MAX_DIFF) -> Difference:
        return await asyncio.to_thread(self._diff, worktree, limit)

    async def merge(self, worktree: Worktree) -> None:
        """Bring its commits into its base, where that is checked out. What does not go together is left as it was."""
        await self._alone(lambda: self._merge(worktree))

    async def discard(self, worktree: Worktree, *, force: bool = False) -> None:
        """Take folder and branch away. Work that is nowhere else is only thrown away when forced."""
        await self._alone(lambda: self._discard(worktree, force=force))

    async def _alone(self, work: Callable[[], T]) -> T:
        async with self._one:
            return await asyncio.to_thread(work)

    def _create(self, project: str, session_id: str, base: str | None) -> Worktree:
        repository = _repository(project)
        base = base or self._checked_out(repository)
        tip = self._tip(repository, base)
        branch, path = branch_of(session_id), self._folder / folder_name(project, session_id)
        if path.exists():
            raise Refused(f"{path}: is there already; discard that worktree first")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._git.ask(repository, "worktree", "add", "--quiet", "--no-checkout", "-b", branch, "--", str(path), tip)
        made = Worktree(
            project=project, path=str(path), branch=branch, base=base, session_id=session_id, is_dirty=False, ahead=0
        )
        try:
            self._git.ask(repository, "config", "--local", f"branch.{branch}.{BASE}", base)
            self._git.ask(repository, "config", "--local", f"branch.{branch}.{SESSION}", session_id)
            self._git.ask(_repository(str(path)), "reset", "--quiet", "--hard")
        except BaseException:
            with contextlib.suppress(Refused):
                self._remove(repository, made)
            raise
        return made

    def _checked_out(self, repository: Repository) -> str:
        said = self._git.call(repository, "symbolic-ref", "--quiet", "--short", "HEAD")
        if said.cut or said.code:
            raise Refused(f"{repository.folder}: no branch is checked out; name the base")
        return said.out.decode(errors="surrogateescape").strip()

    def _tip(self, repository: Repository, branch: str) -> str:
        """The commit of a branch of exactly that name."""
        said = self._git.call(repository, "show-ref", "--verify", "--hash", "--", f"refs/heads/{branch}")
        if said.cut or said.code:
            raise Refused(f"{branch}: is no branch of {repository.folder} with a commit; choose another base")
        return said.out.decode().strip()

    def _of(self, project: str) -> list[Worktree]:
        repository = _repository(project)
        settings = self._git.settings(repository)
        found = []
        for listed in self._worktrees(repository):
            if listed.branch is None or not listed.branch.startswith(PREFIX) or not self._is_ours(listed.path):
                continue
            known = {name: settings.get(f"branch.{listed.branch}.{name}", "") for name in (BASE, SESSION)}
            found.append(self._described(project, repository, listed, known[BASE], known[SESSION]))
        return found

    def _worktrees(self, repository: Repository) -> list[Listed]:
        return read_worktrees(self._git.ask(repository, "worktree", "list", "--porcelain", "-z"))

    def _is_ours(self, path: str) -> bool:
        """Whether it is right in our folder: what a repository names may lie anywhere."""
        return os.path.realpath(path) == str(self._folder.resolve() / Path(path).name)

    def _described(self, project: str, repository: Repository, listed: Listed, base: str, session_id: str) -> Worktree:
        branch = listed.branch or ""
        known = Worktree(project=project, path=listed.path, branch=branch, base=base, session_id=session_id)
        try:
            ahead, behind = self._distance(repository, base, branch)
            dirty = self._is_dirty(_worktree_of(listed.path, repository))
        except Refused as refused:
            return replace(known, trouble=str(refused))
        return replace(known, is_dirty=dirty, ahead=ahead, behind=behind)

    def _distance(self, repository: Repository, base: str, branch: str) -> tuple[int, int]:
        between = f"{self._tip(repository, branch)}...{self._tip(repository, base)}"
        ahead, behind = self._git.ask(repository, "rev-list", "--left-right", "--count", between, "--").split()
        return int(ahead), int(behind)

    def _is_dirty(self, repository: Repository, untracked: str = "normal") -> bool:
        words = ("--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=all")
        said = self._git.ask(repository, "status", *words, f"--untracked-files={untracked}", "--")
        return bool(read_status(said).is_dirty)

    def _diff(self, worktree: Worktree, limit: int) -> Difference:
        project = _repository(worktree.project)
        here = self._checked(worktree, project)
        tips = (self._tip(project, worktree.base), self._tip(project, worktree.branch))
        since = self._git.ask(project, "merge-base", *tips, "--").decode().strip()
        plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all")
        said = self._git.call(here, "diff", *plain, since, "--", limit=limit)
        if said.code and not said.cut:
            raise Refused(f"git diff: {said.err.decode(errors='replace').strip()[-300:]}")
        counts = self._git.call(here, "diff", *plain, "--numstat", "-z", since, "--", limit=MAX_NAMES)
        others = self._git.call(here, "ls-files", "--others", "--exclude-standard", "-z", "--", limit=MAX_NAMES)
        return Difference(
            text=said.out[:limit].decode(errors="replace"),
            is_cut=bool(said.cut or counts.cut or others.cut),
            files=tuple(read_changes(counts.out)),
            untracked=tuple(read_names(others.out)),
        )

    def _checked(self, worktree: Worktree, project: Repository) -> Repository:
        """The worktree itself, if it is one of ours and of that project."""
        if not self._is_ours(worktree.path) or not worktree.branch.startswith(PREFIX):
            raise Refused(f"{worktree.path}: is no worktree of ours")
        return _worktree_of(worktree.path, project)

    def _merge(self, worktree: Worktree) -> None:
        project = _repository(worktree.project)
        if self._is_dirty(self._checked(worktree, project)):
            raise Refused(f"{worktree.path}: has changes that are not committed; commit them, then merge")
        target = self._where(project, worktree.base)
        if self._is_dirty(target, untracked="no"):
            raise Refused(f"{target.folder}: has changes that are not committed; commit them, then merge")
        before = self._tip(project, worktree.base)
        tip = self._tip(project, worktree.branch)
        words = ("--ff", "--no-edit", "--no-gpg-sign", "--no-verify", "--no-stat", "-m", f"Merge {worktree.branch}")
        said = self._git.call(target, "merge", "--quiet", *words, tip)
        if said.cut or said.code:
            self._give_up(target, worktree, before, said.err or said.out)

    def _where(self, project: Repository, branch: str) -> Repository:
        """The work tree of the project in which a branch is checked out."""
        self._tip(project, branch)
        for listed in self._worktrees(project):
            if listed.branch == branch:
                return _worktree_of(listed.path, project)
        raise Refused(f"{branch}: is checked out nowhere; check it out in {project.folder}, then merge")

    def _give_up(self, target: Repository, worktree: Worktree, before: str, said: bytes) -> None:
        """Leave the base as it was, and say why."""
        left = self._git.call(target, "diff", "--name-only", "--diff-filter=U", "-z", "--", limit=MAX_NAMES)
        files = list(dict.fromkeys(read_names(left.out)))
        self._git.call(target, "merge", "--abort")
        if self._tip(target, worktree.base) != before or self._is_dirty(target, untracked="no"):
            raise Refused(f"{target.folder}: a merge was begun and not taken back; run git merge --abort there")
        if files:
            more = f" and {len(files) - MAX_SAID} more" if len(files) > MAX_SAID else ""
            names = ", ".join(files[:MAX_SAID])
            raise Refused(f"{worktree.branch} and {worktree.base} both changed {names}{more}; merge them by hand")
        raise Refused(f"git merge: {said.decode(errors='replace').strip()[-300:]}")

    def _discard(self, worktree: Worktree, *, force: bool) -> None:
        project = _repository(worktree.project)
        here = self._checked(worktree, project)
        if not force and self._is_dirty(here):
            raise Refused(f"{worktree.path}: has changes that are not committed; commit them, or use --force")
        if not force and (ahead := self._distance(project, worktree.base, worktree.branch)[0]):
            raise Refused(f"{worktree.branch}: {ahead} commits are not in {worktree.base}; merge them, or use --force")
        self._remove(project, worktree)

    def _remove(self, project: Repository, worktree: Worktree) -> None:
        self._git.ask(project, "worktree", "remove", "--force", "--", worktree.path)
        self._git.ask(project, "branch", "--quiet", "-D", "--", worktree.branch)


def _repository(folder: str) -> Repository:
    found = repository_at(folder)
    if not isinstance(found, Repository):
        raise Refused(f"{folder}: {found or 'is no git repository; choose a folder with a .git'}")
    return found


def _worktree_of(path: str, project: Repository) -> Repository:
    """A work tree that belongs to this very repository."""
    found = _repository(path)
    if os.path.realpath(found.common) != os.path.realpath(project.common):
        raise Refused(f"{path}: is no worktree of {project.folder}")
    return found
