"""Everything that can be ordered by name: for the `:` line, the command palette and the help; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Command(NamedTuple):
    """One order. `takes` names what follows it, in brackets when it may be left out."""

    name: str
    takes: str
    words: str


COMMANDS = (
    Command("allow", "", "let the tool on the card run"),
    Command("edit", "", "change its input, then let it run"),
    Command("approve", "[1-4]", "approve the plan, and say how the agent works on it"),
    Command("deny", "[MESSAGE]", "refuse; the agent reads your words"),
    Command("interrupt", "[MESSAGE]", "refuse, and stop the agent's turn"),
    Command("remember", "", "make a rule of the decision: pattern, scope, how long"),
    Command("answer", "[NUMBER]", "answer the question, or fill in the form"),
    Command("go-on", "[MESSAGE]", "do not let the agent stop; it reads your words"),
    Command("pass", "", "leave it to the agent's own terminal"),
    Command("many", "", "decide many requests at once, each by its name"),
    Command("expand", "", "see everything on the card"),
    Command("next", "", "go to the next request"),
    Command("previous", "", "go to the previous request"),
    Command("start", "", "start a session: project, mode, prompt"),
    Command("write", "[PROMPT]", "write to the session"),
    Command("attach", "", "its terminal on this screen; ^] comes back"),
    Command("stop-turn", "", "make the session stop what it does"),
    Command("end", "", "end the session, with everything it started"),
    Command("resume", "[PROMPT]", "go on with a conversation that has ended"),
    Command("fork", "[PROMPT]", "go on under a new id; the old conversation stays as it is"),
    Command("take-over", "[PROMPT]", "make a session of ours of one that has ended elsewhere"),
    Command("switch", "", "let the session go on in another mode, or with another model"),
    Command("diff", "", "what the worktree of the session has changed"),
    Command("merge", "", "merge the worktree of the session into the branch it began on"),
    Command("discard", "", "take the worktree of the session and its branch away; says first what is lost"),
    Command("session", "NAME", "show the feed of a session, by its project or the start of its id"),
    Command("all", "", "show the feed of all sessions"),
    Command("ended", "", "show or hide sessions that have ended"),
    Command("find", "[WORDS]", "search the feed; without words the search ends"),
    Command("filter", "[kind=… tool=… actor=… level=…]", "narrow the feed; without anything the filter ends"),
    Command("jump", "error|decision|prompt|request", "go to the next of these in the feed"),
    Command("clear", "", "an empty view of the feed; what happened stays on record"),
    Command("reset", "", "all sessions, no filter, no search, the end of the feed"),
    Command("copy", "", "copy what has the focus"),
    Command("tasks", "", "the to-dos of every run, done ones too"),
    Command("rules", "", "standing decisions: list, add, remove, explain, try on the past"),
    Command("projects", "", "the projects of this machine: branch, trust, sessions, costs"),
    Command("plugins", "", "Claude Code's plugins: enable, install, update, remove"),
    Command("marketplaces", "", "where plugins come from: list, add, update, remove"),
    Command("mcp", "", "MCP servers: list, try, add, remove"),
    Command("audit", "", "who decided and changed what"),
    Command("health", "", "how the daemon does"),
    Command("help", "", "every key and every command"),
    Command("about", "", "version, home, log, and what leaves this machine"),
    Command("theme", "dark|light|contrast", "change the colours"),
    Command("bell", "on|off", "whether a request that comes rings and notifies"),
    Command("install", "", "connect Claude Code; shows the change first"),
    Command("demo", "", "play the demo"),
    Command("quit", "", "leave; the daemon stays"),
)
BY_NAME = {command.name: command for command in COMMANDS}


def read_command(text: str) -> tuple[Command, str] | str:
    """What was ordered, and what follows it; or why it cannot be, in words."""
    name, _, rest = text.strip().lstrip(":").partition(" ")
    if not name:
        return "name a command; ? lists them all"
    if name in BY_NAME:
        return BY_NAME[name], rest.strip()
    begun = [command for command in COMMANDS if command.name.startswith(name)]
    if len(begun) == 1:
        return begun[0], rest.strip()
    if begun:
        return f"{name} may be {' or '.join(command.name for command in begun)}"
    return f"no such command: {name}; ? lists them all"


def palette(sessions: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Every order that the palette offers: its name, what follows it, and both as shown. `sessions` are the names by
    id of those that can be looked at."""
    for command in COMMANDS:
        if command.takes == "NAME":
            yield from ((command.name, key, f"{command.name} {name}") for key, name in sessions.items())
        elif "|" in command.takes:
            yield from ((command.name, word, f"{command.name} {word}") for word in command.takes.split("|"))
        else:
            yield command.name, "", command.name


def read_filter(text: str) -> dict[str, str] | str:
    """`kind=… tool=…` as names and values; or why it is none, in words."""
    found: dict[str, str] = {}
    for part in text.split():
        name, sign, value = part.partition("=")
        if name not in ("kind", "tool", "actor", "level") or not sign or not value:
            return f"not a filter: {part}; like kind=tool.failure tool=Bash actor=user level=error"
        found[name] = value
    return found
