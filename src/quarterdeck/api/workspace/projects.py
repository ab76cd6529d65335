"""Routes of projects: list and scan them, show their own config, trust and untrust folders."""

from __future__ import annotations

import os
from typing import Annotated

from litestar import Response
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import JSONBody, QueryParameter
from msgspec import Meta, Struct

from quarterdeck.api.backend import ProjectBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, applied
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.views.projection import struct_of
from quarterdeck.core.workspace.folder_trust import suffices
from quarterdeck.core.workspace.project_config import ProjectHook, ProjectServer, ProjectSetting
from quarterdeck.core.workspace.projects import GitFacts, ProjectEntry, project_id_of

FolderPath = Annotated[str, QueryParameter(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]
Wait = Annotated[float, Meta(ge=0, le=60), QueryParameter(ge=0, le=60)]


class ProjectFolder(Struct, kw_only=True, forbid_unknown_fields=True):
    """A project's folder, as an absolute path."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]


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


@endpoint("list_projects")
async def list_projects(projects: ProjectBackend, runner_id: str) -> ProjectList:
    """List every project: under the configured roots, and wherever a session ran. The first call waits for a scan;
    later ones return what is known and scan in the background."""
    views = [project_view(entry, runner_id) for entry in await projects.entries()]
    return ProjectList(projects=views, scan=struct_of(ScanView, projects.progress))


@endpoint("get_scan")
async def get_scan(projects: ProjectBackend) -> ScanView:
    """Show the progress of the project scan."""
    return struct_of(ScanView, projects.progress)


RUNNING = ResponseSpec(data_container=ScanView, description="The scan is still running.", generate_examples=False)


@endpoint("scan_projects", responses={202: RUNNING})
async def scan(
    projects: ProjectBackend, *, wait: Wait = 30.0, refresh: Annotated[bool, QueryParameter(name="anew")] = False
) -> Response[ScanView]:
    """Scan for projects, or wait for the scan that is running. Answers 200 when it is done, and 202 when it is still
    running after `wait` seconds. `anew` asks git about every project, changed or not."""
    progress = await projects.scan(wait, refresh=refresh)
    return Response(struct_of(ScanView, progress), status_code=200 if progress.state == "done" else 202)


@endpoint("trust_project")
async def trust(projects: ProjectBackend, caller: Caller, *, data: JSONBody[ProjectFolder]) -> TrustView:
    """Trust a folder: its rules apply, and sessions may be started in it."""
    return await _trust(projects, data.path, "full", caller)


@endpoint("untrust_project")
async def untrust(projects: ProjectBackend, caller: Caller, *, data: JSONBody[ProjectFolder]) -> TrustView:
    """Stop trusting a folder: its allow rules stop applying."""
    return await _trust(projects, data.path, "none", caller)


async def _trust(projects: ProjectBackend, path: str, trust: str, caller: Caller) -> TrustView:
    real = applied(await projects.trust(path, trust, caller.name)).request_id
    return TrustView(project_id=project_id_of(real), path=real, trust=trust)


@endpoint("get_project_config")
async def get_project_config(projects: ProjectBackend, *, path: FolderPath) -> ProjectConfigView:
    """Show the hooks, MCP servers, variables and allow rules in a folder's own files. Runs none of them."""
    folder = await projects.config(path)
    if folder is None:
        raise ApiError(404, "not_found", f"no such folder: {path}")
    return struct_of(ProjectConfigView, folder.config, path=shown(folder.path), trusted=folder.trusted)


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
    return os.fsencode(path).decode(errors="replace")
