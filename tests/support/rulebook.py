"""Short ways to write rules and tool uses, for tests of rules."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.patterns.rule_words import word_kind
from quarterdeck.core.rules.rulebook import Rule, Rulebook, ToolUse

HOME, CWD, QUARTERDECK_HOME = "/home/me", "/home/me/project", "/home/me/.local/state/quarterdeck"


def rule(text: str, scope: str = "user", **fields: Any) -> Rule:
    """`rule("deny Bash(rm:*)")`. The ID is the text and the scope unless `rule_id` is given."""
    effect, _, pattern = text.partition(" ")
    return Rule(
        **{"rule_id": f"{text} {scope}", "created_at": 0.0, "created_by": "me", **fields},
        effect=effect,
        pattern=pattern,
        scope=scope,
    )


def rules(*texts: str) -> list[Rule]:
    return [rule(text) for text in texts]


def use(
    tool: str, *, at: str | None = None, cwd: str = CWD, session: str = "s1", folds: bool = False, **tool_input: Any
) -> ToolUse:
    """A tool use with this input. `at`: the real path of its file or folder."""
    return ToolUse(
        tool_name=tool,
        kind=word_kind(tool),
        tool_input=tool_input,
        session_id=session,
        cwd=cwd,
        home=HOME,
        path=at,
        case_folds=folds,
        quarterdeck_home=QUARTERDECK_HOME,
    )


def runs(command: str, **tool_input: Any) -> ToolUse:
    return use("Bash", command=command, **tool_input)


def edits(path: str, written: str | None = None, tool: str = "Edit", **fields: Any) -> ToolUse:
    """An edit of the file at this real path. `written`: the path in the tool input."""
    return use(tool, at=path, file_path=written or path, **fields)


def reads(path: str, written: str | None = None, tool: str = "Read", **fields: Any) -> ToolUse:
    return edits(path, written, tool, **fields)


def effect_of(tool_use: ToolUse, *texts: str, now: float = 1.0) -> str | None:
    """The effect of these rules on the tool use; None if none applies."""
    return Rulebook.of(rules(*texts)).verdict(tool_use, now).effect
