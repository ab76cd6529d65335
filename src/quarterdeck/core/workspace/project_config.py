"""The configuration that a repository carries: what it would run or set in a session, shown before it is trusted."""

from __future__ import annotations

from msgspec import Struct


class ProjectHook(Struct, frozen=True, kw_only=True, rename={"command": "runs"}):
    """A hook. `command` is the whole command, address or prompt, named `runs` in the API; `matcher` the tools it is
    for, if it names some."""

    event: str
    matcher: str
    command: str
    file: str


class ProjectServer(Struct, frozen=True, kw_only=True, rename={"command": "runs", "environment": "gets"}):
    """An MCP server. `command` is its command or address without secrets; `environment` the names of its variables and
    headers. In the API they are `runs` and `gets`."""

    name: str
    transport: str
    command: str
    environment: tuple[str, ...]
    file: str


class ProjectSetting(Struct, frozen=True, kw_only=True, rename={"value": "says"}):
    """Another setting: an allow rule, a variable, or anything else. `value` is empty if it may be secret;
    the API names it `says`."""

    name: str
    value: str
    file: str


class ProjectConfig(Struct, frozen=True, kw_only=True, rename={"problems": "troubles"}):
    """All configuration of a project. `problems` name the parts that could not be read, and so cannot be shown."""

    hooks: tuple[ProjectHook, ...] = ()
    servers: tuple[ProjectServer, ...] = ()
    variables: tuple[ProjectSetting, ...] = ()
    allows: tuple[ProjectSetting, ...] = ()
    others: tuple[ProjectSetting, ...] = ()
    problems: tuple[str, ...] = ()


class FolderConfig(Struct, frozen=True, kw_only=True):
    """A folder by its real path, its configuration, and whether it is trusted so that sessions may start in it."""

    path: str
    trusted: bool
    config: ProjectConfig


def merge_configs(parts: list[ProjectConfig], most: int) -> ProjectConfig:
    """Merge several configurations, with at most this many entries of each kind; `problems` say what is left out."""
    problems = [words for part in parts for words in part.problems]
    kept = {}
    for kind in ("hooks", "servers", "variables", "allows", "others"):
        found = [one for part in parts for one in getattr(part, kind)]
        kept[kind] = tuple(found[:most])
        if len(found) > most:
            problems.append(f"{len(found) - most:,} more {kind} are not shown; see the files")
    return ProjectConfig(**kept, problems=tuple(problems))
