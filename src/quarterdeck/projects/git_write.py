"""Runs git commands that write, in a repository that nobody need trust: nothing that it names is run."""

from __future__ import annotations

from collections.abc import Mapping

from quarterdeck.core.workspace.worktree_output import named, read_settings
from quarterdeck.errors import Refused
from quarterdeck.projects.git_read import INERT, MAX_FILTERS, Repository, quiet_environment, trouble, without_filters
from quarterdeck.system.run_program import Ended, run

SECONDS = 60.0
MAX_OUTPUT = 4 * 1024 * 1024
STILL = (
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
"""No hook, no editor, nobody who signs, and nothing that goes on in the background."""


class GitWork:
    """One git program. Filters and merge drivers are switched off by name, as the settings name them in that very work
    tree; a file that such a driver would merge is a conflict."""

    def __init__(self, program: str = "git", seconds: float = SECONDS) -> None:
        self._program, self._seconds = program, seconds

    def settings(self, repository: Repository) -> dict[str, str]:
        """What git's settings are there."""
        said = self._run(repository, {}, ("config", "--list", "-z", "--includes"), MAX_OUTPUT)
        return read_settings(self._checked(said, "config").out)

    def call(self, repository: Repository, *words: str, limit: int = MAX_OUTPUT) -> Ended:
        """Run it, however it ends."""
        settings = self.settings(repository)
        filters, drivers = named(settings, "filter"), named(settings, "merge")
        if len(filters) + len(drivers) > MAX_FILTERS:
            raise Refused(f"{repository.folder}: defines more than {MAX_FILTERS} filters and merge drivers")
        off = [(f"merge.{name}.driver", "false") for name in drivers]
        return self._run(repository, without_filters(filters, off), words, limit)

    def ask(self, repository: Repository, *words: str) -> bytes:
        """What it prints; Refused, in git's words, when it fails."""
        return self._checked(self.call(repository, *words), words[0]).out

    def _checked(self, said: Ended, what: str) -> Ended:
        if said.cut or said.code:
            raise Refused(f"git {what}: {trouble(said, self._seconds)}")
        return said

    def _run(self, repository: Repository, env: Mapping[str, str], words: tuple[str, ...], limit: int) -> Ended:
        argv = [self._program, "--no-pager", f"--git-dir={repository.git_dir}", f"--work-tree={repository.folder}"]
        for setting in STILL:
            argv += ["-c", setting]
        try:
            environ = quiet_environment() | dict(env)
            return run([*argv, *words], cwd=repository.folder, env=environ, seconds=self._seconds, limit=limit)
        except OSError as error:
            raise Refused(f"git could not be run: {error.strerror}") from None
