"""Routes of MCP servers: list, check, add and remove those in Claude Code's configuration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Meta, Struct

from quarterdeck.api.backend import ExtensionBackend, HealthBackend, ProjectBackend
from quarterdeck.api.http.endpoint import endpoint
from quarterdeck.api.http.error_responses import invalid, not_found, refused_as
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.views.extension_changes import ExtensionResult, apply_change
from quarterdeck.api.workspace.plugins import REFUSED, InScope, Place, project_of, trusted_folder
from quarterdeck.core.model.event_data.admin_data import McpChangeData
from quarterdeck.core.workspace.extensions import McpServer, NewMcpServer
from quarterdeck.views.projection import struct_of
from quarterdeck.views.workspace.server_view import ServerList, ServerView

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


class ServerQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The servers to check: the user's, and with `project` those of that project too."""

    project: Place | None = None


@endpoint("list_servers")
async def list_servers(extensions: ExtensionBackend, *, project: FromQuery[str | None] = None) -> ServerList:
    """List the MCP servers in Claude Code's configuration; with `project`, those of a session in it. Starts none of
    them."""
    found = await _servers(extensions)
    return _list(one for one in found if project is None or one.project in (None, project))


@endpoint("get_servers")
async def get_servers(extensions: ExtensionBackend, *, name: FromPath[str]) -> ServerList:
    """List the servers with a name: the user may have one, and each project another."""
    found = [one for one in await _servers(extensions) if one.name == name]
    if not found:
        raise not_found("MCP server", name, "qd mcp list")
    return _list(found)


@endpoint("add_server")
async def add_server(
    extensions: ExtensionBackend,
    health: HealthBackend,
    projects: ProjectBackend,
    caller: Caller,
    *,
    data: JSONBody[ServerBody],
) -> ExtensionResult:
    """Add a server to Claude Code's configuration."""
    server = _new_server(data)
    project = await project_of(projects, data.scope, data.project)
    change = struct_of(McpChangeData, data, action="add", by=caller.name, project=project)
    hidden = [*server.secrets, server.target, *server.args]
    return await apply_change(extensions, health, change, lambda agent: agent.add_server(server, project), hidden)


@endpoint("check_servers")
async def check_servers(
    extensions: ExtensionBackend, projects: ProjectBackend, *, data: JSONBody[ServerQuery]
) -> ServerList:
    """Start the user's servers, and those of a trusted project too, and return the status of each."""
    project = None if data.project is None else await trusted_folder(projects, data.project)
    with refused_as(REFUSED):
        await extensions.agent.check_servers(project)
    return _list(one for one in await _servers(extensions) if one.project in (None, project))


@endpoint("remove_server")
async def remove_server(
    extensions: ExtensionBackend,
    health: HealthBackend,
    projects: ProjectBackend,
    caller: Caller,
    *,
    name: FromPath[ServerName],
    config_scope: Annotated[InScope, QueryParameter(name="scope")] = "user",
    project: FromQuery[str | None] = None,
) -> ExtensionResult:
    """Remove a server from Claude Code's configuration."""
    folder = await project_of(projects, config_scope, project)
    place = (name, config_scope, folder)
    here = [s for s in await _servers(extensions) if (s.name, s.scope, s.project) == place]
    change = McpChangeData(
        action="remove",
        name=name,
        scope=config_scope,
        by=caller.name,
        transport=here[0].transport if here else None,
        project=folder,
    )
    return await apply_change(extensions, health, change, lambda agent: agent.remove_server(*place))


async def _servers(extensions: ExtensionBackend) -> list[McpServer]:
    with refused_as(REFUSED):
        return await extensions.agent.servers()


def _new_server(data: ServerBody) -> NewMcpServer:
    target, field = (data.command, "command") if data.transport == "stdio" else (data.url, "url")
    if target is None:
        raise invalid(field, f"required for a {data.transport} server")
    for name in ("url", "headers") if data.transport == "stdio" else ("command", "args", "env"):
        if getattr(data, name):
            raise invalid(name, f"not used by a {data.transport} server")
    return struct_of(NewMcpServer, data, target=target)


def _list(servers: Iterable[McpServer]) -> ServerList:
    return ServerList(mcp=[server_view(one) for one in servers])


def server_view(server: McpServer) -> ServerView:
    """A server; its tools are unknown."""
    return struct_of(ServerView, server, tools=None)
