"""Projects from the command line: which there are, and which folders are trusted."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from quarterdeck.cli.common import AsJson, ago, cell, client, out, plainly, print_json
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.text.project_config import brings_lines

projects = typer.Typer(
    help="The projects of this machine, and which folders are trusted.",
    invoke_without_command=True,
    rich_markup_mode=None,
)

POLL_SECONDS = 0.1
Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The project's folder.", exists=True, file_okay=False)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Trust it without a question.")]
STYLES = {"head": "bold", "trouble": "yellow"}
Anew = Annotated[bool, typer.Option("--anew", help="Ask git about every project, changed or not.")]


@projects.callback()
@plainly
def list_projects(context: typer.Context, json: AsJson = False) -> None:
    """List the projects: branch, changes, trust, and the conversations in each."""
    if context.invoked_subcommand is not None:
        return
    _show(_call("GET", "/api/v1/projects"), json)


@projects.command("list")
@plainly
def list_again(json: AsJson = False) -> None:
    """List the projects, as `qd projects` does."""
    _show(_call("GET", "/api/v1/projects"), json)


@projects.command("scan")
@plainly
def scan(anew: Anew = False, json: AsJson = False) -> None:
    """Look for projects again, with a bar on a terminal, and list them."""
    told = _call("POST", f"/api/v1/projects/scan?wait=0{'&anew=true' if anew else ''}")
    columns = (TextColumn("Looking for projects"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True, disable=not sys.stdout.isatty()) as progress:
        bar = progress.add_task("", total=None)
        while told["state"] == "running":
            progress.update(bar, completed=told["done"], total=told["total"] or None)
            time.sleep(POLL_SECONDS)
            told = client().get("/api/v1/projects/scan")
    _show(_call("GET", "/api/v1/projects"), json)


def _call(method: str, path: str) -> dict[str, Any]:
    """The first look may take a while."""
    return client(timeout=60.0).call(method, path)


def _show(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    if not found["projects"]:
        out.print(
            "No projects. Name folders to look in with projects.roots in config.yaml, or start Claude Code in one."
        )
    else:
        out.print(_table(found["projects"]))
    for note in found["scan"]["notes"]:
        out.print(cell(f"! {note}", "yellow"))


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("project", "branch", "", "trust", "sessions", "used", "path"):
        table.add_column(column, no_wrap=column not in ("project", "path"), overflow="fold")
    for one in sorted(found, key=lambda p: (-_used(p), p["path"])):
        table.add_row(
            cell(one["name"]),
            cell(one["git_branch"] or ("detached" if one["is_dirty"] is not None else "–"), "cyan"),
            _changes(one),
            cell("trusted", "green") if one["trusted"] else cell("rules" if one["trust"] == "rules" else "–", "dim"),
            cell(_sessions(one)),
            cell(ago(_used(one) or None)),
            cell(one["path"], "dim"),
        )
    return table


def _used(project: dict[str, Any]) -> float:
    """When it was last worked in with an agent, else when it last changed."""
    past = [one["last_used_at"] for one in project["prior_sessions"]]
    return float(max([*past, project["last_modified"]]))


def _changes(project: dict[str, Any]) -> Text:
    if project["git_trouble"]:
        return cell(f"? {project['git_trouble']}", "yellow")
    parts = ["changed" if project["is_dirty"] else ""]
    parts += [f"↑{project['ahead']}" if project["ahead"] else "", f"↓{project['behind']}" if project["behind"] else ""]
    return cell(" ".join(part for part in parts if part), "yellow")


def _sessions(project: dict[str, Any]) -> str:
    parts = [f"{project['live_sessions']} live" if project["live_sessions"] else ""]
    parts.append(f"{len(project['prior_sessions'])} before" if project["prior_sessions"] else "")
    return ", ".join(part for part in parts if part)


@projects.command("trust")
@plainly
def trust(folder: Dir, yes: Yes = False, json: AsJson = False) -> None:
    """Trust a folder. Its rules hold, and sessions may be started in it; shows first what it brings."""
    if not json:
        _show_brings(folder)
    if sys.stdin.isatty() and not yes and not typer.confirm(f"Trust {one_line(str(folder.resolve()))}?", err=True):
        raise typer.Exit(1)
    _say("trust", folder, json)


def _show_brings(folder: Path) -> None:
    """What would run or be set in a session there."""
    out.print(cell(f"{folder.resolve()} brings:"))
    for part, text in brings_lines(client().get("/api/v1/projects/brings", path=str(folder.resolve()))):
        out.print(Text(f"{'    ' if part == 'item' else '  '}{text}", style=STYLES.get(part, "")))


@projects.command("untrust")
@plainly
def untrust(folder: Dir, json: AsJson = False) -> None:
    """Trust a folder no more. What the rules of this project allow is asked again."""
    _say("untrust", folder, json)


def _say(word: str, folder: Path, as_json: bool) -> None:
    told = client().post(f"/api/v1/projects/{word}", {"path": str(folder.resolve())})
    if as_json:
        print_json(told)
    else:
        out.print(cell(f"{'Trusted' if word == 'trust' else 'Not trusted'}: {told['path']}"))


def register(cli: typer.Typer) -> None:
    cli.add_typer(projects, name="projects")
