"""`qd projects`: list and scan projects, trust and untrust folders."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer
from rich.console import RenderableType
from rich.text import Text

from quarterdeck.cli.commands.worktrees import changes
from quarterdeck.cli.common import (
    SLOW_CALL_SECONDS,
    Json,
    Output,
    Yes,
    argument,
    cell,
    client,
    command,
    default_command,
    group,
    option,
    remote,
    show,
    table,
)
from quarterdeck.cli.output.progress import progress_bar
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import Misused
from quarterdeck.link.messages import LEVELS
from quarterdeck.surfaces.client.view_reader import read_views
from quarterdeck.surfaces.terminal.forms.project_choice import last_used_at
from quarterdeck.surfaces.text.labels import ago
from quarterdeck.surfaces.text.project_config_text import config_lines
from quarterdeck.views.workspace.project_view import ProjectView

app = group("List the projects on this machine, and trust folders.", name="projects")

POLL_SECONDS = 0.1
Dir = Annotated[Path, argument("Folder of the project.", metavar="DIR", exists=True, file_okay=False)]
STYLES = {"head": "bold", "trouble": "yellow"}
Refresh = Annotated[bool, option("Ask git about every project, changed or not.", "--refresh")]
FormerRefresh = Annotated[bool, option("The former name of --refresh.", "--anew", hidden=True)]


@default_command(app)
@command(app, "list")
def list_projects() -> Output:
    """List the projects: branch, changes, trust and sessions."""
    found = client(SLOW_CALL_SECONDS).get("/api/v1/projects")
    return Output(found, _project_lines(found))


@command(app)
def scan(refresh: Refresh = False, former_refresh: FormerRefresh = False) -> Output:
    """Scan for projects, and list them."""
    query = urlencode({"wait": 0, **({"anew": "true"} if refresh or former_refresh else {})})
    state = client(SLOW_CALL_SECONDS).call("POST", f"/api/v1/projects/scan?{query}")
    with progress_bar("Scanning for projects") as progress:
        while state["state"] == "running":
            progress(state["done"], state["total"] or None)
            time.sleep(POLL_SECONDS)
            state = client().get("/api/v1/projects/scan")
    return list_projects()


def _project_lines(found: Json) -> Iterator[RenderableType]:
    columns: dict[str, str | Callable[[ProjectView], object]] = {
        "project": "name",
        "branch": lambda one: cell(one.git_branch or ("–" if one.is_dirty is None else "detached"), "cyan"),
        "": lambda one: cell(f"? {one.git_trouble}", "yellow") if one.git_trouble else changes(one, None),
        "trust": _trust,
        "sessions": _sessions,
        "last used": lambda one: ago(last_used_at(one) or None),
        "path": lambda one: cell(one.path, "dim"),
    }
    projects = sorted(read_views(ProjectView, found["projects"]), key=lambda one: (-last_used_at(one), one.path))
    hint = "No projects. Set projects.roots in config.yaml to the folders to scan, or start Claude Code in a project."
    yield table(projects, columns, ("project", "path")) if projects else hint
    yield from (cell(f"! {note}", "yellow") for note in found["scan"]["notes"])


def _trust(project: ProjectView) -> Text:
    if project.trusted:
        return cell("trusted", "green")
    return cell("rules" if project.trust == "rules" else "–", "dim")


def _sessions(project: ProjectView) -> str:
    counts = {"live": project.live_sessions, "before": len(project.prior_sessions)}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


@command(app)
def trust(
    folder: Dir,
    yes: Yes = False,
    json: Annotated[bool, option("Print JSON instead of the folder's config.", "--json")] = False,
) -> None:
    """Trust a folder. Shows the folder's own config first. In a trusted folder its allow rules apply and sessions can
    start."""
    if not json:
        show(Output(None, _folder_config(folder)), as_json=False)
    if sys.stdin.isatty() and not yes and not typer.confirm(f"Trust {one_line(str(folder.resolve()))}?", err=True):
        raise typer.Exit(1)
    show(_set_trust("trust", "Trusted", folder), as_json=json)


def _folder_config(folder: Path) -> Iterator[RenderableType]:
    """What the folder's own files would run or set in a session."""
    yield f"{folder.resolve()} contains:"
    for part, text in config_lines(client().get("/api/v1/projects/brings", path=str(folder.resolve()))):
        yield Text(f"{'    ' if part == 'item' else '  '}{text}", style=STYLES.get(part, ""))


@command(app)
def untrust(folder: Dir) -> Output:
    """Stop trusting a folder. Its allow rules stop applying."""
    return _set_trust("untrust", "Not trusted", folder)


@command(app)
def share(
    folder: Annotated[Path, argument("Folder of the project.", metavar="DIR", file_okay=False)],
    level: Annotated[
        str,
        argument("everything, no_output, titles or nothing; default removes the folder's own level.", metavar="LEVEL"),
    ],
) -> Output:
    """Set what a folder shares with the hub."""
    from quarterdeck.daemon.setup.joined_hub import set_share

    if remote() is not None:
        raise Misused("--url: what a machine shares is set on that machine; run qd projects share there")
    if level not in (*LEVELS, "default"):
        raise Misused(f"LEVEL must be one of {', '.join(LEVELS)} or default, is {level!r}")
    path = str(folder.expanduser().resolve())
    prepare_home(home_path())
    shared = set_share(home_path(), path, None if level == "default" else level).share
    return Output({"path": path, "level": shared.get(path), "share": shared}, [f"{path}: {level.replace('_', ' ')}"])


def _set_trust(route: str, done: str, folder: Path) -> Output:
    view = client().post(f"/api/v1/projects/{route}", {"path": str(folder.resolve())})
    return Output(view, [f"{done}: {view['path']}"])
