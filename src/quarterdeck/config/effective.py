"""The settings in force, each with its value and where it was set: what every surface shows of them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.config.loader import LoadedConfig
from quarterdeck.config.redacted import masked, value_of
from quarterdeck.config.settings import KEYS, Config


class EffectiveSetting(Struct, frozen=True, kw_only=True, rename={"origin": "from"}):
    """A setting. `source` is default, file, variable or flag; `from` the name of the file, variable or flag, `line` the
    line in the file. Of an address that may be a secret the value has only the host."""

    key: str
    value: Any
    source: str
    origin: str | None
    line: int | None


def effective_settings(config: Config, found: LoadedConfig) -> list[EffectiveSetting]:
    """Every setting of `config`, with the places that `found` has."""
    return [_effective(config, found, key) for key in KEYS]


def _effective(config: Config, found: LoadedConfig, key: str) -> EffectiveSetting:
    place = found.place(key)
    value = masked(key, value_of(config, key))
    return EffectiveSetting(key=key, value=value, source=place.source, origin=place.name or None, line=place.line)
