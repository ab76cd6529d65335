"""Git commands that write, in a repository that need not be trusted: no program that it names is run."""

from __future__ import annotations

from collections.abc import Mapping

from quarterdeck.core.workspace.worktree_output import read_settings, section_names
from quarterdeck.errors import Refused
from quarterdeck.projects.git_read import (
    INERT,
    MAX_FILTERS,
    Repository,
    failure_reason,
    git_command,
    quiet_environment,
    without_filters,
)
from quarterdeck.system.run_program import ProgramResult, run

SECONDS = 60.0
MAX_OUTPUT = 4 * 1024 * 1024
SETTINGS = (
    *INERT,
    "commit.gpgSign=false",
    "core.alternateRefsCommand=false",
    "core.editor=false",
    "gc.auto=0",
    "gpg.program=false",
    "log.showSignature=false",
    "maintenance.auto=false",
    "merge.verifySignatures=false",
    "rerere.enabled=false",
    "sequence.editor=false",
)
"""No hook, no editor, no signing program, and nothing that continues in the background."""


class GitWriter:
    """One git program. Filters and merge drivers are switched off by name, as the settings of that work tree name them;
    a file that such a driver would merge becomes a conflict."""

    def __init__(self, program: str = "git", seconds: float = SECONDS) -> None:
        self._program, self._seconds = program, seconds

    def settings(self, repository: Repository) -> dict[str, str]:
        """Git's settings there."""
        result = self._run(repository, {}, ("config", "--list", "-z", "--includes"), MAX_OUTPUT)
        return read_settings(self._checked(result, "config").out)

    def call(self, repository: Repository, *words: str, limit: int = MAX_OUTPUT) -> ProgramResult:
        """Run a command and return its result, also if it fails."""
        settings = self.settings(repository)
        filters, drivers = section_names(settings, "filter"), section_names(settings, "merge")
        if len(filters) + len(drivers) > MAX_FILTERS:
            raise Refused(f"{repository.folder}: defines more than {MAX_FILTERS} filters and merge drivers")
        off = [(f"merge.{name}.driver", "false") for name in drivers]
        return self._run(repository, without_filters(filters, off), words, limit)

    def output(self, repository: Repository, *words: str) -> bytes:
        """Run a command and return its output; Refused with git's message if it fails."""
        return self._checked(self.call(repository, *words), words[0]).out

    def _checked(self, result: ProgramResult, command: str) -> ProgramResult:
        if result.cut or result.code:
            raise Refused(f"git {command}: {failure_reason(result, self._seconds)}")
        return result

    def _run(self, repository: Repository, env: Mapping[str, str], words: tuple[str, ...], limit: int) -> ProgramResult:
        argv, environ = git_command(self._program, repository, SETTINGS, words), quiet_environment() | dict(env)
        try:
            return run(argv, cwd=repository.folder, env=environ, seconds=self._seconds, limit=limit)
        except OSError as error:
            raise Refused(f"git could not be run ({error.strerror}); install git") from None
