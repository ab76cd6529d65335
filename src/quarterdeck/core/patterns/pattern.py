"""The pattern of a rule, in the syntax of Claude Code: `Tool`, `Tool(…)`, `mcp__server__tool`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from quarterdeck.core.patterns.command_patterns import CommandPattern, WildcardCommand, read_command_pattern
from quarterdeck.core.patterns.globs import Glob, plain
from quarterdeck.core.patterns.path_patterns import PathPattern, read_path_pattern
from quarterdeck.core.patterns.rule_words import AGENTS, BASH, COVERED_WORDS, EDITS, FETCH, READS, RULE_WORDS, SKILL
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.errors import BadPattern

MAX_LENGTH = 1000
"""Characters that a pattern may have."""

FIELDS: Mapping[str, frozenset[str]] = {
    BASH: frozenset({"run_in_background", "dangerouslyDisableSandbox"}),
    **dict.fromkeys(
        AGENTS, frozenset({"description", "isolation", "model", "name", "prompt", "run_in_background", "subagent_type"})
    ),
    SKILL: frozenset({"args", "skill"}),
    **dict.fromkeys(
        EDITS, frozenset({"content", "edit_mode", "new_source", "new_string", "old_string", "replace_all"})
    ),
    **dict.fromkeys(READS, frozenset({"glob", "limit", "offset", "output_mode", "pages", "pattern", "type"})),
}
"""Fields of the input that a pattern can name. These tools have a form of their own, so no other word counts as a
field. For Bash, a field named like a program, such as `timeout`, is left out."""

EXECUTABLE_FIELDS = frozenset({"cmd", "code", "command", "script"})
"""Fields that an unknown tool may execute. A wildcard there would allow anything that is appended."""

_SPELLINGS = {word.lower(): word for word in RULE_WORDS}

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_MCP = re.compile(r"mcp__[A-Za-z0-9_.*-]+")
_HOST = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_FIELD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_-]*):(.*)", re.DOTALL)
_NEXT_FIELD = re.compile(r",(?=\s*[A-Za-z_][A-Za-z0-9_-]*:)")


class WholeToolPattern(Struct, frozen=True):
    """Every use of the tool."""


class McpPattern(Struct, frozen=True):
    """Every tool of an MCP server, or those whose name the glob matches."""

    name: str
    tools: Glob
    every: bool


class DomainPattern(Struct, frozen=True):
    """A host; with `below`, every host below it but not the host itself."""

    host: str
    below: bool


class NamePattern(Struct, frozen=True):
    """A sub-agent or a skill by name. `with_args`: with any arguments of a skill."""

    field: str
    name: Glob
    with_args: bool


class FieldPattern(Struct, frozen=True):
    """Fields of the input, each of which must match."""

    globs: tuple[tuple[str, Glob], ...]


Form = (
    WholeToolPattern
    | CommandPattern
    | WildcardCommand
    | PathPattern
    | McpPattern
    | DomainPattern
    | NamePattern
    | FieldPattern
)


class Pattern(Struct, frozen=True):
    """A pattern as read: its text in the plainest form, the words of the tools it covers, and which of their uses."""

    text: str
    tools: tuple[str, ...]
    form: Form


# Rulebooks are rebuilt often (at a start, for suggestions, for lint), mostly from the same patterns.
@lru_cache(maxsize=8192)
def read_pattern(text: str, effect: str = "deny") -> Pattern:
    """Read a pattern. BadPattern names the problem and a right form. With `effect` allow, patterns that are too open to
    be allowed are refused."""
    _check_text(text)
    tool, scope = _split(text.strip())
    if tool != BASH and ("\n" in text or "\t" in text):
        raise BadPattern(f"{tool}: only a shell command has lines and tabs; write the pattern on one line")
    if tool.startswith("mcp__"):
        return _read_mcp(tool, scope, effect)
    _check_tool(tool)
    tools = COVERED_WORDS.get(tool, (tool,))
    if scope is not None and is_project_wide(tool, scope, effect):
        scope = PROJECT_WIDE
    if scope is None or scope in ("*", ":*", "**"):
        return Pattern(tool, tools, WholeToolPattern())
    if not scope.strip():
        raise BadPattern(f"{text}: there is nothing between the parentheses; write {tool} for every use of it")
    return Pattern(f"{tool}({scope})", tools, _read_scope(tool, scope, effect))


PROJECT_WIDE = "./**"
"""The scope of every file of the project."""


def is_project_wide(tool: str, scope: str, effect: str) -> bool:
    """True for `**` in an allow rule for files. It means the project; the machine it means in a deny or ask rule."""
    return effect == "allow" and scope == "**" and (tool in EDITS or tool in READS)


def _check_text(text: str) -> None:
    if not text.strip():
        raise BadPattern("a pattern is empty; write for example Bash(git log:*)")
    if len(text) > MAX_LENGTH:
        raise BadPattern(f"{text[:40]}…: longer than {MAX_LENGTH} characters; write a shorter prefix or a folder")
    if hidden := UNSEEN.search(text):
        raise BadPattern(f"the pattern holds the invisible character U+{ord(hidden[0]):04X}; type it again without it")


def _split(text: str) -> tuple[str, str | None]:
    """The tool's name and the text in its parentheses."""
    tool, opened, rest = text.partition("(")
    if not opened:
        if ")" in tool:
            raise BadPattern(f"{text}: a parenthesis is closed but never opened; write Tool(…)")
        return tool, None
    if not rest.endswith(")"):
        raise BadPattern(f"{text}: the parenthesis is not closed at the end; write {tool or 'Tool'}(…)")
    scope = rest[:-1]
    if not balanced(scope):
        raise BadPattern(f"{text}: the parentheses do not balance; quote or escape those that are meant as they are")
    return tool, scope


def balanced(scope: str) -> bool:
    """True if the parentheses pair up, ignoring those in quotes or after a backslash."""
    depth, quote, skip = 0, "", False
    for sign in scope:
        if skip:
            skip = False
        elif sign == "\\" and quote != "'":
            skip = True
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            if depth < 0:
                return False
    return depth == 0 or bool(quote)


def _check_tool(tool: str) -> None:
    if not _NAME.fullmatch(tool):
        problem = f"{tool}: is not a tool name" if tool else "no tool is named"
        raise BadPattern(f"{problem}; write for example Bash(git log:*), Edit(src/**) or mcp__server__tool")
    spelling = _SPELLINGS.get(tool.lower(), tool)
    if spelling != tool:
        raise BadPattern(f"{tool}: tool names match exactly; write {spelling}")


def _read_scope(tool: str, scope: str, effect: str) -> Form:
    fields = _read_fields(tool, scope, effect)
    if fields is not None:
        if tool == BASH and effect == "allow":
            raise BadPattern(f"{BASH}({scope}): allows every command; write {BASH}(…) with the command itself")
        return fields
    if tool == BASH:
        return read_command_pattern(scope, effect)
    if tool in EDITS or tool in READS:
        return read_path_pattern(tool, scope)
    if tool == FETCH:
        return _read_domain(scope)
    if tool in AGENTS:
        return NamePattern("subagent_type", Glob(scope.strip()), with_args=True)
    if tool == SKILL:
        return _read_skill(scope)
    raise BadPattern(f"{tool}({scope}): {tool} has no such form; write {tool}, or {tool}(field:value)")


def _read_fields(tool: str, scope: str, effect: str) -> FieldPattern | None:
    """Read `field:glob, field:glob`; None if the scope has another form."""
    known_fields = FIELDS.get(tool)
    first = _FIELD.fullmatch(scope)
    if (
        first is None
        or (known_fields is not None and first[1] not in known_fields)
        or (tool == FETCH and first[1] == "domain")
    ):
        return None
    globs: list[tuple[str, Glob]] = []
    for part in _NEXT_FIELD.split(scope):
        match = _FIELD.fullmatch(part)
        if match is None or not match[2].strip():
            raise BadPattern(f"{tool}({scope}): {part.strip()} has no value; write {tool}(field:value, field:value)")
        if known_fields is not None and match[1] not in known_fields:
            names = ", ".join(sorted(known_fields))
            raise BadPattern(f"{tool}({scope}): {match[1]} cannot be matched; the fields of {tool} are {names}")
        if effect == "allow" and match[1] in EXECUTABLE_FIELDS and plain(match[2].strip()) is None:
            raise BadPattern(f"{tool}({scope}): {match[1]} is executed, so no wildcard can allow it; write it in full")
        globs.append((match[1], Glob(match[2].strip())))
    return FieldPattern(tuple(globs))


def _read_domain(scope: str) -> DomainPattern | WholeToolPattern:
    key, _, host = scope.strip().partition(":")
    host = host.strip().lower().rstrip(".")
    if key != "domain" or not host:
        raise BadPattern(f"{FETCH}({scope}): write {FETCH}(domain:example.org) or {FETCH}(domain:*.example.org)")
    if host == "*":
        return WholeToolPattern()
    try:
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise BadPattern(f"{FETCH}({scope}): {host} is not a host name; write {FETCH}(domain:example.org)") from None
    if not _HOST.fullmatch(host):
        raise BadPattern(f"{FETCH}({scope}): {host} is not a host name; write it without scheme, port and path")
    return DomainPattern(host.removeprefix("*."), below=host.startswith("*."))


def _read_skill(scope: str) -> NamePattern:
    """Read `name` as the skill without arguments, `name *` and `name:*` as the skill with any."""
    name = scope.strip().removeprefix("/")
    bare = name.removesuffix(":*") if name.endswith(":*") else name.removesuffix(" *").rstrip()
    return NamePattern("skill", Glob(bare), with_args=bare != name)


def _read_mcp(tool: str, scope: str | None, effect: str) -> Pattern:
    """Read a tool, `mcp__server`, `mcp__server__*` or `mcp__server__get_*`. The server's name may itself hold `__`."""
    if not _MCP.fullmatch(tool):
        raise BadPattern(f"{tool}: is not an MCP tool; write mcp__server__tool, mcp__server__* or mcp__server")
    server, joined, name = tool.removeprefix("mcp__").rpartition("__")
    if not joined:
        server, name = name, "*"
    if not server or not name or ("*" in server and joined) or (server == "*" and effect == "allow"):
        raise BadPattern(f"{tool}: name the server in full; write mcp__server__* or mcp__server__tool")
    if plain(server) is None and server != "*":
        raise BadPattern(f"{tool}: name the server in full; write mcp__server__* or mcp__server__tool")
    fields = None if scope is None or scope == "*" else _read_fields(tool, scope, effect)
    if scope not in (None, "*") and fields is None:
        raise BadPattern(f"{tool}({scope}): write {tool}(field:value), or {tool} for every use of it")
    if "*" not in name:
        return Pattern(tool if fields is None else f"{tool}({scope})", (tool,), fields or WholeToolPattern())
    if fields is not None:
        raise BadPattern(f"{tool}({scope}): fields need one tool; write mcp__server__tool(field:value)")
    key = "mcp" if server == "*" else f"mcp__{server}"
    return Pattern(tool, (key,), McpPattern(key, Glob(name), every=name == "*"))
