"""What a rule is about, in the words Claude Code uses: `Tool`, `Tool(…)`, `mcp__server__tool`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from quarterdeck.core.patterns.commands import Command, WildCommand, read_command
from quarterdeck.core.patterns.globs import Glob, plain
from quarterdeck.core.patterns.paths import Files, read_files
from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.errors import BadPattern

LIMIT = 1000
"""How long a pattern may be."""

EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
READS = ("Read", "NotebookRead", "Grep", "Glob", "LS")
AGENTS = ("Agent", "Task")

COVERS: Mapping[str, tuple[str, ...]] = {"Edit": EDITS, "Read": READS, "Agent": AGENTS, "Task": AGENTS}
"""The tools that a rule for one tool is about, where it is more than that one."""

FIELDS: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"run_in_background", "dangerouslyDisableSandbox"}),
    "Agent": frozenset({"description", "isolation", "model", "name", "prompt", "run_in_background", "subagent_type"}),
    "Skill": frozenset({"args", "skill"}),
    **dict.fromkeys(
        EDITS, frozenset({"content", "edit_mode", "new_source", "new_string", "old_string", "replace_all"})
    ),
    **dict.fromkeys(READS, frozenset({"glob", "limit", "offset", "output_mode", "pages", "pattern", "type"})),
}
"""Fields of the input that a pattern can name. These tools have a form of their own, so only these words count;
for Bash none that is a program too, like timeout."""

RUN = frozenset({"cmd", "code", "command", "script"})
"""Fields that a tool we do not know may run. A wildcard there would allow whatever is appended."""

_KNOWN = (
    *EDITS,
    *READS,
    *AGENTS,
    "Bash",
    "Skill",
    "WebFetch",
    "WebSearch",
    "AskUserQuestion",
    "ExitPlanMode",
    "TodoWrite",
)
_SPELT = {name.lower(): name for name in _KNOWN}

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_MCP = re.compile(r"mcp__[A-Za-z0-9_.*-]+")
_HOST = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_FIELD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_-]*):(.*)", re.DOTALL)
_NEXT_FIELD = re.compile(r",(?=\s*[A-Za-z_][A-Za-z0-9_-]*:)")


class Whole(Struct, frozen=True):
    """Every use of the tool."""


class Server(Struct, frozen=True):
    """Every tool of an MCP server, or those whose name the glob matches."""

    name: str
    tools: Glob
    every: bool


class Domain(Struct, frozen=True):
    """A host; with `below` every host below it and not itself."""

    host: str
    below: bool


class Named(Struct, frozen=True):
    """A sub-agent or a skill by its name; `with_args` whatever a skill is told."""

    field: str
    name: Glob
    with_args: bool


class Fields(Struct, frozen=True):
    """Fields of the input, each of which must match."""

    globs: tuple[tuple[str, Glob], ...]


Form = Whole | Command | WildCommand | Files | Server | Domain | Named | Fields


class Pattern(Struct, frozen=True):
    """A pattern that has been read: its text in the plainest form, the tools it is about, and what of them."""

    text: str
    tools: tuple[str, ...]
    form: Form


@lru_cache(maxsize=8192)
def read_pattern(text: str, effect: str = "deny") -> Pattern:
    """The pattern; BadPattern names the problem and a right form. What is too open to be allowed is refused when
    `effect` is allow."""
    _check_text(text)
    tool, scope = _split(text.strip())
    if tool != "Bash" and ("\n" in text or "\t" in text):
        raise BadPattern(f"{tool}: only a shell command has lines and tabs; write the pattern on one line")
    if tool.startswith("mcp__"):
        return _read_mcp(tool, scope, effect)
    _check_tool(tool)
    tools = COVERS.get(tool, (tool,))
    if scope is None or scope in ("*", ":*", "**"):
        return Pattern(tool, tools, Whole())
    if not scope.strip():
        raise BadPattern(f"{text}: nothing stands between the parentheses; write {tool} for every use of it")
    return Pattern(f"{tool}({scope})", tools, _read_scope(tool, scope, effect))


def _check_text(text: str) -> None:
    if not text.strip():
        raise BadPattern("a pattern is empty; write for example Bash(git log:*)")
    if len(text) > LIMIT:
        raise BadPattern(f"{text[:40]}…: longer than {LIMIT} characters; write a shorter prefix or a folder")
    if hidden := UNSEEN.search(text):
        raise BadPattern(f"a pattern holds the unseen character U+{ord(hidden[0]):04X}; type it again without it")


def _split(text: str) -> tuple[str, str | None]:
    """The tool's name and what stands in its parentheses."""
    tool, opened, rest = text.partition("(")
    if not opened:
        if ")" in tool:
            raise BadPattern(f"{text}: a parenthesis is closed and never opened; write Tool(…)")
        return tool, None
    if not rest.endswith(")"):
        raise BadPattern(f"{text}: the parenthesis is not closed at the end; write {tool or 'Tool'}(…)")
    scope = rest[:-1]
    if not balanced(scope):
        raise BadPattern(f"{text}: the parentheses do not balance; quote or escape those that are meant as they are")
    return tool, scope


def balanced(scope: str) -> bool:
    """Whether parentheses pair up, but for those in quotes or behind a backslash."""
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
        said = f"{tool}: is no tool's name" if tool else "no tool is named"
        raise BadPattern(f"{said}; write for example Bash(git log:*), Edit(src/**) or mcp__server__tool")
    spelt = _SPELT.get(tool.lower(), tool)
    if spelt != tool:
        raise BadPattern(f"{tool}: tool names match exactly; write {spelt}")


def _read_scope(tool: str, scope: str, effect: str) -> Form:
    named = _read_fields(tool, scope, effect)
    if named is not None:
        if tool == "Bash" and effect == "allow":
            raise BadPattern(f"Bash({scope}): allows every command; write Bash(…) with the command itself")
        return named
    if tool == "Bash":
        return read_command(scope, effect)
    if tool in EDITS or tool in READS:
        return read_files(tool, scope)
    if tool == "WebFetch":
        return _read_domain(scope)
    if tool in AGENTS:
        return Named("subagent_type", Glob(scope.strip()), with_args=True)
    if tool == "Skill":
        return _read_skill(scope)
    raise BadPattern(f"{tool}({scope}): {tool} knows no such form; write {tool}, or {tool}(field:value)")


def _read_fields(tool: str, scope: str, effect: str) -> Fields | None:
    """`field:glob, field:glob`; None when the scope is another form of the tool."""
    known = FIELDS.get("Agent" if tool in AGENTS else tool)
    first = _FIELD.fullmatch(scope)
    if first is None or (known is not None and first[1] not in known) or (tool == "WebFetch" and first[1] == "domain"):
        return None
    globs: list[tuple[str, Glob]] = []
    for part in _NEXT_FIELD.split(scope):
        found = _FIELD.fullmatch(part)
        if found is None or not found[2].strip():
            raise BadPattern(f"{tool}({scope}): {part.strip()} has no value; write {tool}(field:value, field:value)")
        if known is not None and found[1] not in known:
            names = ", ".join(sorted(known))
            raise BadPattern(f"{tool}({scope}): {found[1]} is no field to match on; those of {tool} are {names}")
        if effect == "allow" and found[1] in RUN and plain(found[2].strip()) is None:
            raise BadPattern(f"{tool}({scope}): {found[1]} is run, and text is no way to allow it; write it in full")
        globs.append((found[1], Glob(found[2].strip())))
    return Fields(tuple(globs))


def _read_domain(scope: str) -> Domain | Whole:
    key, _, host = scope.strip().partition(":")
    host = host.strip().lower().rstrip(".")
    if key != "domain" or not host:
        raise BadPattern(f"WebFetch({scope}): write WebFetch(domain:example.org) or WebFetch(domain:*.example.org)")
    if host == "*":
        return Whole()
    try:
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise BadPattern(f"WebFetch({scope}): {host} is no host; write WebFetch(domain:example.org)") from None
    if not _HOST.fullmatch(host):
        raise BadPattern(f"WebFetch({scope}): {host} is no host; write it without scheme, port and path")
    return Domain(host.removeprefix("*."), below=host.startswith("*."))


def _read_skill(scope: str) -> Named:
    """`name` alone is the skill told nothing; `name *` and `name:*` whatever it is told."""
    name = scope.strip().removeprefix("/")
    bare = name.removesuffix(":*") if name.endswith(":*") else name.removesuffix(" *").rstrip()
    return Named("skill", Glob(bare), with_args=bare != name)


def _read_mcp(tool: str, scope: str | None, effect: str) -> Pattern:
    """A tool, `mcp__server`, `mcp__server__*` or `mcp__server__get_*`. The server's name may itself hold `__`."""
    if not _MCP.fullmatch(tool):
        raise BadPattern(f"{tool}: is no MCP tool; write mcp__server__tool, mcp__server__* or mcp__server")
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
        return Pattern(tool if fields is None else f"{tool}({scope})", (tool,), fields or Whole())
    if fields is not None:
        raise BadPattern(f"{tool}({scope}): fields need one tool; write mcp__server__tool(field:value)")
    key = "mcp" if server == "*" else f"mcp__{server}"
    return Pattern(tool, (key,), Server(key, Glob(name), every=name == "*"))
