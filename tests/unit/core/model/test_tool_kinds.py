"""The kinds of tools."""

from __future__ import annotations

import msgspec

from quarterdeck.core.model.tool_kinds import UNKNOWN_TOOL, ToolKind


def test_a_kind_is_stored_as_the_text_that_it_equals() -> None:
    assert msgspec.json.encode(ToolKind.SHELL) == b'"shell"'
    assert {"shell": 1}[ToolKind.SHELL] == 1


def test_an_unknown_tool_is_of_no_kind_and_states_no_risk() -> None:
    assert (UNKNOWN_TOOL.kind, UNKNOWN_TOOL.risk) == (ToolKind.OTHER, None)
