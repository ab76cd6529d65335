"""Projects, their scan, their own config and the trust in them, as every surface sees them."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.workspace.folder_trust import suffices
from quarterdeck.core.workspace.project_config import ProjectHook, ProjectServer, ProjectSetting
from quarterdeck.core.workspace.projects import GitFacts, ProjectEntry, project_id_of
from quarterdeck.views.projection import struct_of


class TrustView(Struct, kw_only=True):
    """The trust in a folder: none, rules or full. `path` has all symbolic links resolved."""

    project_id: str | None
    path: str
    trust: str


class PriorSession(Struct, kw_only=True):
    """An ended conversation that can be resumed."""

    session_id: str
    agent: str
    title: str
    last_used_at: float


class ProjectView(Struct, kw_only=True):
    """One project folder. Its git status was read at `checked_at`; `git_trouble` is the reason if that failed.
    `git_remote` never contains credentials. `trusted` means that sessions may be started in it."""

    project_id: str | None
    name: str
    path: str
    git_remote: str | None
    git_branch: str | None
    is_dirty: bool | None
    ahead: int | None
    behind: int | None
    worktree_of: str | None
    git_trouble: str | None
    has_claude_config: bool
    trusted: bool
    trust: str
    last_modified: float
    checked_at: float
    live_sessions: int
    prior_sessions: list[PriorSession]
    runner_id: str


class ScanView(Struct, kw_only=True):
    """The state of the project scan: `never`, `running` or `done`; `notes` name folders that were left out. `watch` is
    how changes are noticed: `off` before the first scan, `live`, `partly`, or `slow` (by a scan now and then)."""

    state: str
    done: int
    total: int
    started_at: float | None
    seconds: float | None
    notes: list[str]
    watch: str


class ProjectList(Struct, kw_only=True):
    projects: list[ProjectView]
    scan: ScanView
    next: str | None = None


class ProjectConfigView(Struct, kw_only=True, rename={"problems": "troubles"}):
    """Everything that a folder's own files would run or set in a session there. `trusted` means that sessions may be
    started there already; `variables` have no values; `troubles` name files that could not be read."""

    path: str
    trusted: bool
    hooks: tuple[ProjectHook, ...]
    servers: tuple[ProjectServer, ...]
    variables: tuple[ProjectSetting, ...]
    allows: tuple[ProjectSetting, ...]
    others: tuple[ProjectSetting, ...]
    problems: tuple[str, ...]


def project_view(entry: ProjectEntry, runner_id: str) -> ProjectView:
    """A project with its git facts and sessions; `trusted` means full trust, and paths are valid text."""
    project, git = entry.project, entry.project.git or GitFacts()
    path = shown(project.path)
    return struct_of(
        ProjectView,
        project,
        project_id=project_id_of(project.path),
        name=path.rpartition("/")[2] or path,
        path=path,
        has_claude_config=project.has_agent_config,
        git_remote=git.remote,
        git_branch=git.branch,
        is_dirty=git.is_dirty,
        ahead=git.ahead,
        behind=git.behind,
        worktree_of=shown(git.worktree_of) if git.worktree_of else None,
        git_trouble=git.trouble,
        trusted=suffices(entry.trust, "sessions"),
        trust=entry.trust,
        live_sessions=entry.live,
        prior_sessions=[struct_of(PriorSession, one) for one in entry.past],
        runner_id=runner_id,
    )


def shown(path: str) -> str:
    """A path as text; bytes that are not UTF-8 become a replacement character."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
