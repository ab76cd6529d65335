"""Whether a pattern is about one use of a tool. An allow reads it as narrowly as it can, a deny and an ask broadly."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, assert_never

from msgspec import Struct, json

from quarterdeck.core.model.tool_use import LONGEST_PATH, Subject, is_within, searched_path, sought_paths, written_path
from quarterdeck.core.patterns.commands import Command, WildCommand
from quarterdeck.core.patterns.glob_overlap import paths_meet
from quarterdeck.core.patterns.globs import Glob, folded, literal
from quarterdeck.core.patterns.paths import Base, Files, has_wildcard
from quarterdeck.core.patterns.pattern import Domain, Fields, Named, Pattern, Server, Whole

_URL = re.compile(r"https?://([a-z0-9_.-]+)(?::[0-9]+)?(?:[/?#]|$)", re.IGNORECASE)
_LEAVES = 1000

_UNNAMED = {"subagent_type": "general-purpose"}
"""What runs when the input names nothing."""


class Look(Struct, frozen=True, kw_only=True):
    """What is looked at, worked out once for all the rules."""

    subject: Subject
    real: str | None
    seen: tuple[str, ...]
    """Every path the use may be about: as resolved, as written, as searched, and what is sought there by its name."""
    cwd: str
    home: str
    host: str | None
    """The host of a URL, None when it cannot be told for sure."""


def look_at(subject: Subject) -> Look:
    if subject.tool_name == "Bash":  # what it is about stands in its command
        return Look(subject=subject, real=None, seen=(), cwd=subject.cwd, home=subject.home, host=None)
    fold = folded if subject.case_folds else str
    searched = searched_path(subject)
    found = [path for path in (subject.path, written_path(subject), searched) if path is not None]
    found += sought_paths(subject)
    seen = tuple(dict.fromkeys(map(fold, found))) if found else ()
    return Look(
        subject=subject,
        real=None if subject.path is None or searched is not None else fold(subject.path),
        seen=seen,
        cwd=fold(subject.cwd),
        home=fold(subject.home),
        host=host_of(subject.tool_input.get("url")),
    )


def host_of(url: Any) -> str | None:
    """The host of a plain URL. One that programs could read differently has none."""
    found = (
        _URL.match(url) if isinstance(url, str) and url.isascii() and url.isprintable() and "\\" not in url else None
    )
    return found[1].lower().rstrip(".") or None if found else None


def concerns(pattern: Pattern, tool: str) -> bool:
    """Whether the pattern can be about the tool at all. An MCP tool's name may be that of a server of other tools."""
    if tool in pattern.tools:
        return True
    return tool.startswith("mcp__") and any(tool.startswith(f"{name}__") for name in pattern.tools)


def allows(pattern: Pattern, look: Look, project: str | None) -> bool:
    """Whether an allow rule with this pattern covers the use."""
    tool = look.subject.tool_name
    if tool not in pattern.tools and not isinstance(pattern.form, Server):
        return False
    match pattern.form:
        case Whole():
            return True
        case Files():
            return look.real is not None and _files(pattern.form, look, look.real, project, broad=False)
        case Server():
            name = _tool_of(pattern.form, tool)
            return bool(name) and "__" not in name and pattern.form.tools.matches(name)
        case Domain():
            return look.host is not None and _in_domain(pattern.form, look.host)
        case Named():
            return _named(pattern.form, look.subject, broad=False)
        case Fields():
            return all(_holds(look.subject.tool_input, name, glob) for name, glob in pattern.form.globs)
        case Command() | WildCommand():
            return False
        case _:
            assert_never(pattern.form)


def forbids(pattern: Pattern, look: Look, project: str | None) -> bool:
    """Whether a deny or ask rule with this pattern is about the use."""
    if not concerns(pattern, look.subject.tool_name):
        return False
    match pattern.form:
        case Whole():
            return True
        case Files():
            return any(_files(pattern.form, look, path, project, broad=True) for path in look.seen)
        case Server():
            name = _tool_of(pattern.form, look.subject.tool_name)
            return bool(name) and pattern.form.tools.matches(name)
        case Domain():
            return look.host is None or _in_domain(pattern.form, look.host)
        case Named():
            return _named(pattern.form, look.subject, broad=True)
        case Fields():
            return all(_may_hold(look.subject.tool_input, name, glob) for name, glob in pattern.form.globs)
        case Command() | WildCommand():
            return False
        case _:
            assert_never(pattern.form)


def _tool_of(server: Server, name: str) -> str:
    """What is left of a tool's name behind that of the server; empty for another server's tool."""
    start = f"{server.name}__"
    return name.removeprefix(start) if name.startswith(start) else ""


def base_of(files: Files, look: Look, project: str | None) -> str:
    """The folder that a pattern over files starts at."""
    match files.base:
        case Base.ROOT:
            return "/"
        case Base.HOME:
            return look.home
        case Base.PROJECT:
            fold = folded if look.subject.case_folds else str
            return fold(project) if project is not None else look.cwd
        case Base.CWD:
            return look.cwd
        case _:
            assert_never(files.base)


def _files(files: Files, look: Look, path: str, project: str | None, *, broad: bool) -> bool:
    if len(path) > LONGEST_PATH:
        return broad
    base = base_of(files, look, project)
    if not base.startswith("/"):
        return False
    if broad and has_wildcard(path) and _may_be(files, look, path, base):
        return True
    if not is_within(path, base):
        return False
    parts = [part for part in path[len(base) :].split("/") if part]
    glob = files.folded if look.subject.case_folds else files.glob
    return glob.matches(parts, below=broad, itself=broad or look.subject.looks_in_folders)


def _may_be(files: Files, look: Look, path: str, base: str) -> bool:
    """Whether a path with wildcards in it, wherever it starts, may turn out as one that the pattern is about."""
    parts = files.parts if not look.subject.case_folds else tuple(map(folded, files.parts))
    return paths_meet((*_folders(base), *parts), [part for part in path.split("/") if part])


@lru_cache(maxsize=64)
def _folders(base: str) -> tuple[str, ...]:
    return tuple(literal(part) for part in base.split("/") if part)


def _in_domain(domain: Domain, host: str) -> bool:
    return host.endswith("." + domain.host) if domain.below else host == domain.host


def _named(named: Named, subject: Subject, *, broad: bool) -> bool:
    name = subject.tool_input.get(named.field, _UNNAMED.get(named.field))
    if not isinstance(name, str) or not named.name.matches(name.removeprefix("/") if named.field == "skill" else name):
        return False
    return broad or named.with_args or not subject.tool_input.get("args")


def _holds(tool_input: dict[str, Any], name: str, glob: Glob) -> bool:
    """Whether a field is a plain value that the glob matches. One that climbs with `..` could be anywhere."""
    text = _text(tool_input.get(name))
    return text is not None and glob.matches(text) and ".." not in re.split(r"[/\\]", text)


def _may_hold(tool_input: dict[str, Any], name: str, glob: Glob) -> bool:
    """Whether a field, or anything in it, is what the glob matches; what is too large to look through may be."""
    nodes, looked = [tool_input[name]] if name in tool_input else [], 0
    while nodes:
        node = nodes.pop()
        looked += 1
        text = _text(node)
        if looked > _LEAVES or (text is not None and glob.matches(text)):
            return True
        if isinstance(node, dict):
            nodes.extend(node.values())
        elif isinstance(node, list | tuple):
            nodes.extend(node)
    return False


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return json.encode(value).decode() if isinstance(value, bool | int | float) else None
