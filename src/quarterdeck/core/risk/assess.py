"""How much a request can harm, with the reasons in words: judged by the tool, its paths and its parsed command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.payload import text
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.risk.commands import METADATA, findings_of, worst
from quarterdeck.core.risk.files import Finding, reading, writing
from quarterdeck.core.risk.paths import Where, real_path
from quarterdeck.core.risk.shell_line import findings_of_line
from quarterdeck.core.shell.script import Call, read_script
from quarterdeck.core.text.sanitize import visible
from quarterdeck.core.text.titles import cut

MOST_REASONS = 8
LONGEST_REASON = 300


class Risk(Struct, frozen=True):
    """A level, and why. The worst reasons come first."""

    level: str
    reasons: list[str]


def risk_of(
    tool_name: str,
    tool_input: Mapping[str, Any],
    cwd: str,
    home: str,
    path: str | None = None,
    guarded: tuple[str, ...] = (),
) -> Risk:
    """The risk of a tool call. `path` is where its file really is, if that is known; `guarded` are files and folders of
    what watches over the agent."""
    where = Where(cwd=cwd, home=home, guarded=guarded)
    return joined_risk(_findings(tool_name, dict(tool_input), where, path))


def risk_of_call(call: Call, cwd: str, home: str, guarded: tuple[str, ...] = ()) -> Risk:
    """The risk of one command of a line, by itself."""
    return joined_risk(findings_of(call, Where(cwd=cwd, home=home, guarded=guarded)))


def joined_risk(findings: Iterable[Finding]) -> Risk:
    """The worst level, and every reason once."""
    found = list(findings)
    ranked = sorted(found, key=lambda finding: -LEVELS.index(finding.level))
    reasons = list(dict.fromkeys(cut(visible(finding.words), LONGEST_REASON) for finding in ranked if finding.words))
    more = len(reasons) - MOST_REASONS
    return Risk(worst(found), [*reasons[:MOST_REASONS], *([f"and {more} more"] if more > 0 else [])])


def worse_of(risks: Iterable[Risk]) -> Risk:
    """Several opinions as one: the highest level, all reasons, those of the highest first."""
    return joined_risk(Finding(risk.level, words) for risk in risks for words in (risk.reasons or [""]))


def _findings(tool_name: str, tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
    judge = _TOOLS.get(tool_name)
    if judge is not None:
        yield from judge(tool_input, where, path)
    elif tool_name.startswith("mcp__"):
        yield from _mcp(tool_name, tool_input, where, path)
    else:
        yield Finding("high", f"a tool Quarterdeck does not know ({cut(tool_name, 40)})")
        yield from _any_input(tool_input, where, path)


def _nothing(tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
    yield from ()


def _said(level: str, words: str) -> _Judge:
    def judge(tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
        yield Finding(level, words)

    return judge


def _bash(tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
    command = text(tool_input, "command")
    if not command.strip():
        yield Finding("high", "has no command that can be read")
        return
    if tool_input.get("dangerouslyDisableSandbox") is True:
        yield Finding("high", "asks to run outside the sandbox")
    if tool_input.get("run_in_background") is True:
        yield Finding("medium", "goes on in the background")
    yield from findings_of_line(command, read_script(command), where)


def _target(tool_input: dict[str, Any], where: Where, path: str | None) -> tuple[str | None, str]:
    """Where a file tool's file is by its words, and where it really is."""
    word = next((text(tool_input, key) for key in ("file_path", "notebook_path", "path") if text(tool_input, key)), "")
    lexical = real_path(word, where) if word else None
    return lexical, path or lexical or ""


def _reads(tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
    lexical, real = _target(tool_input, where, path)
    for one in {lexical, real} - {None, ""}:
        yield from reading(one, where)


def _edits(tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
    lexical, real = _target(tool_input, where, path)
    if not real:
        yield Finding("high", "names no file that can be told")
        return
    if lexical and real != lexical:
        yield from writing(lexical, where)
    yield from writing(real, where)


def _fetches(tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
    url = text(tool_input, "url")
    yield Finding("medium", "uses the network")
    if METADATA.search(url):
        yield Finding("critical", "asks the cloud's metadata service, which gives out credentials")
    if url.startswith("file:"):
        yield from reading(real_path(url.removeprefix("file://"), where), where)
    if re.match(r"[a-z]+://[^/]*@", url):
        yield Finding("high", "holds a password in its address")
    if len(url.partition("?")[2]) > 200:
        yield Finding("high", "sends much data in its address")
    if url.startswith("http://"):
        yield Finding("medium", "is not encrypted")


_VERBS: tuple[tuple[str, str, str], ...] = (
    (
        "delete remove drop destroy purge truncate wipe revoke terminate kill cancel close merge deploy rollback"
        " execute exec run eval invoke shell transfer pay buy order refund grant publish release force reset",
        "high",
        "by its name it deletes, runs or publishes",
    ),
    (
        "send post reply email message comment notify share invite upload create add insert update set put patch edit"
        " write modify move rename assign fork push commit save append replace submit click type fill press navigate",
        "medium",
        "by its name it changes or sends something",
    ),
    (
        "get list read search find fetch query describe show view status lookup count check info resolve help browse"
        " snapshot inspect",
        "low",
        "by its name it only reads",
    ),
)
_VERB = {verb: (level, words) for verbs, level, words in _VERBS for verb in verbs.split()}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def _mcp(tool_name: str, tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
    _, server, tool = [*tool_name.split("__", 2), ""][:3]
    known = [_VERB[word.lower()] for word in _WORDS.findall(tool[:200]) if word.lower() in _VERB]
    level, words = max(
        known, key=lambda one: LEVELS.index(one[0]), default=("high", "its name does not tell what it does")
    )
    yield Finding(level, f"a tool of the MCP server {cut(server, 30)}: {words}")
    yield from _any_input(tool_input, where, path)


def _any_input(tool_input: dict[str, Any], where: Where, path: str | None) -> Iterator[Finding]:
    """What the input of an unknown tool gives away: a command it runs, a file it is about."""
    command = text(tool_input, "command") or text(tool_input, "cmd")
    if command.strip():
        yield from findings_of_line(command, read_script(command), where)
    if _target(tool_input, where, path)[1]:
        yield from _reads(tool_input, where, path)


_HARMLESS = (
    "TodoWrite TaskCreate TaskUpdate TaskList TaskGet TaskOutput BashOutput AskUserQuestion ExitPlanMode"
    " EnterPlanMode Elicitation Stop SubagentStop ToolSearch LSP ListMcpResourcesTool"
)
_Judge = Callable[[dict[str, Any], Where, str | None], Iterator[Finding]]
_TOOLS: dict[str, _Judge] = {
    "Bash": _bash,
    **dict.fromkeys(("Read", "Glob", "Grep", "LS", "NotebookRead"), _reads),
    **dict.fromkeys(("Edit", "Write", "MultiEdit", "NotebookEdit"), _edits),
    **dict.fromkeys(_HARMLESS.split(), _nothing),
    "WebFetch": _fetches,
    "WebSearch": _said("medium", "uses the network"),
    **dict.fromkeys(("Agent", "Task"), _said("medium", "starts a sub-agent, which asks for itself")),
    **dict.fromkeys(("KillShell", "KillBash", "TaskStop"), _said("medium", "ends something in the background")),
    **dict.fromkeys(("Skill", "SlashCommand", "Workflow"), _said("medium", "follows instructions of a skill")),
    "ReadMcpResourceTool": _said("medium", "reads from an MCP server"),
    **dict.fromkeys(("SendMessage", "Monitor", "EnterWorktree", "ExitWorktree"), _said("medium", "steers other work")),
    **dict.fromkeys(("CronCreate", "ScheduleWakeup"), _said("high", "schedules what runs later, perhaps unseen")),
    "PowerShell": _said("high", "runs a command that is not looked into"),
}
"""How each tool is judged; every other name is unknown."""
