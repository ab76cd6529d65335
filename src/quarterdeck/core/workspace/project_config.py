"""What a project brings of its own: what would run or be set in a session there, shown before anybody trusts it."""

from __future__ import annotations

from msgspec import Struct


class BroughtHook(Struct, frozen=True, kw_only=True):
    """`runs` is the command, the address or the prompt, whole; `matcher` the tools it is for, if it names some."""

    event: str
    matcher: str
    runs: str
    file: str


class BroughtServer(Struct, frozen=True, kw_only=True):
    """An MCP server. `runs` is its command or address without secrets; `gets` names its variables and headers."""

    name: str
    transport: str
    runs: str
    gets: tuple[str, ...]
    file: str


class BroughtSetting(Struct, frozen=True, kw_only=True):
    """Another setting: an allow rule, a variable, or anything else. `says` is empty where the value may be secret."""

    name: str
    says: str
    file: str


class Brings(Struct, frozen=True, kw_only=True):
    """Everything that was found. `troubles` say what is there and could not be read: nobody has seen that."""

    hooks: tuple[BroughtHook, ...] = ()
    servers: tuple[BroughtServer, ...] = ()
    variables: tuple[BroughtSetting, ...] = ()
    allows: tuple[BroughtSetting, ...] = ()
    others: tuple[BroughtSetting, ...] = ()
    troubles: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        return self == Brings()


class Looked(Struct, frozen=True, kw_only=True):
    """A folder by its real path, whether sessions may be started in it, and what it brings."""

    path: str
    trusted: bool
    brings: Brings


def joined(parts: list[Brings], most: int) -> Brings:
    """All of them in one, of each sort at most so many; what is left out is said."""
    troubles = [words for part in parts for words in part.troubles]
    kept = {}
    for sort in ("hooks", "servers", "variables", "allows", "others"):
        found = [one for part in parts for one in getattr(part, sort)]
        kept[sort] = tuple(found[:most])
        if len(found) > most:
            troubles.append(f"{len(found) - most:,} more {sort} are not shown; look at the files")
    return Brings(**kept, troubles=tuple(troubles))
