"""The table of tool views, with the views for the web, agents, MCP tools and unknown tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.text.titles import subject_of
from quarterdeck.surfaces.terminal.styled_text import Row
from quarterdeck.surfaces.tui.feed.render.bash import BASH, OUTPUT
from quarterdeck.surfaces.tui.feed.render.cut_text import size_words, text_lines
from quarterdeck.surfaces.tui.feed.render.files import EDIT, GREP, NOTEBOOK, READ, WRITE
from quarterdeck.surfaces.tui.feed.render.questions import PLAN, QUESTIONS, TODOS
from quarterdeck.surfaces.tui.feed.render.tool_view import (
    Input,
    ToolView,
    first_line,
    part_of,
    short_outcome,
    text_in,
)


def _web_outcome(tool_input: Input, response: Any) -> str:
    code, size = part_of(response, "code"), part_of(response, "bytes")
    words = [str(code)] if isinstance(code, int) else []
    words += [size_words(size)] if isinstance(size, int) else []
    return " · ".join(words) or short_outcome(tool_input, response)


def _web_input(tool_input: Input) -> Iterator[Row]:
    if text_in(tool_input, "url", "query"):
        yield first_line(text_in(tool_input, "url", "query"), "link")
    if text_in(tool_input, "prompt"):
        yield from text_lines(text_in(tool_input, "prompt"), "dim")


def _agent_subject(tool_input: Input) -> str:
    kind, words = text_in(tool_input, "subagent_type"), text_in(tool_input, "description", "prompt")
    return f"{kind}: {words}" if kind else words


def _agent_input(tool_input: Input) -> Iterator[Row]:
    yield from text_lines(text_in(tool_input, "prompt", "description"))


def _agent_outcome(tool_input: Input, response: Any) -> str:
    if text_in(response, "status") == "async_launched":
        return "works in the background"
    return short_outcome(tool_input, response)


def _mcp_subject(tool_input: Input) -> str:
    named = subject_of(tool_input)
    return named or ", ".join(f"{k}={v}" for k, v in list(tool_input.items())[:4] if isinstance(v, str | int | float))


WEB = ToolView(
    subject=lambda tool_input: text_in(tool_input, "url", "query"), outcome=_web_outcome, input_lines=_web_input
)
AGENT = ToolView(subject=_agent_subject, outcome=_agent_outcome, input_lines=_agent_input)
MCP = ToolView(subject=_mcp_subject)
UNKNOWN = ToolView()

TOOL_VIEWS: Mapping[str, ToolView] = {
    ToolKind.SHELL: BASH,
    ToolKind.CONSOLE: BASH,
    ToolKind.OUTPUT: OUTPUT,
    ToolKind.EDIT: EDIT,
    ToolKind.MULTI_EDIT: EDIT,
    ToolKind.WRITE: WRITE,
    ToolKind.NOTEBOOK_EDIT: NOTEBOOK,
    ToolKind.READ: READ,
    ToolKind.SEARCH: GREP,
    ToolKind.FIND: GREP,
    ToolKind.LIST: GREP,
    ToolKind.FETCH: WEB,
    ToolKind.WEB_SEARCH: WEB,
    ToolKind.TASK: AGENT,
    ToolKind.TODO_LIST: TODOS,
    ToolKind.QUESTION: QUESTIONS,
    ToolKind.PLAN: PLAN,
    ToolKind.MCP: MCP,
}


def tool_view_of(data: Input) -> ToolView:
    """The view of the tool that an event is about."""
    return TOOL_VIEWS.get(str(data.get("tool_kind")), UNKNOWN)
