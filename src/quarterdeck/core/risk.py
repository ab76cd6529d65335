"""How much a request can harm, with the reason in words; judged by the tool alone."""

from __future__ import annotations

from msgspec import Struct

READS = frozenset({"Read", "Glob", "Grep", "LS", "NotebookRead", "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"})
EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
NETWORK = frozenset({"WebFetch", "WebSearch"})
ASKS = frozenset({"AskUserQuestion", "ExitPlanMode", "Elicitation", "Stop", "SubagentStop"})


class Risk(Struct, frozen=True):
    level: str
    reasons: list[str]


def risk_of(tool_name: str) -> Risk:
    """The risk of a tool whose input has not been looked into."""
    if tool_name in READS or tool_name in ASKS:
        return Risk("low", [])
    if tool_name in EDITS:
        return Risk("medium", ["changes a file"])
    if tool_name in NETWORK:
        return Risk("medium", ["uses the network"])
    if tool_name in ("Agent", "Task"):
        return Risk("medium", ["starts a sub-agent"])
    if tool_name == "Bash":
        return Risk("high", ["runs a shell command"])
    return Risk("high", ["a tool Quarterdeck does not know"])
