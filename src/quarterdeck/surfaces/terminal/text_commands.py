"""The commands by name, for the `:` line, the command palette and the help; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from quarterdeck.surfaces.text.person_commands import SESSION_COMMANDS


class TextCommand(NamedTuple):
    """One command with its help. `takes` names its argument, in brackets when it is optional."""

    name: str
    takes: str
    words: str


class _Command(NamedTuple):
    """A command on the `:` line and in plain mode, with the argument it takes there; None where it does not exist."""

    name: str
    line: str | None
    plain: str | None
    words: str


_COMMANDS = (
    _Command("list", None, "", "the waiting requests, each with its number"),
    _Command("show", None, "N", "read out everything about request N, to its end"),
    _Command("allow", "", None, "let the tool on the card run"),
    _Command("allow", None, "N", "let it run; if the agent wants to stop, let it stop"),
    _Command("edit", "", None, "change its input, then let it run"),
    _Command("edit", None, "N [INPUT]", "change its input, here or in $EDITOR; reads it back before it is allowed"),
    _Command("approve", "[1-4]", "N [1-4]", "approve the plan, and choose how the agent works on it"),
    _Command("deny", "[MESSAGE]", "N [MESSAGE]", "refuse; the agent reads your message"),
    _Command("interrupt", "[MESSAGE]", "N [MESSAGE]", "refuse, and stop the agent's turn"),
    _Command("remember", "", None, "decide and save a rule: pattern, scope, how long"),
    _Command("remember", None, "N [SCOPE]", "decide and save a rule; says what it covers; session, project, user"),
    _Command("answer", "[NUMBER]", "N [ANSWER]", "answer the question, or fill in the form"),
    _Command("go-on", "[MESSAGE]", "N [MESSAGE]", "do not let the agent stop; it reads your message"),
    _Command("pass", "", "N", "leave it to the agent's own terminal"),
    _Command("many", "", None, "decide many requests at once; you mark each one"),
    _Command("expand", "", None, "show the whole card"),
    _Command("next", "", None, "go to the next request"),
    _Command("previous", "", None, "go to the previous request"),
    _Command("sessions", None, "[all]", "the sessions, and the commands each takes; all adds ended ones"),
    _Command("start", "", None, "start a session: project, mode, prompt"),
    _Command("start", None, "[PROJECT or FOLDER]", "start a session; asks for the rest, shows a new folder's config"),
    *(_Command(one.command, one.line, one.plain, one.help) for one in SESSION_COMMANDS.values()),
    _Command("stop-all", "", "", "stop everything now: interrupt all turns or end all sessions; lists them first"),
    _Command("feed", None, "[SESSION] [COUNT]", "the latest events of all sessions or of one"),
    _Command("feed on", None, "[SESSION]", "print events as they happen"),
    _Command("feed off", None, "", "print only what needs you"),
    _Command("session", "NAME", None, "show the feed of a session, by its project or the start of its id"),
    _Command("all", "", None, "show the feed of all sessions"),
    _Command("ended", "", None, "show or hide ended sessions"),
    _Command("find", "[WORDS]", None, "search the feed; without words, end the search"),
    _Command("filter", "[kind=… tool=… actor=… level=…]", None, "filter the feed; without arguments, clear the filter"),
    _Command("jump", "error|decision|prompt|request", None, "go to the next of these in the feed"),
    _Command("clear", "", None, "empty the view of the feed; the record stays"),
    _Command("reset", "", None, "all sessions, no filter, no search, the end of the feed"),
    _Command("copy", "", None, "copy what has the focus"),
    _Command("tasks", "", "", "the to-dos of every run, done ones too"),
    _Command("rules", "", None, "rules: list, add, remove, explain, test on past requests"),
    _Command("rules", None, "", "the rules, each with its number"),
    _Command("rules add", None, "allow|ask|deny PATTERN", "make a rule; says first what it would have decided"),
    _Command("rules remove", None, "R", "remove rule R"),
    _Command("projects", "", None, "the projects on this machine: branch, trust, sessions, costs"),
    _Command("plugins", "", None, "Claude Code's plugins: enable, install, update, remove"),
    _Command("marketplaces", "", None, "where plugins come from: list, add, update, remove"),
    _Command("mcp", "", None, "MCP servers: list, test, add, remove"),
    _Command("audit", "", "[COUNT]", "who decided and changed what"),
    _Command("usage", "", "[DAYS]", "what was used and what it cost, by day, project and model"),
    _Command("deck", "", None, "the key deck: nine keys, what waits, and what they would do"),
    _Command("health", "", "", "the daemon's health and numbers"),
    _Command("help", "", None, "every key and every command"),
    _Command("help", None, "[COMMAND]", "every command, or one"),
    _Command("about", "", None, "version, home, log, and what is sent elsewhere"),
    _Command("theme", "dark|light|contrast", None, "change the colours"),
    _Command("bell", "on|off", "on|off", "ring and notify when a request arrives, or do not"),
    _Command("install", "", None, "connect Claude Code; shows the change first"),
    _Command("demo", "", None, "play the demo"),
    _Command("quit", "", "", "leave; the daemon keeps running"),
)
COMMANDS = tuple(TextCommand(one.name, one.line, one.words) for one in _COMMANDS if one.line is not None)
"""The commands of the `:` line, which the palette and the help screen offer too."""
PLAIN_COMMANDS = tuple(TextCommand(one.name, one.plain, one.words) for one in _COMMANDS if one.plain is not None)
BY_NAME = {command.name: command for command in COMMANDS}


def read_command(text: str) -> tuple[TextCommand, str] | str:
    """The command and its argument; or the reason why there is none, in words. An unambiguous start is enough."""
    name, _, rest = text.strip().lstrip(":").partition(" ")
    if not name:
        return "name a command; ? lists them all"
    if name in BY_NAME:
        return BY_NAME[name], rest.strip()
    matches = [command for command in COMMANDS if command.name.startswith(name)]
    if len(matches) == 1:
        return matches[0], rest.strip()
    if matches:
        return f"{name} may be {' or '.join(command.name for command in matches)}"
    return f"no such command: {name}; ? lists them all"


def palette(sessions: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Every command the palette offers: its name, its argument, and both as shown. `sessions` are the names, by id, of
    the sessions that can be shown."""
    for command in COMMANDS:
        if command.takes == "NAME":
            yield from ((command.name, key, f"{command.name} {name}") for key, name in sessions.items())
        elif "|" in command.takes:
            yield from ((command.name, word, f"{command.name} {word}") for word in command.takes.split("|"))
        else:
            yield command.name, "", command.name


def read_filter(text: str) -> dict[str, str] | str:
    """The names and values of `kind=… tool=…`; or the reason why it is no filter, in words."""
    values: dict[str, str] = {}
    for part in text.split():
        name, sign, value = part.partition("=")
        if name not in ("kind", "tool", "actor", "level") or not sign or not value:
            return f"not a filter: {part}; try kind=tool.failure tool=Bash actor=user level=error"
        values[name] = value
    return values
