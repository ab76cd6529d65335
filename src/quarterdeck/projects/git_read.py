"""Facts about a folder from git, called so that nothing in the repository is run."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.workspace.git_output import read_config, read_status
from quarterdeck.core.workspace.projects import GitFacts
from quarterdeck.system.run_program import ProgramResult, run

# A repository on a disk that does not respond must not keep the scan from ending.
SECONDS = 5.0
MAX_OUTPUT = 256 * 1024
# Each becomes variables of the environment, which has a limit.
MAX_FILTERS = 100
MAX_LINK = 4096
KEPT_VARIABLES = ("HOME", "PATH", "XDG_CONFIG_HOME")
QUIET = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS": "false",
}
"""Git fetches nothing, writes nothing and asks for no password."""

INERT = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
)
WATCHED = ("HEAD", "index", "logs/HEAD")
SHARED = ("config", "packed-refs", "FETCH_HEAD", "refs/heads", "refs/remotes", "refs/remotes/origin")

Mark = tuple[tuple[int, int, int], ...]


class Repository(Struct, frozen=True, kw_only=True):
    """A folder with a `.git`: `folder` is the work tree, `git_dir` its own part, `common` what its worktrees share."""

    folder: str
    git_dir: str
    common: str

    @property
    def worktree_of(self) -> str | None:
        """The main work tree, for a worktree."""
        return os.path.dirname(self.common) if self.common != self.git_dir else None  # noqa: PTH120 a plain string

    def mark(self) -> Mark:
        """A value that changes when git does something here, or a top-level file appears or disappears."""
        own = (f"{self.git_dir}/{name}" for name in WATCHED)
        shared = (f"{self.common}/{name}" for name in SHARED)
        return tuple(_stamp(path) for path in (self.folder, *own, *shared))


def _stamp(path: str) -> tuple[int, int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def repository_at(folder: str) -> Repository | str | None:
    """The repository whose work tree is this very folder; a message if it is not read; None if there is none."""
    git_dir = f"{folder}/.git"
    try:
        found = os.lstat(git_dir)
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        return "its .git is a link, which is not followed"
    if found.st_uid != os.getuid():
        return "its .git belongs to another user"
    if stat.S_ISDIR(found.st_mode):
        return Repository(folder=folder, git_dir=git_dir, common=git_dir)
    return _linked(folder, git_dir) if stat.S_ISREG(found.st_mode) else "its .git is neither a folder nor a file"


def _linked(folder: str, file: str) -> Repository | str:
    """The repository of a worktree or a submodule: the file names its folder."""
    named = _first_line(file).removeprefix("gitdir:").strip()
    git_dir = os.path.realpath(os.path.join(folder, named))  # noqa: PTH118 a plain string
    try:
        found = os.lstat(git_dir)
    except (OSError, ValueError):
        return "its .git names a folder that does not exist"
    if not named or not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return "its .git names no repository of this user"
    shared = _first_line(f"{git_dir}/commondir")
    common = os.path.realpath(os.path.join(git_dir, shared)) if shared else git_dir  # noqa: PTH118 a plain string
    return Repository(folder=folder, git_dir=git_dir, common=common)


def _first_line(file: str) -> str:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        return os.fsdecode(os.read(descriptor, MAX_LINK)).partition("\n")[0].replace("\0", "")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def repository_above(folder: str) -> Repository | str | None:
    """The nearest repository that this folder is in."""
    for place in (folder, *map(str, Path(folder).parents)):
        if found := repository_at(place):
            return found
    return None


def quiet_environment() -> dict[str, str]:
    """The environment for git: few variables of the daemon's, and QUIET."""
    return {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ} | QUIET


def git_command(program: str, repository: Repository, settings: Iterable[str], words: Iterable[str]) -> list[str]:
    """A git command in this very repository, under these settings: git looks for no other one above the folder."""
    switches = [word for setting in settings for word in ("-c", setting)]
    place = (f"--git-dir={repository.git_dir}", f"--work-tree={repository.folder}")
    return [program, "--no-pager", *place, *switches, *words]


class GitReader:
    """One git program."""

    def __init__(self, program: str = "git", seconds: float = SECONDS) -> None:
        self._program = program
        self._seconds = seconds
        self._env = quiet_environment()

    def facts(self, repository: Repository) -> GitFacts:
        """Branch, changes and remote. Filters are switched off by name, because the repository defines their
        programs."""
        known = GitFacts(worktree_of=repository.worktree_of)
        try:
            listed = self._run(repository, {}, "config", "--list", "-z", "--includes")
            if listed.cut or listed.code:
                return replace(known, trouble=failure_reason(listed, self._seconds))
            remote, filters = read_config(listed.out)
            if len(filters) > MAX_FILTERS:
                return replace(known, remote=remote, trouble=f"it defines more than {MAX_FILTERS} filters")
            return replace(self._status(repository, filters), remote=remote, worktree_of=known.worktree_of)
        except OSError as error:
            return replace(known, trouble=f"git could not be run: {error.strerror}")

    def _status(self, repository: Repository, filters: list[str]) -> GitFacts:
        words = ("--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=all")
        result = self._run(repository, without_filters(filters), "status", *words, "--untracked-files=normal", "--")
        if result.cut == "output":
            return read_status(result.out.rpartition(b"\0")[0])
        if result.cut or result.code:
            return GitFacts(trouble=failure_reason(result, self._seconds))
        return read_status(result.out)

    def _run(self, repository: Repository, env: dict[str, str], *words: str) -> ProgramResult:
        argv = git_command(self._program, repository, INERT, words)
        return run(argv, cwd=repository.folder, env=self._env | env, seconds=self._seconds, limit=MAX_OUTPUT)


def without_filters(filters: list[str], more: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    """Variables that switch filters off and set more settings. Passed in the environment, where a filter's name cannot
    be read as part of another setting."""
    keys = [*((f"filter.{name}.{key}", value) for name in filters for key, value in OFF), *more]
    named = {f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in enumerate(keys)}
    return {"GIT_CONFIG_COUNT": str(len(keys))} | named | {f"GIT_CONFIG_VALUE_{n}": v for n, (_, v) in enumerate(keys)}


OFF = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))


def failure_reason(result: ProgramResult, seconds: float) -> str:
    if result.cut == "time":
        return f"git took more than {seconds:.0f} s"
    if result.cut == "output":
        return "git printed more than Quarterdeck reads"
    lines = result.err.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else f"git ended with {result.code}"
