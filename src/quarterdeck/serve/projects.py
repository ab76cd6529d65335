"""Routes of projects: which folders are trusted."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, post
from litestar.datastructures import State as AppState
from litestar.params import JSONBody
from msgspec import Meta, Struct

from quarterdeck.core.projects import project_id_of
from quarterdeck.serve.desk import Desk
from quarterdeck.serve.errors import ApiError
from quarterdeck.serve.principal import by


class Folder(Struct, kw_only=True, forbid_unknown_fields=True):
    """A project's folder, from the root."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]


class Trusted(Struct, kw_only=True):
    """How far a folder is trusted: none, rules or full. `path` has every link followed."""

    project_id: str | None
    path: str
    trust: str


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


PROJECT_ROUTES = [trust, untrust]
