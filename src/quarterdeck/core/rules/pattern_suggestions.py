"""Patterns to remember a decision by: from the one that is this very use to broader ones, each covering it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.tool_use import Subject, is_within
from quarterdeck.core.patterns.commands import written_command
from quarterdeck.core.patterns.globs import literal
from quarterdeck.core.patterns.match import host_of
from quarterdeck.core.patterns.pattern import AGENTS, EDITS, READS, RUN, balanced
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.shell.script import read_script

MOST = 6
"""How many patterns are offered."""

QUESTIONS = frozenset({"AskUserQuestion", "Elicitation", "ExitPlanMode", "Stop", "SubagentStop"})
"""What a person answers each time."""

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
"""How many first words tell what a program with subcommands does."""

STARTERS: frozenset[tuple[str, ...]] = frozenset(
    {("bundle", "exec"), ("hatch", "run"), ("npx",), ("pdm", "run"), ("pnpm", "exec"), ("poetry", "run"), ("uv", "run")}
)
"""Words before another command; alone they would start anything."""

INTERPRETERS = frozenset({"bash", "bun", "deno", "node", "perl", "php", "python", "ruby", "sh", "zsh"})
"""Programs that run what they are given: only with the file they run are they told apart."""

MODULES = frozenset(
    {"black", "build", "compileall", "flake8", "isort", "mypy", "pyright", "pytest", "ruff", "unittest"}
)
"""Modules that `python -m` starts and that are commands of their own."""

ALONE_TOO_MUCH = frozenset(
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
"""Programs that start, send or destroy whatever their arguments say: they are remembered only as the exact line."""


_ESCAPED = r"\\\1"


def patterns_for(subject: Subject) -> tuple[str, ...]:
    """Patterns to offer, the narrowest first, each of which covers the use; none where no allow rule safely can, or
    where the use cannot be named exactly."""
    tool = subject.tool_name
    if tool in QUESTIONS:
        return ()
    offered: Iterable[str]
    if tool == "Bash":
        offered = _for_command(subject)
    elif tool in EDITS or tool in READS:
        offered = _for_file(subject)
    else:
        offered = _for_input(subject)
    narrowest, *broader = dict.fromkeys(offered) or ("",)
    if not narrowest or not _covers(narrowest, subject):
        return ()
    return tuple(islice((narrowest, *(pattern for pattern in broader if _covers(pattern, subject))), MOST))


def _covers(pattern: str, subject: Subject) -> bool:
    rule = Rule(rule_id="", effect="allow", pattern=pattern, scope="user", created_at=0.0, created_by="")
    return Rulebook.of([rule]).verdict(subject, 0.0).effect == "allow"


def _for_command(subject: Subject) -> Iterator[str]:
    """The exact line, then the words that tell what its commands do. A line of several different commands is no one
    rule, so of it only the exact line is left."""
    yield f"Bash({written_command(subject.command)})"
    for call in read_script(subject.command).calls:
        words = telling_words(call.words)
        if words and not any(sign in " ".join(words) for sign in "*\\'\"()"):
            yield f"Bash({' '.join(words)}:*)"


def telling_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The first words of a command that tell what it does, whatever follows; none when they would tell too little."""
    for size in (2, 1):
        if words[:size] in STARTERS:
            inner = telling_words(words[size:])
            return (*words[:size], *inner) if inner else ()
    name = words[0].rpartition("/")[2] if words else ""
    if not name or name in ALONE_TOO_MUCH:
        return ()
    if name.rstrip("0123456789.") in INTERPRETERS:
        return _with_file(words)
    size = SUBCOMMANDS.get(words[:2]) or SUBCOMMANDS.get(words[:1], 1)
    telling = words[:size]
    plain = len(telling) == size and not any(word.startswith("-") or "=" in word for word in telling)
    return telling if plain and all(word.split() == [word] for word in telling) else ()


def _with_file(words: tuple[str, ...]) -> tuple[str, ...]:
    """An interpreter with the file or the module that it runs."""
    if words[1:2] == ("-m",):
        return words[:3] if words[2:3] and words[2] in MODULES else ()
    if len(words) < 2 or words[1].startswith("-") or words[1].split() != [words[1]]:
        return ()
    return words[:2] if "." in words[1] or "/" in words[1] else ()


def _for_file(subject: Subject) -> Iterator[str]:
    """The exact path, the files beside it, then the folders above it up to where the session is."""
    if subject.path is None:
        return
    tool = "Edit" if subject.tool_name in EDITS else "Read"
    path = subject.path
    yield _pattern(tool, "//" + literal(path.strip("/")))
    folder = path if subject.looks_in_folders else path.rpartition("/")[0]
    if not is_within(folder, subject.cwd):
        yield _pattern(tool, "//" + literal(folder.strip("/")) + "/*")
        return
    parts = [literal(part) for part in folder[len(subject.cwd) :].split("/") if part]
    yield _pattern(tool, "/".join(["." if not parts else "", *parts, "*"]).removeprefix("/"))
    for size in range(len(parts), 0, -1):
        yield _pattern(tool, "/".join([*parts[:size], "**"]))
    yield _pattern(tool, "./**")


def _pattern(tool: str, scope: str) -> str:
    """The pattern, its parentheses escaped where they do not pair up."""
    return f"{tool}({scope if balanced(scope) else re.sub('([()])', _ESCAPED, scope)})"


def _for_input(subject: Subject) -> Iterable[str]:
    tool, given = subject.tool_name, subject.tool_input
    if tool == "WebFetch":
        host = host_of(given.get("url"))
        return [f"WebFetch(domain:{host})"] if host else []
    if tool in AGENTS:
        return [f"{tool}({literal(str(given.get('subagent_type', 'general-purpose')))})"]
    if tool == "Skill":
        name = literal(str(given.get("skill", "")))
        return [f"Skill({name} *)"] if given.get("args") else [f"Skill({name})", f"Skill({name} *)"]
    if runs := [field for field in RUN if isinstance(given.get(field), str)]:
        return [f"{tool}({', '.join(f'{field}:{literal(given[field])}' for field in runs)})"]
    if tool.startswith("mcp__"):
        return [tool, f"{tool.rpartition('__')[0]}__*"]
    return [tool]
