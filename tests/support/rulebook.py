"""Rules and uses of tools, in few words, for tests that ask what the rules say."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.rules.rulebook import Rule, Rulebook, Subject

HOME, CWD, OURS = "/home/me", "/home/me/project", "/home/me/.local/state/quarterdeck"


def rule(text: str, scope: str = "user", **fields: Any) -> Rule:
    """`rule("deny Bash(rm:*)")`; its id is its text unless one is given."""
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
    tool: str, *, at: str | None = None, cwd: str = CWD, session: str = "s1", folds: bool = False, **given: Any
) -> Subject:
    """A use of a tool with this input; `at` is the real path it is about."""
    return Subject(
        tool_name=tool,
        tool_input=given,
        session_id=session,
        cwd=cwd,
        home=HOME,
        path=at,
        case_folds=folds,
        our_home=OURS,
    )


def runs(command: str, **given: Any) -> Subject:
    return use("Bash", command=command, **given)


def edits(path: str, written: str | None = None, tool: str = "Edit", **fields: Any) -> Subject:
    """An edit of the file that is really there; `written` is what the agent calls it."""
    return use(tool, at=path, file_path=written or path, **fields)


def reads(path: str, written: str | None = None, tool: str = "Read", **fields: Any) -> Subject:
    return edits(path, written, tool, **fields)


def said(subject: Subject, *texts: str, now: float = 1.0) -> str | None:
    """What these rules say about the use."""
    return Rulebook.of(rules(*texts)).verdict(subject, now).effect
