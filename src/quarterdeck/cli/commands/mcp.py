"""MCP servers from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import typer
from rich.table import Table
from rich.text import Text

from quarterdeck.cli.commands.plugins import ProjectOption, ScopeOption, patiently, placed, say
from quarterdeck.cli.common import AsJson, ago, cell, client, out, plainly, print_json
from quarterdeck.errors import Refused

mcp = typer.Typer(help="Claude Code's MCP servers.", no_args_is_help=True, rich_markup_mode=None)

STATUS = {
    "connected": ("✓ connected", "green"),
    "failed": ("✕ failed", "red"),
    "pending": ("⏸ to approve", "yellow"),
    "needs_auth": ("? sign in", "yellow"),
    "disabled": ("– disabled", "dim"),
    "unchecked": ("· not tried", "dim"),
}
Name = Annotated[str, typer.Argument(metavar="NAME", help="The server's name.")]
Rest = Annotated[list[str], typer.Argument(metavar="COMMAND… | URL", help="After --, the command and its words.")]
Env = Annotated[list[str] | None, typer.Option("--env", "-e", help="KEY=VALUE, for a command; may repeat.")]
Header = Annotated[list[str] | None, typer.Option("--header", "-H", help="'Name: value', for a URL; may repeat.")]
Secrets = Annotated[
    Path | None,
    typer.Option(help="A file of KEY=VALUE or 'Name: value' lines, so that no secret is typed.", dir_okay=False),
]
Transport = Annotated[str | None, typer.Option(help="stdio, http or sse; by what follows unless told.")]


@mcp.command("list")
@plainly
def list_servers(
    project: ProjectOption = None,
    check: Annotated[bool, typer.Option("--check", help="Start each server and tell how it did.")] = False,
    json: AsJson = False,
) -> None:
    """List the MCP servers that Claude Code is configured with. None is started, unless --check says so."""
    place = {"project": str(project.resolve())} if project else {}
    if check:
        found = patiently("Trying the servers", "POST", "/mcp/check", place)
    else:
        found = client().get("/api/v1/mcp", **place)
    _show(found, json)


@mcp.command("get")
@plainly
def get_server(name: Name, json: AsJson = False) -> None:
    """Show the servers of one name."""
    _show(client().get(f"/api/v1/mcp/{quote(name, safe='')}"), json)


def _show(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    if not found["mcp"]:
        out.print("No MCP servers. Add one with: qd mcp add NAME -- COMMAND")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("server", "status", "transport", "scope", "what"):
        table.add_column(column, overflow="fold")
    for one in found["mcp"]:
        where = f"{one['scope']} {one['project']}" if one["project"] else one["scope"]
        table.add_row(cell(one["name"]), _status(one), cell(one["transport"]), cell(where), cell(_what(one), "dim"))
    out.print(table)
    for one in found["mcp"]:
        if one["last_error"]:
            out.print(cell(f"! {one['name']}: {one['last_error']}", "yellow"))
        if one["login"]:
            out.print(cell(f"  sign in with: {one['login']}"))


def _status(one: dict[str, Any]) -> Text:
    word, style = STATUS.get(one["status"], (one["status"], ""))
    when = f" {ago(one['checked_at'])}" if one["checked_at"] else ""
    return cell(word + when, style)


def _what(one: dict[str, Any]) -> str:
    config = one["config"]
    words = [config["url"]] if "url" in config else [config.get("command", ""), *config.get("args", [])]
    return " ".join([*words, *config.get("env", {}), *config.get("headers", {})])


@mcp.command("add")
@plainly
def add_server(
    name: Name,
    rest: Rest,
    transport: Transport = None,
    env: Env = None,
    header: Header = None,
    secrets: Secrets = None,
    scope: ScopeOption = None,
    project: ProjectOption = None,
    json: AsJson = False,
) -> None:
    """Add a server. `qd mcp add tools -- npx server`, or `qd mcp add web https://example.org/mcp`."""
    remote = transport in ("http", "sse") or (transport is None and rest[0].startswith(("http://", "https://")))
    body: dict[str, Any] = {"name": name, "transport": transport or ("http" if remote else "stdio")}
    body |= placed(scope, project)
    lines = [line for line in _lines(secrets) if line.strip()]
    if remote:
        body |= {"url": rest[0], "headers": dict(_pair(line, ":") for line in [*(header or []), *lines])}
    else:
        body |= {"command": rest[0], "args": rest[1:], "env": dict(_pair(line, "=") for line in [*(env or []), *lines])}
    say(patiently(f"Adding {name}", "POST", "/mcp", body), json)


def _lines(file: Path | None) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file else []


def _pair(line: str, mark: str) -> tuple[str, str]:
    key, found, value = line.partition(mark)
    if not found:
        raise Refused(f"{key.strip()}: write it as {'KEY=VALUE' if mark == '=' else 'Name: value'}")
    return key.strip(), value.strip() if mark == ":" else value


@mcp.command("remove")
@plainly
def remove_server(name: Name, scope: ScopeOption = None, project: ProjectOption = None, json: AsJson = False) -> None:
    """Remove a server."""
    where = urlencode(placed(scope, project))
    say(patiently(f"Removing {name}", "DELETE", f"/mcp/{quote(name, safe='')}?{where}"), json)


def register(cli: typer.Typer) -> None:
    cli.add_typer(mcp, name="mcp")
