"""Settings from the command line: what is in force, whether it is right, a file to begin with, and its schema."""

from __future__ import annotations

import json as jsonlib
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from quarterdeck.cli.common import AsJson, ConfigFile, cell, out, plainly, print_json
from quarterdeck.config import Loaded, config_file, home_path, look, prepare_home
from quarterdeck.config.provenance import Place, Problem
from quarterdeck.config.redacted import shown, value_of
from quarterdeck.config.schema import KEYS
from quarterdeck.config.template import schema, template, yaml_text
from quarterdeck.daemon.setup.home import Home
from quarterdeck.daemon.setup.preflight import hindrances
from quarterdeck.errors import ConfigError, Refused
from quarterdeck.system.process_table import alive

config = typer.Typer(
    help="The settings: what is in force, and whether it is right.", no_args_is_help=True, rich_markup_mode=None
)
OneFile = Annotated[Path | None, typer.Argument(metavar="[FILE]", dir_okay=False, resolve_path=True)]


@config.command("show")
@plainly
def show(config: ConfigFile = None, json: AsJson = False) -> None:
    """Show every setting in force, and where it comes from. A line of the file, a variable, a flag of the daemon that
    runs, or its default."""
    found = look(home_path(), config) if config else _in_force()
    if found.config is None:
        raise ConfigError(f"{found.problems[0]}; see: qd config check")
    rows = [(key, shown(key, value_of(found.config, key)), found.place(key)) for key in KEYS]
    if json:
        settings = [{"key": key, "value": value, **_where(place)} for key, value, place in rows]
        print_json({"file": str(found.file), "exists": found.file.exists(), "settings": settings, "next": None})
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("setting", "value", "from"):
        table.add_column(column, overflow="fold")
    for key, value, place in rows:
        style = "dim" if place.source == "default" else ""
        table.add_row(cell(key, style), cell(yaml_text(value), style), cell(place, style))
    out.print(table)


def _in_force() -> Loaded:
    """As the daemon that runs was started, else as one would be."""
    note = Home(home_path()).read_note()
    started = note.get("started") if note is not None and alive(int(note["pid"])) else None
    if not isinstance(started, dict):
        return look(home_path())
    return look(home_path(), Path(started["file"]) if started["file"] else None, flags=started["flags"])


def _where(place: Place) -> dict[str, Any]:
    return {"source": place.source, "from": place.name or None, "line": place.line}


@config.command("check")
@plainly
def check(file: OneFile = None, config: ConfigFile = None, json: AsJson = False) -> None:
    """Say everything that is wrong with the settings. With FILE only with that file, whatever the environment says."""
    if file is not None and config is not None:
        raise typer.BadParameter("give FILE or --config, not both")
    found = look(home_path(), file or config, {} if file is not None else None)
    problems = [*found.problems, *hindrances(found)]
    problems.sort(key=lambda problem: (problem.place.source, problem.place.name, problem.place.line or 0))
    if json:
        print_json({"file": str(found.file), "ok": not problems, "problems": [_problem(p) for p in problems]})
    else:
        for problem in problems:
            out.print(cell(problem))
    if problems:
        number = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise Refused(f"{found.file}: {number}; mend and run qd config check again")
    if not json:
        out.print(
            cell(f"{found.file}: {'all is well' if found.file.exists() else 'is not there: every default holds'}")
        )


def _problem(problem: Problem) -> dict[str, Any]:
    return {**_where(problem.place), "key": problem.key, "problem": problem.says, "nearest": problem.nearest}


@config.command("init")
@plainly
def init(
    file: OneFile = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a config.yaml that names every setting. With its default, and its schema for your editor beside it."""
    home = home_path()
    if file is None:
        prepare_home(home)
    path = config_file(home, file)
    beside = path.with_name(f"{path.stem}.schema.json")
    _write(path, template(beside.name), force=force)
    _write(beside, _schema_text(), force=True)
    out.print(cell(f"Wrote {path}, and its schema {beside.name} beside it."))


def _write(path: Path, text: str, *, force: bool) -> None:
    """Write a file that is ours alone, whole or not at all; one that is there only when asked."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as sink:
            sink.write(text)
        if force:
            draft.replace(path)
        else:
            path.hardlink_to(draft)
    except FileExistsError:
        raise Refused(f"{path} is there already; --force overwrites it") from None
    except OSError as error:
        raise Refused(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        draft.unlink(missing_ok=True)


@config.command("schema")
@plainly
def print_schema() -> None:
    """Print the JSON schema of config.yaml, for an editor."""
    sys.stdout.write(_schema_text())


def _schema_text() -> str:
    return jsonlib.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def register(cli: typer.Typer) -> None:
    cli.add_typer(config, name="config")
