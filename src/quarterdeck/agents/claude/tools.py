"""Claude Code's tools: the kind of each, and the risk of those that have no kind of their own."""

from __future__ import annotations

from collections.abc import Mapping

from quarterdeck.core.model.tool_kinds import UNKNOWN_TOOL, ToolKind, ToolTraits
from quarterdeck.core.patterns.rule_words import RULE_WORDS


def _risky(names: str, risk: str, reason: str) -> dict[str, ToolTraits]:
    return dict.fromkeys(names.split(), ToolTraits(risk=(risk, reason)))


TOOLS: Mapping[str, ToolTraits] = {
    **{word: ToolTraits(kind=kind) for word, kind in RULE_WORDS.items()},  # the rule language has Claude Code's words
    "PowerShell": ToolTraits(kind=ToolKind.CONSOLE),
    **dict.fromkeys(("BashOutput", "TaskOutput"), ToolTraits(kind=ToolKind.OUTPUT)),
    "TaskCreate": ToolTraits(kind=ToolKind.TODO_ADD),
    "TaskUpdate": ToolTraits(kind=ToolKind.TODO_UPDATE),
    **_risky("TaskList TaskGet EnterPlanMode ToolSearch LSP ListMcpResourcesTool", "low", ""),
    **_risky("KillShell KillBash TaskStop", "medium", "ends something in the background"),
    **_risky("SlashCommand Workflow", "medium", "follows instructions of a skill"),
    **_risky("ReadMcpResourceTool", "medium", "reads from an MCP server"),
    **_risky("SendMessage Monitor EnterWorktree ExitWorktree", "medium", "steers other work"),
    **_risky("CronCreate ScheduleWakeup", "high", "schedules what runs later, perhaps unseen"),
}
"""Every other name is unknown, or a tool of an MCP server."""

_MCP_TOOL = ToolTraits(kind=ToolKind.MCP)


def tool_traits(name: str) -> ToolTraits:
    """The traits of a tool by its name."""
    return TOOLS.get(name) or (_MCP_TOOL if name.startswith("mcp__") else UNKNOWN_TOOL)
