"""The faces of the tools: those of their own files, the web, agents, MCP, and whatever else there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quarterdeck.core.text.titles import subject_of
from quarterdeck.surfaces.tui.feed.render.bash import BASH, OUTPUT
from quarterdeck.surfaces.tui.feed.render.files import EDIT, GLOB, GREP, MULTI_EDIT, NOTEBOOK, READ, WRITE
from quarterdeck.surfaces.tui.feed.render.json_values import value_lines
from quarterdeck.surfaces.tui.feed.render.questions import ASKS, PLAN, TODOS
from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, size_words, text_lines
from quarterdeck.surfaces.tui.feed.render.tool_view import (
    Face,
    Input,
    counted,
    labelled,
    last_line,
    lines_count,
    said,
    text_in,
)


def _fields(given: Input) -> Iterator[Line]:
    """Input of a shape nobody told us: short texts by their names, all else as JSON."""
    for key, value in given.items():
        if isinstance(value, str) and "\n" not in value[:500] and len(value) <= 500:
            yield labelled(key[:40], value)
        elif isinstance(value, str):
            yield [(f"{key[:40]}", "label"), (f"  {size_words(len(value))}", "dim")]
            yield from ([("  ", ""), *line] for line in text_lines(value))
        else:
            yield from value_lines(value, 0, [(f"{key[:40]:<9} ", "label")])


def _anything(given: Input, response: Any) -> Iterator[Line]:
    text = said(response)
    yield from text_lines(text) if text else value_lines(response) if response not in (None, {}, []) else iter(())


def _few_words(given: Input, response: Any) -> str:
    text = said(response)
    if not text:
        return ""
    return last_line(text) if lines_count(text) == 1 else counted(lines_count(text), "line")


def _fetched(given: Input, response: Any) -> str:
    code = response.get("code") if isinstance(response, dict) else None
    size = response.get("bytes") if isinstance(response, dict) else None
    words = [str(code)] if isinstance(code, int) else []
    words += [size_words(size)] if isinstance(size, int) else []
    return " · ".join(words) or _few_words(given, response)


def _web_asked(given: Input) -> Iterator[Line]:
    if text_in(given, "url", "query"):
        yield [(line, "link") for line, _ in next(text_lines(text_in(given, "url", "query")))]
    if text_in(given, "prompt"):
        yield from text_lines(text_in(given, "prompt"), "dim")


def _agent_subject(given: Input) -> str:
    kind, words = text_in(given, "subagent_type"), text_in(given, "description", "prompt")
    return f"{kind}: {words}" if kind else words


def _agent_asked(given: Input) -> Iterator[Line]:
    yield from text_lines(text_in(given, "prompt", "description"))


def _agent_outcome(given: Input, response: Any) -> str:
    if text_in(response, "status") == "async_launched":
        return "works in the background"
    return _few_words(given, response)


def _mcp_subject(given: Input) -> str:
    named = subject_of(given)
    return named or ", ".join(f"{k}={v}" for k, v in list(given.items())[:4] if isinstance(v, str | int | float))


WEB = Face(subject=lambda given: text_in(given, "url", "query"), outcome=_fetched, asked=_web_asked, got=_anything)
AGENT = Face(subject=_agent_subject, outcome=_agent_outcome, asked=_agent_asked, got=_anything)
MCP = Face(subject=_mcp_subject, outcome=_few_words, asked=_fields, got=_anything)
UNKNOWN = Face(subject=subject_of, outcome=_few_words, asked=_fields, got=_anything)

FACES: Mapping[str, Face] = {
    "Bash": BASH,
    "PowerShell": BASH,
    "BashOutput": OUTPUT,
    "TaskOutput": OUTPUT,
    "Edit": EDIT,
    "MultiEdit": MULTI_EDIT,
    "Write": WRITE,
    "NotebookEdit": NOTEBOOK,
    "Read": READ,
    "Grep": GREP,
    "Glob": GLOB,
    "LS": GLOB,
    "WebFetch": WEB,
    "WebSearch": WEB,
    "Agent": AGENT,
    "Task": AGENT,
    "TodoWrite": TODOS,
    "AskUserQuestion": ASKS,
    "ExitPlanMode": PLAN,
}


def face_of(tool_name: str) -> Face:
    """How this tool is shown."""
    return FACES.get(tool_name) or (MCP if tool_name.startswith("mcp__") else UNKNOWN)


NAMES = {"TodoWrite": "Todo", "AskUserQuestion": "Question", "ExitPlanMode": "Plan", "NotebookEdit": "Notebook"}


def name_of(tool_name: str) -> str:
    """The tool's name as people say it: `mcp__github__create_issue` is `github·create_issue`."""
    if not tool_name.startswith("mcp__"):
        return NAMES.get(tool_name, tool_name)
    server, _, tool = tool_name[5:].partition("__")
    return f"{server}·{tool}" if tool else server
