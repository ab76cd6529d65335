"""`qd config`: show and check the settings, create a config.yaml, print its schema."""

from __future__ import annotations

import json as jsonlib
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from quarterdeck.cli.common import Columns, ConfigFile, Json, Output, argument, cell, command, group, option, out, table
from quarterdeck.config.effective import effective_settings
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.config.loader import LoadedConfig, config_file, read_config
from quarterdeck.config.provenance import Problem, ValueSource
from quarterdeck.config.template import schema, template, yaml_text
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.daemon.setup.preflight import startup_problems
from quarterdeck.errors import ConfigError, Refused
from quarterdeck.system.private_files import write_private
from quarterdeck.system.process_table import alive

app = group("Show, check and create Quarterdeck's settings.", name="config")
FILE: dict[str, Any] = {"metavar": "[FILE]", "dir_okay": False, "resolve_path": True}
CheckedFile = Annotated[Path | None, argument("Config file to check on its own.", **FILE)]
NewFile = Annotated[
    Path | None, argument("Config file to create (default: config.yaml in Quarterdeck's home).", **FILE)
]


@command(app, "show")
def show_settings(config: ConfigFile = None) -> Output:
    """Show every setting and where its value comes from. That is a line of the config file, an environment variable, a
    flag of the running daemon, or the default."""
    found = read_config(home_path(), config) if config else _effective_config()
    if found.config is None:
        raise ConfigError(f"{found.problems[0]}; see: qd config check")
    settings: list[Json] = msgspec.to_builtins(effective_settings(found.config, found))
    columns: Columns = {
        "setting": lambda one: _setting_cell(one, one["key"]),
        "value": lambda one: _setting_cell(one, yaml_text(one["value"])),
        "from": lambda one: _setting_cell(one, found.place(one["key"])),
    }
    value = {"file": str(found.file), "exists": found.file.exists(), "settings": settings, "next": None}
    return Output(value, [table(settings, columns, columns)])


def _setting_cell(setting: Json, value: object) -> Text:
    return cell(value, "dim" if setting["source"] == "default" else "")


def _effective_config() -> LoadedConfig:
    """The settings of the running daemon, or those that a new one would use."""
    note = Home(home_path()).read_note()
    started = note.get("started") if note is not None and alive(int(note["pid"])) else None
    if not isinstance(started, dict):
        return read_config(home_path())
    return read_config(home_path(), Path(started["file"]) if started["file"] else None, flags=started["flags"])


def _where(place: ValueSource) -> dict[str, Any]:
    return {"source": place.source, "from": place.name or None, "line": place.line}


@command(app)
def check(file: CheckedFile = None, config: ConfigFile = None) -> Output:
    """Check the settings and list every problem. With FILE, check only that file and ignore environment variables."""
    if file is not None and config is not None:
        raise typer.BadParameter("use either FILE or --config, not both")
    found = read_config(home_path(), file or config, {} if file is not None else None)
    problems = [*found.problems, *startup_problems(found)]
    problems.sort(key=lambda problem: (problem.place.source, problem.place.name, problem.place.line or 0))
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = [*map(str, problems)]
        sys.stderr.write(f"quarterdeck: {found.file}: {count}; fix and run again: qd config check\n")
    else:
        lines = [f"{found.file}: {'no problems' if found.file.exists() else 'does not exist; every default applies'}"]
    value = {"file": str(found.file), "ok": not problems, "problems": [_problem(p) for p in problems]}
    return Output(value, lines, is_ok=not problems)


def _problem(problem: Problem) -> dict[str, Any]:
    return {**_where(problem.place), "key": problem.key, "problem": problem.message, "nearest": problem.nearest}


@command(app)
def init(
    file: NewFile = None,
    force: Annotated[bool, option("Overwrite an existing file.", "--force")] = False,
) -> None:
    """Create a config.yaml with every setting and its default. Also writes a JSON schema for your editor next to it."""
    home = home_path()
    if file is None:
        prepare_home(home)
    path = config_file(home, file)
    schema_path = path.with_name(f"{path.stem}.schema.json")
    _write(path, template(schema_path.name), force=force)
    _write(schema_path, _schema_text(), force=True)
    out.print(cell(f"Wrote {path} and its schema {schema_path.name}."))


def _write(path: Path, text: str, *, force: bool) -> None:
    """Write a file that only the owner can read, whole or not at all. Overwrites only with `force`."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_private(path if force else draft, text)
        if not force:
            path.hardlink_to(draft)
    except FileExistsError:
        raise Refused(f"{path} already exists; use --force to overwrite it") from None
    except OSError as error:
        raise Refused(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        draft.unlink(missing_ok=True)


@command(app, "schema")
def print_schema() -> None:
    """Print the JSON schema of config.yaml, for your editor."""
    sys.stdout.write(_schema_text())


def _schema_text() -> str:
    return jsonlib.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
