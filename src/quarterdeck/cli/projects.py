"""Projects from the command line: which folders are trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quarterdeck.cli.common import AsJson, cell, client, out, plainly, print_json

projects = typer.Typer(help="Which folders are trusted.", no_args_is_help=True, rich_markup_mode=None)

Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The project's folder.", exists=True, file_okay=False)]


@projects.command("trust")
@plainly
def trust(folder: Dir, json: AsJson = False) -> None:
    """Trust a folder: what the rules of this project allow holds in it."""
    _say("trust", folder, json)


@projects.command("untrust")
@plainly
def untrust(folder: Dir, json: AsJson = False) -> None:
    """Trust a folder no more: what the rules of this project allow is asked again."""
    _say("untrust", folder, json)


def _say(word: str, folder: Path, as_json: bool) -> None:
    told = client().post(f"/api/v1/projects/{word}", {"path": str(folder.resolve())})
    if as_json:
        print_json(told)
    else:
        out.print(cell(f"{'Trusted' if word == 'trust' else 'Not trusted'}: {told['path']}"))


def register(cli: typer.Typer) -> None:
    cli.add_typer(projects, name="projects")
