"""The words of the rule language: Claude Code's names of tools, each for its kind of tool of any agent.

A word that is not here means a tool of just that name.
"""

from __future__ import annotations

from collections.abc import Mapping

from quarterdeck.core.model.tool_kinds import EDIT_KINDS, READ_KINDS, ToolKind

BASH = "Bash"
EDIT = "Edit"
READ = "Read"
FETCH = "WebFetch"
SKILL = "Skill"
FORM = "Elicitation"
STOP = "Stop"

RULE_WORDS: Mapping[str, ToolKind] = {
    BASH: ToolKind.SHELL,
    EDIT: ToolKind.EDIT,
    "Write": ToolKind.WRITE,
    "MultiEdit": ToolKind.MULTI_EDIT,
    "NotebookEdit": ToolKind.NOTEBOOK_EDIT,
    READ: ToolKind.READ,
    "NotebookRead": ToolKind.READ,
    "Grep": ToolKind.SEARCH,
    "Glob": ToolKind.FIND,
    "LS": ToolKind.LIST,
    FETCH: ToolKind.FETCH,
    "WebSearch": ToolKind.WEB_SEARCH,
    "Agent": ToolKind.TASK,
    "Task": ToolKind.TASK,
    SKILL: ToolKind.SKILL,
    "AskUserQuestion": ToolKind.QUESTION,
    "ExitPlanMode": ToolKind.PLAN,
    "TodoWrite": ToolKind.TODO_LIST,
}


def _words(*kinds: ToolKind) -> tuple[str, ...]:
    return tuple(word for word, kind in RULE_WORDS.items() if kind in kinds)


EDITS = _words(*EDIT_KINDS)
READS = _words(*READ_KINDS)
AGENTS = _words(ToolKind.TASK)
ANSWERED = frozenset({*_words(ToolKind.QUESTION, ToolKind.PLAN), FORM, STOP})
"""What a person answers each time."""

COVERED_WORDS: Mapping[str, tuple[str, ...]] = {EDIT: EDITS, READ: READS, **dict.fromkeys(AGENTS, AGENTS)}
"""The words that a rule for one word covers, if there are several."""

_WORD_OF: dict[str, str] = {
    **{kind: word for word, kind in reversed([*RULE_WORDS.items()])},  # the first word of each kind
    ToolKind.FORM: FORM,
    ToolKind.STOP: STOP,
}


def rule_word(kind: str, tool_name: str) -> str:
    """The word under which rules see a tool. A tool that has no kind is seen under its own name, unless that is a word
    of the language: then no rule knows it."""
    if not kind or RULE_WORDS.get(tool_name) == kind:
        return tool_name
    return _WORD_OF.get(kind) or (f"another {tool_name}" if tool_name in RULE_WORDS else tool_name)


def word_kind(word: str) -> ToolKind:
    """The kind of tool that a word means."""
    return RULE_WORDS.get(word) or (ToolKind.MCP if word.startswith("mcp__") else ToolKind.OTHER)
