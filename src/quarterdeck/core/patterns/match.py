"""Matching a pattern with a tool use: as narrowly as possible for allow rules, broadly for deny and ask rules."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, assert_never

from msgspec import Struct, json

from quarterdeck.core.model.tool_use import (
    MAX_PATH_LENGTH,
    ToolUse,
    glob_start,
    is_within,
    searched_paths,
    written_paths,
)
from quarterdeck.core.patterns.command_patterns import CommandPattern, WildcardCommand
from quarterdeck.core.patterns.glob_overlap import paths_overlap
from quarterdeck.core.patterns.globs import Glob, folded, literal
from quarterdeck.core.patterns.path_patterns import PathBase, PathPattern, has_wildcard
from quarterdeck.core.patterns.pattern import (
    DomainPattern,
    FieldPattern,
    McpPattern,
    NamePattern,
    Pattern,
    WholeToolPattern,
)
from quarterdeck.core.patterns.rule_words import BASH

_URL = re.compile(r"https?://([a-z0-9_.-]+)(?::[0-9]+)?(?:[/?#]|$)", re.IGNORECASE)
MAX_VALUES = 1000

_DEFAULT_NAMES = {"subagent_type": "general-purpose"}
"""Names that apply when the input has none."""


class MatchSubject(Struct, frozen=True, kw_only=True):
    """A tool use, prepared once for all rules."""

    tool_use: ToolUse
    real_path: str | None
    paths: tuple[str, ...]
    """Every path the use may concern: as resolved, as written, as searched, and the names searched for there."""
    cwd: str
    home: str
    host: str | None
    """The host of a URL; None if it is not certain."""


def match_subject(tool_use: ToolUse) -> MatchSubject:
    """Prepare a tool use for matching."""
    if tool_use.tool_name == BASH:  # its command is matched in rules/command_rules
        return MatchSubject(
            tool_use=tool_use, real_path=None, paths=(), cwd=tool_use.cwd, home=tool_use.home, host=None
        )
    fold = folded if tool_use.case_folds else str
    searched = glob_start(tool_use)
    written = written_paths(tool_use)
    paths = [path for path in (tool_use.path, *written, searched) if path is not None]
    paths += searched_paths(tool_use)
    certain = tool_use.path is not None and searched is None and len(set(written)) < 2
    return MatchSubject(
        tool_use=tool_use,
        real_path=fold(tool_use.path) if tool_use.path is not None and certain else None,
        paths=tuple(dict.fromkeys(map(fold, paths))) if paths else (),
        cwd=fold(tool_use.cwd),
        home=fold(tool_use.home),
        host=host_of(tool_use.tool_input.get("url")),
    )


def host_of(url: Any) -> str | None:
    """The host of a URL; None if URL parsers could disagree about it."""
    match = (
        _URL.match(url) if isinstance(url, str) and url.isascii() and url.isprintable() and "\\" not in url else None
    )
    return match[1].lower().rstrip(".") or None if match else None


def may_concern(pattern: Pattern, tool: str) -> bool:
    """True if the pattern can cover the tool at all. An MCP tool's name may be that of a server with further tools."""
    if tool in pattern.tools:
        return True
    return tool.startswith("mcp__") and any(tool.startswith(f"{name}__") for name in pattern.tools)


def allows(pattern: Pattern, subject: MatchSubject, project: str | None) -> bool:
    """True if an allow rule with this pattern covers the use."""
    tool = subject.tool_use.tool_name
    if tool not in pattern.tools and not isinstance(pattern.form, McpPattern):
        return False
    match pattern.form:
        case WholeToolPattern():
            return True
        case PathPattern():
            return subject.real_path is not None and _matches_path(
                pattern.form, subject, subject.real_path, project, broad=False
            )
        case McpPattern():
            name = _tool_name(pattern.form, tool)
            return bool(name) and "__" not in name and pattern.form.tools.matches(name)
        case DomainPattern():
            return subject.host is not None and _in_domain(pattern.form, subject.host)
        case NamePattern():
            return _matches_name(pattern.form, subject.tool_use, broad=False)
        case FieldPattern():
            return all(_field_matches(subject.tool_use.tool_input, name, glob) for name, glob in pattern.form.globs)
        case CommandPattern() | WildcardCommand():
            return False
        case _:
            assert_never(pattern.form)


def forbids(pattern: Pattern, subject: MatchSubject, project: str | None) -> bool:
    """True if a deny or ask rule with this pattern covers the use."""
    if not may_concern(pattern, subject.tool_use.tool_name):
        return False
    match pattern.form:
        case WholeToolPattern():
            return True
        case PathPattern():
            return any(_matches_path(pattern.form, subject, path, project, broad=True) for path in subject.paths)
        case McpPattern():
            name = _tool_name(pattern.form, subject.tool_use.tool_name)
            return bool(name) and pattern.form.tools.matches(name)
        case DomainPattern():
            return subject.host is None or _in_domain(pattern.form, subject.host)
        case NamePattern():
            return _matches_name(pattern.form, subject.tool_use, broad=True)
        case FieldPattern():
            return all(_field_may_match(subject.tool_use.tool_input, name, glob) for name, glob in pattern.form.globs)
        case CommandPattern() | WildcardCommand():
            return False
        case _:
            assert_never(pattern.form)


def _tool_name(server: McpPattern, name: str) -> str:
    """The tool's name without the server's; empty for a tool of another server."""
    start = f"{server.name}__"
    return name.removeprefix(start) if name.startswith(start) else ""


def base_folder(files: PathPattern, subject: MatchSubject, project: str | None) -> str:
    """The folder that a path pattern starts at."""
    match files.base:
        case PathBase.ROOT:
            return "/"
        case PathBase.HOME:
            return subject.home
        case PathBase.PROJECT:
            fold = folded if subject.tool_use.case_folds else str
            return fold(project) if project is not None else subject.cwd
        case PathBase.CWD:
            return subject.cwd
        case _:
            assert_never(files.base)


def _matches_path(files: PathPattern, subject: MatchSubject, path: str, project: str | None, *, broad: bool) -> bool:
    if len(path) > MAX_PATH_LENGTH:
        return broad
    base = base_folder(files, subject, project)
    if not base.startswith("/"):
        return False
    if broad and has_wildcard(path) and _may_expand_to_match(files, subject, path, base):
        return True
    if not is_within(path, base):
        return False
    parts = [part for part in path[len(base) :].split("/") if part]
    glob = files.folded if subject.tool_use.case_folds else files.glob
    return glob.matches(parts, below=broad, itself=broad or subject.tool_use.covers_folder)


def _may_expand_to_match(files: PathPattern, subject: MatchSubject, path: str, base: str) -> bool:
    """True if a path with wildcards, wherever it starts, may expand to one that the pattern matches."""
    parts = files.parts if not subject.tool_use.case_folds else tuple(map(folded, files.parts))
    return paths_overlap((*_folders(base), *parts), [part for part in path.split("/") if part])


# The same few base folders are escaped for every pattern.
@lru_cache(maxsize=64)
def _folders(base: str) -> tuple[str, ...]:
    return tuple(literal(part) for part in base.split("/") if part)


def _in_domain(domain: DomainPattern, host: str) -> bool:
    return host.endswith("." + domain.host) if domain.below else host == domain.host


def _matches_name(named: NamePattern, tool_use: ToolUse, *, broad: bool) -> bool:
    name = tool_use.tool_input.get(named.field, _DEFAULT_NAMES.get(named.field))
    if not isinstance(name, str) or not named.name.matches(name.removeprefix("/") if named.field == "skill" else name):
        return False
    return broad or named.with_args or not tool_use.tool_input.get("args")


def _field_matches(tool_input: dict[str, Any], name: str, glob: Glob) -> bool:
    """True if a field is a plain value that the glob matches. A value with `..` could lead anywhere, so it does not."""
    text = _text(tool_input.get(name))
    return text is not None and glob.matches(text) and ".." not in re.split(r"[/\\]", text)


def _field_may_match(tool_input: dict[str, Any], name: str, glob: Glob) -> bool:
    """True if the glob matches a field or anything in it, or if the field is too large to check."""
    nodes, checked = [tool_input[name]] if name in tool_input else [], 0
    while nodes:
        node = nodes.pop()
        checked += 1
        text = _text(node)
        if checked > MAX_VALUES or (text is not None and glob.matches(text)):
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
