"""Routes of MCP servers: read from Claude Code's configuration, tried on request, added and removed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from litestar import Request, delete, get, post
from litestar.datastructures import State as AppState
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Meta, Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.principal import by
from quarterdeck.api.workspace.extension_changes import Changed, changed
from quarterdeck.api.workspace.plugins import InScope, Place, project_of, refusals, trusted_folder
from quarterdeck.core.model.event_data import McpChangeData
from quarterdeck.core.workspace.extensions import NewServer, Server

ServerName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z", max_length=64)]
Word = Annotated[str, Meta(max_length=4096, pattern=r"^[^\0]*\Z")]
Url = Annotated[str, Meta(max_length=2048, pattern=r"^https?://[^\0\s]+\Z")]
Variables = Annotated[
    dict[Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z", max_length=128)], Word], Meta(max_length=64)
]
HeaderLine = Annotated[str, Meta(max_length=4096, pattern=r"^[^\0\r\n]*\Z")]
Headers = Annotated[
    dict[Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*\Z", max_length=128)], HeaderLine], Meta(max_length=64)
]


class ServerBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """A server to add: `command` with `args` and `env` for stdio, `url` with `headers` for http and sse."""

    name: ServerName
    transport: Literal["stdio", "http", "sse"] = "stdio"
    command: Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\0]*\Z")] | None = None
    args: Annotated[list[Word], Meta(max_length=256)] = []
    env: Variables = {}
    url: Url | None = None
    headers: Headers = {}
    scope: InScope = "user"
    project: Place | None = None


class Where(Struct, kw_only=True, forbid_unknown_fields=True):
    """Whose servers: a project's with the user's, or the user's alone."""

    project: Place | None = None


class ServerView(Struct, kw_only=True):
    """An MCP server. `status` is `unchecked` until it was tried, then connected, failed, pending, needs_auth, disabled
    or unknown; `config` shows no value of a variable or header; `tools` is null while nobody knows them; `login` is the
    command that signs in to it, where it asks for that."""

    name: str
    transport: str
    scope: str
    project: str | None
    status: str
    last_error: str | None
    checked_at: float | None
    config: dict[str, Any]
    tools: list[str] | None
    login: str | None


class Servers(Struct, kw_only=True):
    mcp: list[ServerView]
    next: None = None


@get("/mcp", opt={"scope": "observe"})
async def list_servers(state: AppState, project: FromQuery[str | None] = None) -> Servers:
    """Every MCP server in Claude Code's configuration; with a project, those that a session in it has. None is
    started."""
    desk: Desk = state.desk
    found = [server_view(one) for one in await desk.extensions.servers()]
    return Servers(mcp=[one for one in found if project is None or one.project in (None, project)])


@get("/mcp/{name:str}", opt={"scope": "observe"})
async def get_servers(state: AppState, name: FromPath[str]) -> Servers:
    """The servers of one name: the user may have one, and each project another."""
    desk: Desk = state.desk
    found = [server_view(one) for one in await desk.extensions.servers() if one.name == name]
    if not found:
        raise ApiError(404, "not_found", f"no such MCP server: {name}; see: qd mcp list")
    return Servers(mcp=found)


@post("/mcp", opt={"scope": "control"})
async def add_server(state: AppState, request: Request[Any, Any, Any], data: JSONBody[ServerBody]) -> Changed:
    """Add a server to Claude Code's configuration."""
    desk: Desk = state.desk
    server = _new_server(data)
    project = await project_of(desk, data.scope, data.project)
    change = McpChangeData(
        action="add", name=data.name, scope=data.scope, by=by(request), transport=data.transport, project=project
    )
    hidden = [*server.secrets, server.target, *server.args]
    return await changed(desk, change, lambda: desk.extensions.add_server(server, project), hidden)


def _new_server(data: ServerBody) -> NewServer:
    target, field = (data.command, "command") if data.transport == "stdio" else (data.url, "url")
    if target is None:
        raise ApiError(422, "invalid", f"{field}: a {data.transport} server needs one", field=field)
    foreign = ("url", "headers") if data.transport == "stdio" else ("command", "args", "env")
    for name in foreign:
        if getattr(data, name):
            raise ApiError(422, "invalid", f"{name}: a {data.transport} server has none", field=name)
    return NewServer(
        name=data.name,
        transport=data.transport,
        scope=data.scope,
        target=target,
        args=data.args,
        env=data.env,
        headers=data.headers,
    )


@post("/mcp/check", status_code=200, opt={"scope": "control"})
async def check_servers(state: AppState, data: JSONBody[Where]) -> Servers:
    """Start the servers of the user, or of a trusted project too, and tell how each did."""
    desk: Desk = state.desk
    project = None if data.project is None else await trusted_folder(desk, data.project)
    with refusals():
        await desk.extensions.check_servers(project)
    found = [server_view(one) for one in await desk.extensions.servers()]
    return Servers(mcp=[one for one in found if one.project in (None, project)])


@delete("/mcp/{name:str}", status_code=200, opt={"scope": "control"})
async def remove_server(
    state: AppState,
    request: Request[Any, Any, Any],
    name: FromPath[ServerName],
    whose: Annotated[InScope, QueryParameter(name="scope")] = "user",
    project: FromQuery[str | None] = None,
) -> Changed:
    """Remove a server from Claude Code's configuration."""
    desk: Desk = state.desk
    folder = await project_of(desk, whose, project)
    here = [s for s in await desk.extensions.servers() if (s.name, s.scope, s.project) == (name, whose, folder)]
    change = McpChangeData(
        action="remove",
        name=name,
        scope=whose,
        by=by(request),
        transport=here[0].transport if here else None,
        project=folder,
    )
    return await changed(desk, change, lambda: desk.extensions.remove_server(name, whose, folder))


def server_view(server: Server) -> ServerView:
    """A server as the API shows it."""
    plain = server.status == "needs_auth" and not server.name.startswith("-")
    return ServerView(
        name=server.name,
        transport=server.transport,
        scope=server.scope,
        project=server.project,
        status=server.status,
        last_error=server.last_error,
        checked_at=server.checked_at,
        config=server.config,
        tools=None,
        login=f"claude mcp login --no-browser {server.name}" if plain else None,
    )


MCP_ROUTES = [list_servers, get_servers, add_server, check_servers, remove_server]
