"""The settings in force: config.yaml, then QUARTERDECK_* variables, then flags; or all that is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from quarterdeck.config.provenance import DEFAULT, GivenValue, Problem, ValueSource, nearest, unknown_key
from quarterdeck.config.redacted import may_show
from quarterdeck.config.settings import KEYS, VARIABLES, Config, default_of
from quarterdeck.config.value_words import demand
from quarterdeck.config.yaml_file import ConfigFile
from quarterdeck.errors import ConfigError

PREFIX = "QUARTERDECK_"
NO_SETTINGS = ("QUARTERDECK_HOME", "QUARTERDECK_TAG", "QUARTERDECK_TOKEN")
SIMILARITY = 0.8
MAX_SHOWN = 80

Flags = Mapping[str, dict[str, Any]]


class LoadedConfig(Struct, frozen=True, kw_only=True):
    """The settings, or None when one is wrong, and where each was set. `usable` has the defaults for wrong values."""

    file: Path
    config: Config | None
    usable: Config
    places: dict[str, ValueSource]
    problems: tuple[Problem, ...]

    def place(self, key: str) -> ValueSource:
        return self.places.get(key, DEFAULT)


def config_file(home: Path, file: Path | None = None) -> Path:
    """The file to read: the one that was named, else the one in the home."""
    return file or home / "config.yaml"


def load_config(
    home: Path, file: Path | None = None, environ: Mapping[str, str] | None = None, flags: Flags | None = None
) -> Config:
    """The settings in force. Raises ConfigError with the first problem."""
    loaded = read_config(home, file, environ, flags)
    if loaded.config is None:
        more = len(loaded.problems) - 1
        rest = f" (and {more} more; see: qd config check{f' --config {file}' if file else ''})" if more else ""
        raise ConfigError(f"{loaded.problems[0]}{rest}")
    return loaded.config


def read_config(
    home: Path, file: Path | None = None, environ: Mapping[str, str] | None = None, flags: Flags | None = None
) -> LoadedConfig:
    """Read everything and raise nothing. The last source that sets a key wins."""
    read = ConfigFile(config_file(home, file))
    read.read(required=file is not None)
    variables, misspelt = _environment_values(os.environ if environ is None else environ)
    values = {value.key: value for value in (*read.values, *variables, *_flag_values(flags or {}))}
    problems = [*read.problems, *misspelt, *(unknown_key(g.key, g.place) for g in values.values() if g.key not in KEYS)]
    valid_keys = {key: value for key, value in values.items() if key in KEYS}
    rest, wrong = _without_wrong_values(valid_keys)
    problems += wrong
    return LoadedConfig(
        file=read.path,
        config=None if problems else rest,
        usable=rest,
        places={key: value.place for key, value in valid_keys.items()},
        problems=tuple(sorted(problems, key=lambda p: (p.place.source, p.place.name, p.place.line or 0))),
    )


def _without_wrong_values(values: Mapping[str, GivenValue]) -> tuple[Config, list[Problem]]:
    """The settings without the wrong values, and the problems with these."""
    try:
        return Config.model_validate(_tree(values.values())), []
    except ValidationError as error:
        wrong = [_value_problem(detail, values) for detail in error.errors()]
    named = {problem.key for problem in wrong}
    try:
        return Config.model_validate(_tree(value for key, value in values.items() if key not in named)), wrong
    except ValidationError:
        return Config(), wrong


def _environment_values(environ: Mapping[str, str]) -> tuple[list[GivenValue], list[Problem]]:
    """Variables that are settings, and problems with those that were meant to be. An empty one sets nothing."""
    values: list[GivenValue] = []
    problems: list[Problem] = []
    for name in sorted(n for n, value in environ.items() if n.startswith(PREFIX) and value and n not in NO_SETTINGS):
        place = ValueSource("variable", name)
        section, _, rest = name.removeprefix(PREFIX).lower().partition("_")
        if name in VARIABLES:
            values.append(GivenValue(VARIABLES[name], _from_variable(VARIABLES[name], environ[name]), place))
        elif rest and section in Config.model_fields:
            values.append(GivenValue(f"{section}.{rest}", environ[name], place))
        elif near := nearest(name.removeprefix(PREFIX), (v.removeprefix(PREFIX) for v in VARIABLES), SIMILARITY):
            text = f"is not a setting; did you mean {PREFIX}{near}?"
            problems.append(Problem(place=place, message=text, nearest=VARIABLES[PREFIX + near]))
    return values, problems


def _from_variable(key: str, text: str) -> Any:
    """The value in a variable. `none` resets what the file sets, where there can be none."""
    default = default_of(key)
    if text.lower() != "none" or not (default is None or isinstance(default, list)):
        return text
    return None if default is None else []


def _flag_values(flags: Flags) -> list[GivenValue]:
    return [
        GivenValue(f"{section}.{key}", value, ValueSource("flag", f"--{key.replace('_', '-')}"))
        for section, keys in flags.items()
        for key, value in keys.items()
    ]


def _tree(values: Iterable[GivenValue]) -> dict[str, dict[str, Any]]:
    tree: dict[str, dict[str, Any]] = {}
    for value in values:
        section, _, name = value.key.partition(".")
        tree.setdefault(section, {})[name] = value.value
    return tree


def _value_problem(error: ErrorDetails, values: Mapping[str, GivenValue]) -> Problem:
    key = ".".join(str(part) for part in error["loc"][:2])
    message = demand(error["msg"])
    value = repr(error["input"])
    value = value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "…"
    text = f"must be {message}, is {value}" if may_show(key) else f"must be {message}"
    return Problem(place=values[key].place if key in values else DEFAULT, key=key, message=text)
