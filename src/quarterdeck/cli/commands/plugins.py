"""Claude Code's plugins and marketplaces from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from quarterdeck.cli.common import AsJson, cell, client, out, plainly, print_json

PATIENCE_SECONDS = 90.0

plugins = typer.Typer(help="Claude Code's plugins and marketplaces.", no_args_is_help=True, rich_markup_mode=None)
marketplaces = typer.Typer(help="Where plugins come from.", no_args_is_help=True, rich_markup_mode=None)
plugins.add_typer(marketplaces, name="marketplaces")

Name = Annotated[str, typer.Argument(metavar="PLUGIN", help="Like demo@market.")]
ScopeOption = Annotated[str | None, typer.Option(help="user, project or local; user unless a project is named.")]
ProjectOption = Annotated[Path | None, typer.Option("--project", help="In this trusted folder.", file_okay=False)]


def patiently(what: str, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """A call that may take a minute, with a sign of life on a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, transient=True, disable=not sys.stdout.isatty()) as progress:
        progress.add_task(what, total=None)
        return client(timeout=PATIENCE_SECONDS).call(method, f"/api/v1{path}", body)


def placed(scope: str | None, project: Path | None) -> dict[str, str]:
    """Whose it is, as the API wants it."""
    if project is None:
        return {"scope": scope or "user"}
    return {"scope": scope or "local", "project": str(project.resolve())}


def say(told: dict[str, Any], as_json: bool) -> None:
    """What Claude Code said."""
    if as_json:
        print_json(told)
    else:
        out.print(cell(told["said"] or "Done."))


@plugins.command("list")
@plainly
def list_plugins(
    available: Annotated[bool, typer.Option("--available", help="Those that could be installed.")] = False,
    json: AsJson = False,
) -> None:
    """List the installed plugins."""
    found = patiently("Asking Claude Code", "GET", "/plugins/available" if available else "/plugins")
    if json:
        print_json(found)
        return
    rows = found["available" if available else "plugins"]
    if not rows:
        out.print("No plugins. See what there is with: qd plugins list --available")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("plugin", "version", "about") if available else ("plugin", "version", "state", "scope", "brings"):
        table.add_column(column, overflow="fold")
    for one in rows:
        about = [cell(one["description"])] if available else _state(one)
        table.add_row(cell(one["plugin_id"]), cell(one["version"] or "–"), *about)
        for error in one.get("errors", []):
            table.add_row(cell(f"  ! {error}", "red"))
    out.print(table)


def _state(one: dict[str, Any]) -> list[Any]:
    state = cell("enabled", "green") if one["enabled"] else cell("disabled", "dim")
    where = f"{one['scope']} {one['project']}" if one["project"] else one["scope"]
    return [state, cell(where), cell(", ".join(one["capabilities"]), "dim")]


@plugins.command("install")
@plainly
def install(name: Name, scope: ScopeOption = None, project: ProjectOption = None, json: AsJson = False) -> None:
    """Install a plugin of a marketplace."""
    _act("install", "Installing", name, scope, project, json)


@plugins.command("enable")
@plainly
def enable(name: Name, scope: ScopeOption = None, project: ProjectOption = None, json: AsJson = False) -> None:
    """Enable a plugin."""
    _act("enable", "Enabling", name, scope, project, json)


@plugins.command("disable")
@plainly
def disable(name: Name, scope: ScopeOption = None, project: ProjectOption = None, json: AsJson = False) -> None:
    """Disable a plugin."""
    _act("disable", "Disabling", name, scope, project, json)


@plugins.command("update")
@plainly
def update(name: Name, scope: ScopeOption = None, project: ProjectOption = None, json: AsJson = False) -> None:
    """Update a plugin; new sessions have it."""
    _act("update", "Updating", name, scope, project, json)


@plugins.command("uninstall")
@plainly
def uninstall(name: Name, scope: ScopeOption = None, project: ProjectOption = None, json: AsJson = False) -> None:
    """Uninstall a plugin."""
    _act("uninstall", "Uninstalling", name, scope, project, json)


def _act(word: str, doing: str, name: str, scope: str | None, project: Path | None, as_json: bool) -> None:
    body = {"name": name, **placed(scope, project)}
    say(patiently(f"{doing} {name}", "POST", f"/plugins/{word}", body), as_json)


@marketplaces.command("list")
@plainly
def list_marketplaces(json: AsJson = False) -> None:
    """List the marketplaces."""
    found = patiently("Asking Claude Code", "GET", "/plugins/marketplaces")
    if json:
        print_json(found)
        return
    if not found["marketplaces"]:
        out.print("No marketplaces. Add one with: qd plugins marketplaces add SOURCE")
    for one in found["marketplaces"]:
        out.print(cell(f"{one['name']}  {one['source']}  {one['location'] or ''}".rstrip()))


@marketplaces.command("add")
@plainly
def add_marketplace(
    source: Annotated[str, typer.Argument(help="A folder, an address, or owner/repository.")], json: AsJson = False
) -> None:
    """Add a marketplace."""
    folder = Path(source).expanduser()
    body = {"source": str(folder.resolve()) if folder.is_dir() else source}
    say(patiently("Adding the marketplace", "POST", "/plugins/marketplaces", body), json)


@marketplaces.command("update")
@plainly
def update_marketplaces(
    name: Annotated[str | None, typer.Argument(help="Which one; all unless told.")] = None, json: AsJson = False
) -> None:
    """Fetch a marketplace again, or all of them."""
    say(patiently("Updating", "POST", "/plugins/marketplaces/update", {"name": name} if name else {}), json)


@marketplaces.command("remove")
@plainly
def remove_marketplace(name: Annotated[str, typer.Argument(help="Its name.")], json: AsJson = False) -> None:
    """Remove a marketplace, and what was installed from it."""
    say(patiently("Removing", "DELETE", f"/plugins/marketplaces/{quote(name, safe='')}"), json)


def register(cli: typer.Typer) -> None:
    cli.add_typer(plugins, name="plugins")
