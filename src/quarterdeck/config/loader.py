"""The settings in force: config.yaml, then QUARTERDECK_* variables, then flags; or all that is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from quarterdeck.config.provenance import DEFAULT, Given, Place, Problem, nearest, unknown
from quarterdeck.config.redacted import may_repeat
from quarterdeck.config.schema import KEYS, VARIABLES, Config, default_of
from quarterdeck.config.yaml_file import SettingsFile
from quarterdeck.errors import ConfigError

PREFIX = "QUARTERDECK_"
NO_SETTINGS = ("QUARTERDECK_HOME", "QUARTERDECK_TAG", "QUARTERDECK_TOKEN")
ALIKE = 0.8
LONGEST_SHOWN = 80

Flags = Mapping[str, dict[str, Any]]


class Loaded(Struct, frozen=True, kw_only=True):
    """What was found: the settings, unless something is wrong, and where each of them was given. `rest` has the default
    for every value that is wrong."""

    file: Path
    config: Config | None
    rest: Config
    places: dict[str, Place]
    problems: tuple[Problem, ...]

    def place(self, key: str) -> Place:
        return self.places.get(key, DEFAULT)


def config_file(home: Path, file: Path | None = None) -> Path:
    """The file that is read: the one that was named, else the one in the home."""
    return file or home / "config.yaml"


def load_config(
    home: Path, file: Path | None = None, environ: Mapping[str, str] | None = None, flags: Flags | None = None
) -> Config:
    """The settings in force."""
    found = look(home, file, environ, flags)
    if found.config is None:
        more = len(found.problems) - 1
        rest = f" (and {more} more; see: qd config check{f' --config {file}' if file else ''})" if more else ""
        raise ConfigError(f"{found.problems[0]}{rest}")
    return found.config


def look(
    home: Path, file: Path | None = None, environ: Mapping[str, str] | None = None, flags: Flags | None = None
) -> Loaded:
    """Read everything and raise nothing. The last to speak about a setting is heard."""
    read = SettingsFile(config_file(home, file))
    read.read(required=file is not None)
    variables, misspelt = _environment(os.environ if environ is None else environ)
    given = {one.key: one for one in (*read.given, *variables, *_flags(flags or {}))}
    problems = [*read.problems, *misspelt, *(unknown(g.key, g.place) for g in given.values() if g.key not in KEYS)]
    known = {key: one for key, one in given.items() if key in KEYS}
    rest, wrong = _right(known)
    problems += wrong
    return Loaded(
        file=read.path,
        config=None if problems else rest,
        rest=rest,
        places={key: one.place for key, one in known.items()},
        problems=tuple(sorted(problems, key=lambda p: (p.place.source, p.place.name, p.place.line or 0))),
    )


def _right(given: Mapping[str, Given]) -> tuple[Config, list[Problem]]:
    """The settings without the values that are wrong, and these."""
    try:
        return Config.model_validate(_tree(given.values())), []
    except ValidationError as error:
        wrong = [_wrong_value(one, given) for one in error.errors()]
    named = {problem.key for problem in wrong}
    try:
        return Config.model_validate(_tree(one for key, one in given.items() if key not in named)), wrong
    except ValidationError:
        return Config(), wrong


def _environment(environ: Mapping[str, str]) -> tuple[list[Given], list[Problem]]:
    """Variables that are settings, and those that were meant to be. An empty one says nothing."""
    given: list[Given] = []
    problems: list[Problem] = []
    for name in sorted(n for n, value in environ.items() if n.startswith(PREFIX) and value and n not in NO_SETTINGS):
        place = Place("variable", name)
        section, _, rest = name.removeprefix(PREFIX).lower().partition("_")
        if name in VARIABLES:
            given.append(Given(VARIABLES[name], _from_variable(VARIABLES[name], environ[name]), place))
        elif rest and section in Config.model_fields:
            given.append(Given(f"{section}.{rest}", environ[name], place))
        elif near := nearest(name.removeprefix(PREFIX), (v.removeprefix(PREFIX) for v in VARIABLES), ALIKE):
            says = f"is not a setting; did you mean {PREFIX}{near}?"
            problems.append(Problem(place=place, says=says, nearest=VARIABLES[PREFIX + near]))
    return given, problems


def _from_variable(key: str, text: str) -> Any:
    """`none` takes back what the file says, where there can be none."""
    default = default_of(key)
    if text.lower() != "none" or not (default is None or isinstance(default, list)):
        return text
    return None if default is None else []


def _flags(flags: Flags) -> list[Given]:
    return [
        Given(f"{section}.{key}", value, Place("flag", f"--{key.replace('_', '-')}"))
        for section, keys in flags.items()
        for key, value in keys.items()
    ]


def _tree(given: Iterable[Given]) -> dict[str, dict[str, Any]]:
    tree: dict[str, dict[str, Any]] = {}
    for one in given:
        section, _, name = one.key.partition(".")
        tree.setdefault(section, {})[name] = one.value
    return tree


def _wrong_value(error: ErrorDetails, given: Mapping[str, Given]) -> Problem:
    key = ".".join(str(part) for part in error["loc"][:2])
    message = error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    value = repr(error["input"])
    value = value if len(value) <= LONGEST_SHOWN else value[:LONGEST_SHOWN] + "…"
    says = f"must be {message}, is {value}" if may_repeat(key) else f"must be {message}"
    return Problem(place=given[key].place if key in given else DEFAULT, key=key, says=says)
