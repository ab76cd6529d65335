"""`qd plugins`: manage Claude Code's plugins and marketplaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

from rich.console import RenderableType
from rich.text import Text

from quarterdeck.cli.common import Columns, Json, Output, argument, cell, command, default_command, group, option, table
from quarterdeck.cli.output.progress import call_with_spinner

app = group("Manage Claude Code's plugins and marketplaces.", name="plugins")
marketplaces = group("Manage the marketplaces that plugins are installed from.", name="marketplaces")
app.add_typer(marketplaces)

Name = Annotated[str, argument("Name of the plugin, like demo@market.", metavar="PLUGIN")]
Scope = Literal["user", "project", "local"]
ScopeOption = Annotated[Scope | None, option("Scope (default: user; local with --project).")]
ProjectOption = Annotated[Path | None, option("Folder of the project; must be trusted.", "--project", file_okay=False)]
CHANGES = (
    ("install", "Installing", "Install a plugin from a marketplace."),
    ("enable", "Enabling", "Enable a plugin."),
    ("disable", "Disabling", "Disable a plugin."),
    ("update", "Updating", "Update a plugin. New sessions use the new version."),
    ("uninstall", "Uninstalling", "Uninstall a plugin."),
)
"""The commands that change one plugin: name, what the spinner says, help."""


def scope_fields(scope: str | None, project: Path | None) -> dict[str, str]:
    """The scope and project fields of a request body."""
    if project is None:
        return {"scope": scope or "user"}
    return {"scope": scope or "local", "project": str(project.resolve())}


def scope_place(one: Json) -> str:
    """The scope of a plugin or server, with its project if it has one."""
    return f"{one['scope']} {one['project']}" if one["project"] else str(one["scope"])


def change(title: str, method: str, path: str, body: Json | None = None) -> Output:
    """Make a change through Claude Code, whose output is printed."""
    result = call_with_spinner(title, method, path, body)
    return Output(result, [result["said"] or "Done."])


@default_command(app)
@command(app, "list")
def list_plugins(
    available: Annotated[bool, option("List available plugins instead of installed ones.", "--available")] = False,
) -> Output:
    """List the installed plugins."""
    found = call_with_spinner("Asking Claude Code", "GET", "/plugins/available" if available else "/plugins")
    rows = found["available" if available else "plugins"]
    return Output(found, _plugin_lines(rows, available))


def _plugin_lines(rows: list[Json], available: bool) -> Iterator[RenderableType]:
    more: Columns = (
        {"about": "description"} if available else {"state": _state, "scope": scope_place, "contains": _parts}
    )
    columns: Columns = {"plugin": "plugin_id", "version": lambda one: one["version"] or "–", **more}
    if rows:
        yield table(rows, columns, columns)
    else:
        yield "No plugins. See which you can install with: qd plugins list --available"
    for one in rows:
        yield from (cell(f"! {one['plugin_id']}: {error}", "red") for error in one.get("errors", []))


def _state(one: Json) -> Text:
    return cell("enabled", "green") if one["enabled"] else cell("disabled", "dim")


def _parts(one: Json) -> Text:
    return cell(", ".join(one["capabilities"]), "dim")


def _changing(word: str, doing: str) -> Callable[..., Output]:
    """The command that makes one of the changes."""

    def run(name: Name, scope: ScopeOption = None, project: ProjectOption = None) -> Output:
        return change(f"{doing} {name}", "POST", f"/plugins/{word}", {"name": name, **scope_fields(scope, project)})

    return run


for _word, _doing, _help in CHANGES:
    command(app, _word, _help)(_changing(_word, _doing))


@command(marketplaces, "list")
def list_marketplaces() -> Output:
    """List the marketplaces."""
    found = call_with_spinner("Asking Claude Code", "GET", "/plugins/marketplaces")
    rows = [f"{one['name']}  {one['source']}  {one['location'] or ''}".rstrip() for one in found["marketplaces"]]
    return Output(found, rows or ["No marketplaces. Add one with: qd plugins marketplaces add SOURCE"])


@command(marketplaces, "add")
def add_marketplace(
    source: Annotated[str, argument("Folder, address, or owner/repository.")],
) -> Output:
    """Add a marketplace."""
    folder = Path(source).expanduser()
    body = {"source": str(folder.resolve()) if folder.is_dir() else source}
    return change("Adding the marketplace", "POST", "/plugins/marketplaces", body)


@command(marketplaces, "update")
def update_marketplaces(
    name: Annotated[str | None, argument("Marketplace to update (default: all).")] = None,
) -> Output:
    """Update one marketplace, or all of them."""
    return change("Updating", "POST", "/plugins/marketplaces/update", {"name": name} if name else {})


@command(marketplaces, "remove")
def remove_marketplace(name: Annotated[str, argument("Name of the marketplace.")]) -> Output:
    """Remove a marketplace and the plugins installed from it."""
    return change("Removing", "DELETE", f"/plugins/marketplaces/{quote(name, safe='')}")
