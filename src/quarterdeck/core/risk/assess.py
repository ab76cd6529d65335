"""The risk of a tool call, with reasons in words: from the tool, its paths and its parsed command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from quarterdeck.core.model.payload import text
from quarterdeck.core.model.risk_levels import LEVELS, Risk
from quarterdeck.core.model.tool_kinds import EDIT_KINDS, READ_KINDS, ToolKind, ToolTraits
from quarterdeck.core.risk.command_risk import call_reasons, worst_level
from quarterdeck.core.risk.file_risk import RiskReason, read_reasons, write_reasons
from quarterdeck.core.risk.path_zones import AgentLocation, real_path
from quarterdeck.core.risk.shell_line import line_reasons
from quarterdeck.core.risk.special_commands import METADATA
from quarterdeck.core.shell.script import Call, read_script
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.sanitize import visible

MAX_REASONS = 8
MAX_REASON_LENGTH = 300


def risk_of(
    tool: ToolTraits,
    tool_name: str,
    tool_input: Mapping[str, Any],
    cwd: str,
    home: str,
    path: str | None = None,
    guarded: tuple[str, ...] = (),
) -> Risk:
    """The risk of a tool call. `path`: the real path of its file, if known. `guarded`: paths an
    agent must not change, which are Quarterdeck's home and the agent's settings."""
    location = AgentLocation(cwd=cwd, home=home, guarded=guarded)
    return combined_risk(_reasons(tool, tool_name, dict(tool_input), location, path))


def risk_of_call(call: Call, cwd: str, home: str, guarded: tuple[str, ...] = ()) -> Risk:
    """The risk of one command of a line, without the commands around it."""
    return combined_risk(call_reasons(call, AgentLocation(cwd=cwd, home=home, guarded=guarded)))


def combined_risk(candidates: Iterable[RiskReason]) -> Risk:
    """The highest level, and every reason once."""
    reasons = list(candidates)
    ranked = sorted(reasons, key=lambda reason: -LEVELS.index(reason.level))
    texts = list(dict.fromkeys(cut(visible(reason.text), MAX_REASON_LENGTH) for reason in ranked if reason.text))
    more = len(texts) - MAX_REASONS
    return Risk(worst_level(reasons), [*texts[:MAX_REASONS], *([f"and {more} more"] if more > 0 else [])])


def worst_risk(risks: Iterable[Risk]) -> Risk:
    """Merge several risks: the highest level, and all reasons, those of the highest level first."""
    return combined_risk(RiskReason(risk.level, reason) for risk in risks for reason in (risk.reasons or [""]))


def _reasons(
    tool: ToolTraits, tool_name: str, tool_input: dict[str, Any], location: AgentLocation, path: str | None
) -> Iterator[RiskReason]:
    assess = _KINDS.get(tool.kind)
    if assess is not None:
        yield from assess(tool_input, location, path)
    elif tool.kind == ToolKind.MCP:
        yield from _mcp_tool(tool_name, tool_input, location, path)
    elif tool.risk is not None:
        yield RiskReason(*tool.risk)
    else:
        yield RiskReason("high", f"a tool Quarterdeck does not know ({cut(tool_name, 40)})")
        yield from _unknown_input(tool_input, location, path)


def _harmless(tool_input: dict[str, Any], location: AgentLocation, path: str | None) -> Iterator[RiskReason]:
    yield from ()


def _always(level: str, reason: str) -> _Assessor:
    def assess(tool_input: dict[str, Any], location: AgentLocation, path: str | None) -> Iterator[RiskReason]:
        yield RiskReason(level, reason)

    return assess


def _bash(tool_input: dict[str, Any], location: AgentLocation, path: str | None) -> Iterator[RiskReason]:
    command = text(tool_input, "command")
    if not command.strip():
        yield RiskReason("high", "has no readable command")
        return
    if tool_input.get("dangerouslyDisableSandbox") is True:
        yield RiskReason("high", "asks to run outside the sandbox")
    if tool_input.get("run_in_background") is True:
        yield RiskReason("medium", "keeps running in the background")
    yield from line_reasons(command, read_script(command), location)


_PATH_KEYS = ("file_path", "notebook_path", "path")


def _target(tool_input: dict[str, Any], location: AgentLocation, path: str | None) -> tuple[str | None, str]:
    """The path a file tool names, and the real path: the same unless a link leads elsewhere."""
    path_text = next((text(tool_input, key) for key in _PATH_KEYS if text(tool_input, key)), "")
    lexical = real_path(path_text, location) if path_text else None
    return lexical, path or lexical or ""


def _read_tool(tool_input: dict[str, Any], location: AgentLocation, path: str | None) -> Iterator[RiskReason]:
    lexical, real = _target(tool_input, location, path)
    for candidate in dict.fromkeys(filter(None, (lexical, real))):
        yield from read_reasons(candidate, location)


def _edit_tool(tool_input: dict[str, Any], location: AgentLocation, path: str | None) -> Iterator[RiskReason]:
    lexical, real = _target(tool_input, location, path)
    if not real:
        yield RiskReason("high", "does not say which file it changes")
        return
    others = {real_path(text(tool_input, key), location) for key in _PATH_KEYS if text(tool_input, key)} - {
        lexical,
        real,
    }
    for other in others:
        yield from write_reasons(other, location)
    if lexical and real != lexical:
        yield from write_reasons(lexical, location)
    yield from write_reasons(real, location)


def _web_fetch(tool_input: dict[str, Any], location: AgentLocation, path: str | None) -> Iterator[RiskReason]:
    url = text(tool_input, "url")
    yield RiskReason("medium", "uses the network")
    if METADATA.search(url):
        yield RiskReason("critical", "asks the cloud's metadata service, which gives out credentials")
    if url.startswith("file:"):
        yield from read_reasons(real_path(url.removeprefix("file://"), location), location)
    if re.match(r"[a-z]+://[^/]*@", url):
        yield RiskReason("high", "holds a password in its address")
    if len(url.partition("?")[2]) > 200:
        yield RiskReason("high", "sends much data in its address")
    if url.startswith("http://"):
        yield RiskReason("medium", "is not encrypted")


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
_MEANING_OF_VERB = {verb: (level, words) for verbs, level, words in _VERBS for verb in verbs.split()}
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def _mcp_tool(
    tool_name: str, tool_input: dict[str, Any], location: AgentLocation, path: str | None
) -> Iterator[RiskReason]:
    _, server, tool = [*tool_name.split("__", 2), ""][:3]
    meanings = [
        _MEANING_OF_VERB[word.lower()] for word in _NAME_PARTS.findall(tool[:200]) if word.lower() in _MEANING_OF_VERB
    ]
    level, words = max(
        meanings, key=lambda meaning: LEVELS.index(meaning[0]), default=("high", "its name does not say what it does")
    )
    yield RiskReason(level, f"a tool of the MCP server {cut(server, 30)}: {words}")
    yield from _unknown_input(tool_input, location, path)


def _unknown_input(tool_input: dict[str, Any], location: AgentLocation, path: str | None) -> Iterator[RiskReason]:
    """The reasons in the input of an unknown tool: a command it runs, a file it names."""
    command = text(tool_input, "command") or text(tool_input, "cmd")
    if command.strip():
        yield from line_reasons(command, read_script(command), location)
    if _target(tool_input, location, path)[1]:
        yield from _read_tool(tool_input, location, path)


_Assessor = Callable[[dict[str, Any], AgentLocation, str | None], Iterator[RiskReason]]
_KINDS: dict[str, _Assessor] = {
    ToolKind.SHELL: _bash,
    ToolKind.CONSOLE: _always("high", "runs a command that Quarterdeck cannot read"),
    **dict.fromkeys(READ_KINDS, _read_tool),
    **dict.fromkeys(EDIT_KINDS, _edit_tool),
    ToolKind.FETCH: _web_fetch,
    ToolKind.WEB_SEARCH: _always("medium", "uses the network"),
    ToolKind.TASK: _always("medium", "starts a sub-agent, which asks for its own permissions"),
    ToolKind.SKILL: _always("medium", "follows instructions of a skill"),
    **dict.fromkeys((ToolKind.TODO_LIST, ToolKind.TODO_ADD, ToolKind.TODO_UPDATE, ToolKind.OUTPUT), _harmless),
    **dict.fromkeys((ToolKind.QUESTION, ToolKind.PLAN, ToolKind.FORM, ToolKind.STOP), _harmless),
}
"""How to assess each kind of tool. MCP tools are assessed by their names, others by what their agent says of them."""
