"""The kinds of tools, whatever an agent calls them, and the input fields that each kind has."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class ToolKind(StrEnum):
    """What a tool does. Each kind has one form of input, with the fields named here; an agent that calls them otherwise
    translates them. A kind is stored as text: a log of a later version may hold others, which count as `OTHER`."""

    __hash__ = str.__hash__  # as fast as text, which every hook call needs

    SHELL = "shell"
    """Runs a shell line: `command`, `description`, `run_in_background`."""
    CONSOLE = "console"
    """Runs a `command` in a language that Quarterdeck cannot read."""
    OUTPUT = "output"
    """Reads the output of a command in the background."""
    EDIT = "edit"
    """Replaces a text in a file: `file_path`, `old_string`, `new_string`, `replace_all`."""
    MULTI_EDIT = "multi_edit"
    """Replaces several texts in a file: `file_path`, and `edits` like those of `EDIT`."""
    NOTEBOOK_EDIT = "notebook_edit"
    """Changes a cell of a notebook: `notebook_path`, `new_source`, `cell_id`, `cell_type`, `edit_mode`."""
    WRITE = "write"
    """Writes a whole file: `file_path`, `content`."""
    READ = "read"
    """Reads a file: `file_path` or `notebook_path`, `offset`, `limit`."""
    SEARCH = "search"
    """Searches in files for `pattern`, below `path`, in files like `glob`."""
    FIND = "find"
    """Finds files by name: `pattern` is a glob, below `path`."""
    LIST = "list"
    """Lists a folder: `path`."""
    FETCH = "fetch"
    """Fetches `url`; `prompt` says what for."""
    WEB_SEARCH = "web_search"
    """Searches the web: `query`."""
    TASK = "task"
    """Starts a sub-agent: `prompt`, `description`, `subagent_type`."""
    SKILL = "skill"
    """Follows the instructions of a skill: `skill`, `args`."""
    QUESTION = "question"
    """Asks the person: `questions`, each with `question`, `header`, `options`, `multiSelect`."""
    PLAN = "plan"
    """Asks the person to approve a `plan`."""
    TODO_LIST = "todo_list"
    """Replaces the to-do list: `todos`, each with `content`, `status`, `id`, `priority`."""
    TODO_ADD = "todo_add"
    """Adds a to-do: `subject`, `description`; the response holds its id."""
    TODO_UPDATE = "todo_update"
    """Changes a to-do: `taskId`, `subject`, `status`."""
    MCP = "mcp"
    """A tool of an MCP server. Every agent's are named `mcp__server__tool` here."""
    FORM = "form"
    """No tool but a form of an MCP server: `message`, `requested_schema`."""
    STOP = "stop"
    """No tool but the end of a turn."""
    OTHER = "other"


EDIT_KINDS = frozenset({ToolKind.EDIT, ToolKind.MULTI_EDIT, ToolKind.NOTEBOOK_EDIT, ToolKind.WRITE})
"""Tools whose effect on a file follows from their input."""

FOLDER_KINDS = frozenset({ToolKind.SEARCH, ToolKind.FIND, ToolKind.LIST})
"""Tools that read everything in a folder."""

READ_KINDS = FOLDER_KINDS | {ToolKind.READ}


MAIN_FIELDS: Mapping[str, str] = {
    ToolKind.SHELL: "command",
    ToolKind.FETCH: "url",
    ToolKind.WEB_SEARCH: "query",
    ToolKind.SEARCH: "pattern",
    ToolKind.FIND: "pattern",
    ToolKind.TASK: "subagent_type",
    ToolKind.NOTEBOOK_EDIT: "notebook_path",
    **dict.fromkeys((ToolKind.READ, ToolKind.EDIT, ToolKind.MULTI_EDIT, ToolKind.WRITE, ToolKind.LIST), "file_path"),
}
"""The field that a person means who types a text as the whole input."""


class ToolTraits(Struct, frozen=True, kw_only=True):
    """A tool's kind and, for what has no kind of its own, its risk: a level, and the reason in words."""

    kind: str = ToolKind.OTHER
    risk: tuple[str, str] | None = None


UNKNOWN_TOOL = ToolTraits()
"""A tool that is in no agent's table."""
