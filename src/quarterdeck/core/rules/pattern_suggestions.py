"""Patterns to offer when a person remembers a decision: from exactly this use to broader ones, each covering it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.tool_use import ToolUse, is_within
from quarterdeck.core.patterns.command_patterns import exact_command
from quarterdeck.core.patterns.coverage import is_judged, runs_anything
from quarterdeck.core.patterns.globs import literal
from quarterdeck.core.patterns.match import host_of
from quarterdeck.core.patterns.pattern import EXECUTABLE_FIELDS, balanced
from quarterdeck.core.patterns.rule_words import AGENTS, ANSWERED, BASH, EDIT, EDITS, FETCH, READ, READS, SKILL
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.shell.leading_options import without_leading_options
from quarterdeck.core.shell.script import read_script

MAX_PATTERNS = 6
"""Patterns to offer at most."""

SUBCOMMANDS: Mapping[tuple[str, ...], int] = {
    **dict.fromkeys([(name,) for name in ("apt", "brew", "cargo", "docker", "git", "go", "hatch", "helm", "just")], 2),
    **dict.fromkeys([(name,) for name in ("kubectl", "make", "npm", "pip", "pip3", "pnpm", "poetry", "rustup")], 2),
    **dict.fromkeys([(name,) for name in ("systemctl", "terraform", "tox", "nox", "uv", "yarn", "dotnet", "mix")], 2),
    **dict.fromkeys([(name,) for name in ("aws", "az", "gcloud", "gh", "glab")], 3),
    **dict.fromkeys([(name, "run") for name in ("npm", "pnpm", "yarn")], 3),
    **dict.fromkeys([("git", name) for name in ("bisect", "config", "remote", "stash", "submodule", "worktree")], 3),
    ("docker", "compose"): 3,
    ("uv", "pip"): 3,
}
"""The number of first words that tell what a program with subcommands does."""

COMMAND_PREFIXES: frozenset[tuple[str, ...]] = frozenset(
    {("bundle", "exec"), ("hatch", "run"), ("npx",), ("pdm", "run"), ("pnpm", "exec"), ("poetry", "run"), ("uv", "run")}
)
"""Words before another command. A pattern of these alone would allow any command."""

INTERPRETERS = frozenset({"bash", "bun", "deno", "node", "perl", "php", "python", "ruby", "sh", "zsh"})
"""Programs that run the code in their arguments: only the file they run tells what they do."""

MODULES = frozenset(
    {"black", "build", "compileall", "flake8", "isort", "mypy", "pyright", "pytest", "ruff", "unittest"}
)
"""Modules that `python -m` starts and that are commands of their own."""

EXACT_LINE_ONLY = frozenset(
    {
        *(
            "awk",
            "chgrp",
            "chmod",
            "chown",
            "command",
            "cp",
            "curl",
            "dd",
            "doas",
            "env",
            "eval",
            "exec",
            "find",
            "install",
        ),
        *(
            "kill",
            "killall",
            "ln",
            "mv",
            "nc",
            "nice",
            "nohup",
            "parallel",
            "pkill",
            "rm",
            "rmdir",
            "rsync",
            "scp",
            "sed",
        ),
        *(
            "shred",
            "source",
            "ssh",
            "strace",
            "su",
            "sudo",
            "tar",
            "tee",
            "time",
            "timeout",
            "tmux",
            "truncate",
            "watch",
        ),
        *("wget", "xargs", "zip"),
    }
)
"""Programs that start, send or destroy whatever their arguments say: only the exact line is offered for them."""


_ESCAPED = r"\\\1"


def suggested_patterns(tool_use: ToolUse) -> tuple[str, ...]:
    """Patterns to offer, the narrowest first, each of which covers the use. None if no allow rule safely can, or if the
    use cannot be named exactly."""
    tool = tool_use.tool_name
    if tool in ANSWERED:
        return ()
    candidates: Iterable[str]
    if tool == BASH:
        candidates = _command_patterns(tool_use)
    elif tool in EDITS or tool in READS:
        candidates = _file_patterns(tool_use)
    else:
        candidates = _input_patterns(tool_use)
    narrowest, *broader = dict.fromkeys(candidates) or ("",)
    if not narrowest or not _covers(narrowest, tool_use):
        return ()
    return tuple(islice((narrowest, *(pattern for pattern in broader if _covers(pattern, tool_use))), MAX_PATTERNS))


def _covers(pattern: str, tool_use: ToolUse) -> bool:
    rule = Rule(rule_id="", effect="allow", pattern=pattern, scope="user", created_at=0.0, created_by="")
    return Rulebook.of([rule]).verdict(tool_use, 0.0).effect == "allow"


def _command_patterns(tool_use: ToolUse) -> Iterator[str]:
    """Yield the exact line, then the prefix of each command. One rule cannot cover several different commands, so for
    such a line only the exact line passes the check of the caller."""
    yield f"{BASH}({exact_command(tool_use.command)})"
    for call in read_script(tool_use.command).calls:
        words = command_prefix(without_leading_options(call.words, tool_use.cwd) if call.words else ())
        if (
            words
            and (is_judged(words) or "/" in words[0])
            and not runs_anything(words)
            and not any(sign in " ".join(words) for sign in "*\\'\"()")
        ):
            yield f"{BASH}({' '.join(words)}:*)"


def command_prefix(words: tuple[str, ...]) -> tuple[str, ...]:
    """The first words of a command that tell what it does, whatever follows; empty if they would tell too little."""
    for size in (2, 1):
        if words[:size] in COMMAND_PREFIXES:
            inner = command_prefix(words[size:])
            return (*words[:size], *inner) if inner else ()
    name = words[0].rpartition("/")[2] if words else ""
    if not name or name in EXACT_LINE_ONLY:
        return ()
    if name.rstrip("0123456789.") in INTERPRETERS:
        return _with_file(words)
    size = SUBCOMMANDS.get(words[:2]) or SUBCOMMANDS.get(words[:1], 1)
    prefix = words[:size]
    plain = len(prefix) == size and not any(word.startswith("-") or "=" in word for word in prefix)
    return prefix if plain and all(word.split() == [word] for word in prefix) else ()


def _with_file(words: tuple[str, ...]) -> tuple[str, ...]:
    """An interpreter with the file or the module that it runs; empty if it runs neither."""
    if words[1:2] == ("-m",):
        return words[:3] if words[2:3] and words[2] in MODULES else ()
    if len(words) < 2 or words[1].startswith("-") or words[1].split() != [words[1]]:
        return ()
    return words[:2] if "." in words[1] or "/" in words[1] else ()


def _file_patterns(tool_use: ToolUse) -> Iterator[str]:
    """Yield the exact path, the files beside it, then the folders above it up to the working folder."""
    if tool_use.path is None:
        return
    tool = EDIT if tool_use.tool_name in EDITS else READ
    path = tool_use.path
    yield _pattern(tool, "//" + literal(path.strip("/")))
    folder = path if tool_use.covers_folder else path.rpartition("/")[0]
    if not is_within(folder, tool_use.cwd):
        yield _pattern(tool, "//" + literal(folder.strip("/")) + "/*")
        return
    parts = [literal(part) for part in folder[len(tool_use.cwd) :].split("/") if part]
    yield _pattern(tool, "/".join(["." if not parts else "", *parts, "*"]).removeprefix("/"))
    for size in range(len(parts), 0, -1):
        yield _pattern(tool, "/".join([*parts[:size], "**"]))
    yield _pattern(tool, "./**")


def _pattern(tool: str, scope: str) -> str:
    """The pattern, with its parentheses escaped if they do not pair up."""
    return f"{tool}({scope if balanced(scope) else re.sub('([()])', _ESCAPED, scope)})"


def _input_patterns(tool_use: ToolUse) -> Iterable[str]:
    tool, tool_input = tool_use.tool_name, tool_use.tool_input
    if tool == FETCH:
        host = host_of(tool_input.get("url"))
        return [f"{FETCH}(domain:{host})"] if host else []
    if tool in AGENTS:
        return [f"{tool}({literal(str(tool_input.get('subagent_type', 'general-purpose')))})"]
    if tool == SKILL:
        name = literal(str(tool_input.get("skill", "")))
        return [f"{SKILL}({name} *)"] if tool_input.get("args") else [f"{SKILL}({name})", f"{SKILL}({name} *)"]
    if runs := [field for field in EXECUTABLE_FIELDS if isinstance(tool_input.get(field), str)]:
        return [f"{tool}({', '.join(f'{field}:{literal(tool_input[field])}' for field in runs)})"]
    if tool.startswith("mcp__"):
        return [tool, f"{tool.rpartition('__')[0]}__*"]
    return [tool]
