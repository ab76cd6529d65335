"""Worktrees for sessions: each has its own branch and folder; it can be compared with its base, merged or discarded."""

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
    WorktreeEntry,
    branch_of,
    folder_name,
    read_changes,
    read_names,
    read_worktrees,
)
from quarterdeck.core.workspace.worktrees import Worktree, WorktreeDiff
from quarterdeck.errors import Refused
from quarterdeck.projects.git_read import Repository, repository_at
from quarterdeck.projects.git_write import GitWriter

T = TypeVar("T")

MAX_DIFF = 1024 * 1024
MAX_NAMES = 256 * 1024
MAX_NAMED_FILES = 10
BASE, SESSION = "quarterdeckbase", "quarterdecksession"
"""Settings of the branch, which git removes together with it."""


class Worktrees:
    """The worktrees in Quarterdeck's folder, of every project. A call that raises Refused has changed nothing."""

    def __init__(self, folder: Path, git: GitWriter | None = None) -> None:
        self._folder = folder
        self._git = git or GitWriter()
        self._lock = asyncio.Lock()  # git refuses a second writer instead of waiting for the first

    async def create(self, project: str, session_id: str, base: str | None = None) -> Worktree:
        """Create a worktree on a new branch, from a branch of the project (default: the one that is checked out)."""
        return await self._exclusively(lambda: self._create(project, session_id, base))

    async def for_project(self, project: str) -> list[Worktree]:
        """The worktrees of one project."""
        return await asyncio.to_thread(self._of, project)

    async def diff(self, worktree: Worktree, limit: int = MAX_DIFF) -> WorktreeDiff:
        return await asyncio.to_thread(self._diff, worktree, limit)

    async def merge(self, worktree: Worktree) -> None:
        """Merge its commits into its base, where that is checked out. On a conflict the base stays as it was."""
        await self._exclusively(lambda: self._merge(worktree))

    async def discard(self, worktree: Worktree, *, force: bool = False) -> None:
        """Remove its folder and its branch. Changes that exist nowhere else are discarded only with `force`."""
        await self._exclusively(lambda: self._discard(worktree, force=force))

    async def _exclusively(self, work: Callable[[], T]) -> T:
        async with self._lock:
            return await asyncio.to_thread(work)

    def _create(self, project: str, session_id: str, base: str | None) -> Worktree:
        repository = _repository(project)
        base = base or self._checked_out(repository)
        tip = self._tip(repository, base)
        branch, path = branch_of(session_id), self._folder / folder_name(project, session_id)
        if path.exists():
            raise Refused(f"{path}: exists already; discard that worktree first")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._git.output(repository, "worktree", "add", "--quiet", "--no-checkout", "-b", branch, "--", str(path), tip)
        made = Worktree(
            project=project, path=str(path), branch=branch, base=base, session_id=session_id, is_dirty=False, ahead=0
        )
        try:
            self._git.output(repository, "config", "--local", f"branch.{branch}.{BASE}", base)
            self._git.output(repository, "config", "--local", f"branch.{branch}.{SESSION}", session_id)
            self._git.output(_repository(str(path)), "reset", "--quiet", "--hard")
        except BaseException:
            with contextlib.suppress(Refused):
                self._remove(repository, made)
            raise
        return made

    def _checked_out(self, repository: Repository) -> str:
        result = self._git.call(repository, "symbolic-ref", "--quiet", "--short", "HEAD")
        if result.cut or result.code:
            raise Refused(f"{repository.folder}: no branch is checked out; name the base")
        return result.out.decode(errors="surrogateescape").strip()

    def _tip(self, repository: Repository, branch: str) -> str:
        """The commit of a branch of exactly that name."""
        result = self._git.call(repository, "show-ref", "--verify", "--hash", "--", f"refs/heads/{branch}")
        if result.cut or result.code:
            raise Refused(f"{branch}: is not a branch of {repository.folder}, or has no commit; choose another base")
        return result.out.decode().strip()

    def _of(self, project: str) -> list[Worktree]:
        repository = _repository(project)
        settings = self._git.settings(repository)
        found = []
        for listed in self._worktrees(repository):
            if listed.branch is None or not listed.branch.startswith(PREFIX) or not self._is_in_folder(listed.path):
                continue
            known = {name: settings.get(f"branch.{listed.branch}.{name}", "") for name in (BASE, SESSION)}
            found.append(self._describe(project, repository, listed, known[BASE], known[SESSION]))
        return found

    def _worktrees(self, repository: Repository) -> list[WorktreeEntry]:
        return read_worktrees(self._git.output(repository, "worktree", "list", "--porcelain", "-z"))

    def _is_in_folder(self, path: str) -> bool:
        """True if it is directly in Quarterdeck's folder: a repository may name any path."""
        return os.path.realpath(path) == str(self._folder.resolve() / Path(path).name)

    def _describe(
        self, project: str, repository: Repository, listed: WorktreeEntry, base: str, session_id: str
    ) -> Worktree:
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
        ahead, behind = self._git.output(repository, "rev-list", "--left-right", "--count", between, "--").split()
        return int(ahead), int(behind)

    def _is_dirty(self, repository: Repository, untracked: str = "normal") -> bool:
        words = ("--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=all")
        status = self._git.output(repository, "status", *words, f"--untracked-files={untracked}", "--")
        return bool(read_status(status).is_dirty)

    def _diff(self, worktree: Worktree, limit: int) -> WorktreeDiff:
        project = _repository(worktree.project)
        here = self._checked(worktree, project)
        tips = (self._tip(project, worktree.base), self._tip(project, worktree.branch))
        since = self._git.output(project, "merge-base", *tips, "--").decode().strip()
        plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all")
        diff = self._git.call(here, "diff", *plain, since, "--", limit=limit)
        if diff.code and not diff.cut:
            raise Refused(f"git diff: {diff.err.decode(errors='replace').strip()[-300:]}")
        counts = self._git.call(here, "diff", *plain, "--numstat", "-z", since, "--", limit=MAX_NAMES)
        others = self._git.call(here, "ls-files", "--others", "--exclude-standard", "-z", "--", limit=MAX_NAMES)
        return WorktreeDiff(
            text=diff.out[:limit].decode(errors="replace"),
            is_cut=bool(diff.cut or counts.cut or others.cut),
            files=tuple(read_changes(counts.out)),
            untracked=tuple(read_names(others.out)),
        )

    def _checked(self, worktree: Worktree, project: Repository) -> Repository:
        """The worktree itself, if Quarterdeck created it and it belongs to that project."""
        if not self._is_in_folder(worktree.path) or not worktree.branch.startswith(PREFIX):
            raise Refused(f"{worktree.path}: is not a worktree of Quarterdeck; see: qd worktrees")
        return _worktree_of(worktree.path, project)

    def _merge(self, worktree: Worktree) -> None:
        project = _repository(worktree.project)
        if self._is_dirty(self._checked(worktree, project)):
            raise Refused(f"{worktree.path}: has changes that are not committed; commit them, then merge")
        target = self._work_tree_of(project, worktree.base)
        if self._is_dirty(target, untracked="no"):
            raise Refused(f"{target.folder}: has changes that are not committed; commit them, then merge")
        before = self._tip(project, worktree.base)
        tip = self._tip(project, worktree.branch)
        words = ("--ff", "--no-edit", "--no-gpg-sign", "--no-verify", "--no-stat", "-m", f"Merge {worktree.branch}")
        result = self._git.call(target, "merge", "--quiet", *words, tip)
        if result.cut or result.code:
            self._abort_merge(target, worktree, before, result.err or result.out)

    def _work_tree_of(self, project: Repository, branch: str) -> Repository:
        """The project's work tree in which a branch is checked out."""
        self._tip(project, branch)
        for listed in self._worktrees(project):
            if listed.branch == branch:
                return _worktree_of(listed.path, project)
        raise Refused(f"{branch}: is not checked out anywhere; check it out in {project.folder}, then merge")

    def _abort_merge(self, target: Repository, worktree: Worktree, before: str, output: bytes) -> None:
        """Restore the base, and refuse with the reason."""
        left = self._git.call(target, "diff", "--name-only", "--diff-filter=U", "-z", "--", limit=MAX_NAMES)
        files = list(dict.fromkeys(read_names(left.out)))
        self._git.call(target, "merge", "--abort")
        if self._tip(target, worktree.base) != before or self._is_dirty(target, untracked="no"):
            raise Refused(f"{target.folder}: a merge was started and could not be undone; run git merge --abort there")
        if files:
            more = f" and {len(files) - MAX_NAMED_FILES} more" if len(files) > MAX_NAMED_FILES else ""
            names = ", ".join(files[:MAX_NAMED_FILES])
            raise Refused(f"{worktree.branch} and {worktree.base} both changed {names}{more}; merge them by hand")
        raise Refused(f"git merge: {output.decode(errors='replace').strip()[-300:]}")

    def _discard(self, worktree: Worktree, *, force: bool) -> None:
        project = _repository(worktree.project)
        here = self._checked(worktree, project)
        if not force and self._is_dirty(here):
            raise Refused(f"{worktree.path}: has changes that are not committed; commit them, or use --force")
        if not force and (ahead := self._distance(project, worktree.base, worktree.branch)[0]):
            raise Refused(f"{worktree.branch}: {ahead} commits are not in {worktree.base}; merge them, or use --force")
        self._remove(project, worktree)

    def _remove(self, project: Repository, worktree: Worktree) -> None:
        self._git.output(project, "worktree", "remove", "--force", "--", worktree.path)
        self._git.output(project, "branch", "--quiet", "-D", "--", worktree.branch)


def _repository(folder: str) -> Repository:
    found = repository_at(folder)
    if not isinstance(found, Repository):
        raise Refused(f"{folder}: {found or 'is not a git repository; choose a folder with a .git'}")
    return found


def _worktree_of(path: str, project: Repository) -> Repository:
    """A work tree that belongs to this very repository."""
    found = _repository(path)
    if os.path.realpath(found.common) != os.path.realpath(project.common):
        raise Refused(f"{path}: is not a worktree of {project.folder}")
    return found
