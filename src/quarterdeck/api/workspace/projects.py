"""Routes of projects: list and scan them, show their own config, trust and untrust folders."""

from __future__ import annotations

from typing import Annotated

from litestar import Response
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import JSONBody, QueryParameter
from msgspec import Meta, Struct

from quarterdeck.api.backend import ProjectBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import ApiError, applied
from quarterdeck.api.http.principal import Caller
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.views.projection import struct_of
from quarterdeck.views.workspace.project_view import (
    ProjectConfigView,
    ProjectList,
    ScanView,
    TrustView,
    project_view,
    shown,
)

FolderPath = Annotated[str, QueryParameter(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]
Wait = Annotated[float, Meta(ge=0, le=60), QueryParameter(ge=0, le=60)]


class ProjectFolder(Struct, kw_only=True, forbid_unknown_fields=True):
    """A project's folder, as an absolute path."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]


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
