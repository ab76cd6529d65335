"""The daemon itself as every surface sees it: the settings in force, and what is wrong with it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.views.resources.runner_resource import Resource


class SettingView(Resource, kw_only=True, rename={"origin": "from"}):
    """A setting in force. `source` is default, file, variable or flag; `from` the name of the file, variable or flag,
    `line` the line in the file. Of an address that may be a secret the value has only the host."""

    key: str
    value: Any
    source: str
    origin: str | None
    line: int | None


class SettingList(Struct, kw_only=True):
    settings: list[SettingView]
    next: None = None


class FindingView(Resource, kw_only=True):
    """Something that `qd doctor` says of the daemon. `level` is problem, advice or good."""

    name: str
    ok: bool
    level: str
    says: str
    fix: str


class FindingList(Struct, kw_only=True):
    """What the daemon says about itself, good or not; `status` is that of `/healthz`."""

    status: str
    health: list[FindingView]
    next: None = None


class HealthView(Struct, kw_only=True):
    status: str
