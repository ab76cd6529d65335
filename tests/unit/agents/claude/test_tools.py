"""The kinds of Claude Code's tools."""

from __future__ import annotations

import pytest

from quarterdeck.agents.claude.tools import TOOLS, tool_traits
from quarterdeck.core.model.risk_levels import LEVELS
from quarterdeck.core.model.tool_kinds import UNKNOWN_TOOL, ToolKind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", ToolKind.SHELL),
        ("NotebookEdit", ToolKind.NOTEBOOK_EDIT),
        ("PowerShell", ToolKind.CONSOLE),
        ("Task", ToolKind.TASK),
        ("mcp__github__get_issue", ToolKind.MCP),
        ("mcp__", ToolKind.MCP),
    ],
)
def test_a_tool_has_its_kind(name: str, kind: ToolKind) -> None:
    assert tool_traits(name).kind is kind


def test_a_tool_that_is_not_known_has_no_traits() -> None:
    assert tool_traits("Brew") is tool_traits("bash") is tool_traits("") is UNKNOWN_TOOL


def test_what_has_no_kind_states_its_risk() -> None:
    assert all(t.risk and t.risk[0] in LEVELS for t in TOOLS.values() if t.kind is ToolKind.OTHER)
    assert tool_traits("CronCreate").risk == ("high", "schedules what runs later, perhaps unseen")
