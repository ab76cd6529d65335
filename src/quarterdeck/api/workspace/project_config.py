"""The route that shows what a project brings, for who is about to trust it."""

from __future__ import annotations

from typing import Annotated

from litestar import get
from litestar.datastructures import State as AppState
from litestar.params import QueryParameter
from msgspec import Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.workspace.projects import shown
from quarterdeck.core.workspace.project_config import BroughtHook, BroughtServer, BroughtSetting

FolderPath = Annotated[str, QueryParameter(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]


class BringsView(Struct, kw_only=True):
    """What would run or be set in a session in a folder, by the files of the folder itself. `trusted` says whether
    sessions may be started there already; `variables` have no values; `troubles` name what could not be read."""

    path: str
    trusted: bool
    hooks: tuple[BroughtHook, ...]
    servers: tuple[BroughtServer, ...]
    variables: tuple[BroughtSetting, ...]
    allows: tuple[BroughtSetting, ...]
    others: tuple[BroughtSetting, ...]
    troubles: tuple[str, ...]


@get("/projects/brings", opt={"scope": "control"})
async def get_brings(state: AppState, path: FolderPath) -> BringsView:
    """What a folder brings of its own: hooks, MCP servers, variables, allow rules. Nothing of it is run."""
    desk: Desk = state.desk
    looked = await desk.brings(path)
    if looked is None:
        raise ApiError(404, "not_found", f"no such folder: {path}")
    found = looked.brings
    return BringsView(
        path=shown(looked.path),
        trusted=looked.trusted,
        hooks=found.hooks,
        servers=found.servers,
        variables=found.variables,
        allows=found.allows,
        others=found.others,
        troubles=found.troubles,
    )


BRINGING_ROUTES = [get_brings]
