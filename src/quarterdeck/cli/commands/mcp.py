"""`qd mcp`: list, check, add and remove Claude Code's MCP servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode

from rich.console import RenderableType
from rich.text import Text

from quarterdeck.cli.commands.plugins import ProjectOption, ScopeOption, change, scope_fields, scope_place
from quarterdeck.cli.common import (
    Columns,
    Json,
    Output,
    argument,
    cell,
    client,
    command,
    default_command,
    group,
    option,
    table,
)
from quarterdeck.cli.output.progress import call_with_spinner
from quarterdeck.errors import Refused
from quarterdeck.surfaces.terminal.forms.mcp_form import read_pairs
from quarterdeck.surfaces.text.labels import ago

app = group("Manage Claude Code's MCP servers.", name="mcp")

STATUS = {
    "connected": ("✓ connected", "green"),
    "failed": ("✕ failed", "red"),
    "pending": ("⏸ needs approval", "yellow"),
    "needs_auth": ("? needs sign-in", "yellow"),
    "disabled": ("– disabled", "dim"),
    "unchecked": ("· not checked", "dim"),
}
Name = Annotated[str, argument("Name of the server.", metavar="NAME")]
Rest = Annotated[list[str], argument("The server's command after --, or its URL.", metavar="COMMAND… | URL")]
Env = Annotated[list[str] | None, option("Environment variable of a command, as KEY=VALUE; repeatable.", "--env", "-e")]
Header = Annotated[list[str] | None, option("HTTP header for a URL, as 'Name: value'; repeatable.", "--header", "-H")]
Secrets = Annotated[
    Path | None,
    option("File with KEY=VALUE or 'Name: value' lines, to keep secrets off the command line.", dir_okay=False),
]
Transport = Annotated[Literal["stdio", "http", "sse"] | None, option("Transport (default: inferred).")]


@default_command(app)
@command(app, "list")
def list_servers(
    project: ProjectOption = None,
    check: Annotated[bool, option("Start each server and show its status.", "--check")] = False,
) -> Output:
    """List the MCP servers in Claude Code's configuration. With --check each is started."""
    place = {"project": str(project.resolve())} if project else {}
    if check:
        return _servers(call_with_spinner("Checking the servers", "POST", "/mcp/check", place))
    return _servers(client().get("/api/v1/mcp", **place))


@command(app, "get")
def get_server(name: Name) -> Output:
    """Show every server with this name."""
    return _servers(client().get(f"/api/v1/mcp/{quote(name, safe='')}"))


def _servers(found: Json) -> Output:
    return Output(found, _server_lines(found["mcp"]))


def _server_lines(servers: list[Json]) -> Iterator[RenderableType]:
    columns: Columns = {
        "server": "name",
        "status": _status,
        "transport": "transport",
        "scope": scope_place,
        "config": _config,
    }
    yield table(servers, columns, columns) if servers else "No MCP servers. Add one with: qd mcp add NAME -- COMMAND"
    for one in servers:
        if one["last_error"]:
            yield cell(f"! {one['name']}: {one['last_error']}", "yellow")
        if one["login"]:
            yield f"  sign in with: {one['login']}"


def _status(one: Json) -> Text:
    word, style = STATUS.get(one["status"], (one["status"], ""))
    when = f" {ago(one['checked_at'])}" if one["checked_at"] else ""
    return cell(word + when, style)


def _config(one: Json) -> Text:
    config = one["config"]
    words = [config["url"]] if "url" in config else [config.get("command", ""), *config.get("args", [])]
    return cell(" ".join([*words, *config.get("env", {}), *config.get("headers", {})]), "dim")


@command(app, "add")
def add_server(
    name: Name,
    rest: Rest,
    transport: Transport = None,
    env: Env = None,
    header: Header = None,
    secrets: Secrets = None,
    scope: ScopeOption = None,
    project: ProjectOption = None,
) -> Output:
    """Add a server. For example `qd mcp add tools -- npx server`, or `qd mcp add web https://example.org/mcp`."""
    remote = transport in ("http", "sse") or (transport is None and rest[0].startswith(("http://", "https://")))
    body: dict[str, Any] = {"name": name, "transport": transport or ("http" if remote else "stdio")}
    body |= scope_fields(scope, project)
    lines = secrets.read_text(encoding="utf-8").splitlines() if secrets else []
    if remote:
        body |= {"url": rest[0], "headers": _pairs(":", [*(header or []), *lines])}
    else:
        body |= {"command": rest[0], "args": rest[1:], "env": _pairs("=", [*(env or []), *lines])}
    return change(f"Adding {name}", "POST", "/mcp", body)


def _pairs(mark: str, lines: list[str]) -> dict[str, str]:
    pairs = read_pairs("\n".join(lines), mark)
    if isinstance(pairs, str):
        raise Refused(pairs)
    return pairs


@command(app, "remove")
def remove_server(name: Name, scope: ScopeOption = None, project: ProjectOption = None) -> Output:
    """Remove a server."""
    where = urlencode(scope_fields(scope, project))
    return change(f"Removing {name}", "DELETE", f"/mcp/{quote(name, safe='')}?{where}")
