"""Routes of projects: which there are, and which folders are trusted."""

from __future__ import annotations

import os
from typing import Annotated, Any

from litestar import Request, Response, get, post
from litestar.datastructures import State as AppState
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import JSONBody, QueryParameter
from msgspec import Meta, Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.principal import by
from quarterdeck.core.workspace.projects import GitFacts, Listed, Scan, project_id_of

Wait = Annotated[float, QueryParameter(ge=0, le=60)]


class Folder(Struct, kw_only=True, forbid_unknown_fields=True):
    """A project's folder, from the root."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]


class Trusted(Struct, kw_only=True):
    """How far a folder is trusted: none, rules or full. `path` has every link followed."""

    project_id: str | None
    path: str
    trust: str


class PriorSession(Struct, kw_only=True):
    """A conversation that is over and can be taken up again."""

    session_id: str
    title: str
    last_used_at: float


class ProjectView(Struct, kw_only=True):
    """One folder that is worked in. What git says was asked at `checked_at`; where it could not say, `git_trouble` has
    the reason. A `git_remote` never shows what signs in to it. `trusted`: sessions may be started in it."""

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
    """How far the look for projects is: `never`, `running` or `done`; `notes` say what was left out. `watch` says how
    changes are seen: `off` before the first look, `live`, `partly`, or by a `slow` look now and then."""

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


@get("/projects", opt={"scope": "observe"})
async def list_projects(state: AppState) -> ProjectList:
    """Every project: under the configured roots, and wherever a session was. The first call waits for a look; later
    ones show what is known and look again behind."""
    desk: Desk = state.desk
    found = [project_view(one, desk.runner_id) for one in await desk.projects.listed()]
    return ProjectList(projects=found, scan=scan_view(desk.projects.progress))


@get("/projects/scan", opt={"scope": "observe"}, sync_to_thread=False)
def get_scan(state: AppState) -> ScanView:
    """How far the look for projects is."""
    desk: Desk = state.desk
    return scan_view(desk.projects.progress)


RUNNING = ResponseSpec(data_container=ScanView, description="It goes on.", generate_examples=False)


@post("/projects/scan", status_code=200, opt={"scope": "control"}, responses={202: RUNNING})
async def scan(
    state: AppState, wait: Wait = 30.0, anew: Annotated[bool, QueryParameter()] = False
) -> Response[ScanView]:
    """Look for projects. Answers 200 when that is done, and 202 when it goes on after `wait` seconds; who looks
    already is joined. `anew` asks git about every project, changed or not."""
    desk: Desk = state.desk
    told = await desk.projects.scan(wait, anew=anew)
    return Response(scan_view(told), status_code=200 if told.state == "done" else 202)


@post("/projects/trust", status_code=200, opt={"scope": "control"})
async def trust(state: AppState, request: Request[Any, Any, Any], data: JSONBody[Folder]) -> Trusted:
    """Trust a folder: its rules hold, and sessions may be started in it."""
    return await _trust(state.desk, data.path, "full", by(request))


@post("/projects/untrust", status_code=200, opt={"scope": "control"})
async def untrust(state: AppState, request: Request[Any, Any, Any], data: JSONBody[Folder]) -> Trusted:
    """Trust a folder no more: what its rules allow is asked again."""
    return await _trust(state.desk, data.path, "none", by(request))


async def _trust(desk: Desk, path: str, how_far: str, name: str) -> Trusted:
    reply = await desk.trust_project(path, how_far, name)
    if reply.outcome != "applied":
        raise ApiError(503, reply.outcome, reply.message)
    return Trusted(project_id=project_id_of(reply.request_id), path=reply.request_id, trust=how_far)


def project_view(listed: Listed, runner_id: str) -> ProjectView:
    """A project as the API shows it."""
    project, git = listed.project, listed.project.git or GitFacts()
    path = shown(project.path)
    return ProjectView(
        project_id=project_id_of(project.path),
        name=path.rpartition("/")[2] or path,
        path=path,
        git_remote=git.remote,
        git_branch=git.branch,
        is_dirty=git.is_dirty,
        ahead=git.ahead,
        behind=git.behind,
        worktree_of=shown(git.worktree_of) if git.worktree_of else None,
        git_trouble=git.trouble,
        has_claude_config=project.has_claude_config,
        trusted=listed.trust == "full",
        trust=listed.trust,
        last_modified=project.last_modified,
        checked_at=project.checked_at,
        live_sessions=listed.live,
        prior_sessions=[
            PriorSession(session_id=one.session_id, title=one.title, last_used_at=one.last_used_at)
            for one in listed.past
        ],
        runner_id=runner_id,
    )


def shown(path: str) -> str:
    """A path as text; bytes that are none become a mark."""
    return os.fsencode(path).decode(errors="replace")


def scan_view(scan: Scan) -> ScanView:
    return ScanView(
        state=scan.state,
        done=scan.done,
        total=scan.total,
        started_at=scan.started_at,
        seconds=scan.seconds,
        notes=list(scan.notes),
        watch=scan.watch,
    )


PROJECT_ROUTES = [list_projects, get_scan, scan, trust, untrust]
