"""One line about an audited event: its command, file, folder, rule or session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.audit.redaction import without_secrets
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import SUBJECT_FIELDS

WIDTH = 200
READ_LIMIT = 2_000
"""Characters of a text that are redacted and cut to `WIDTH`. A prompt can be megabytes long, so the rest is ignored."""


class AuditSubject(Struct, frozen=True):
    """The subject of a decided request: a tool, and its command, file or address."""

    tool_name: str
    subject: str = ""
    tool_kind: str = ""

    def __str__(self) -> str:
        if self.tool_kind == ToolKind.SHELL and self.subject:
            return self.subject
        return f"{self.tool_name}({self.subject})" if self.subject else self.tool_name


def about(event: FeedEvent, subject: AuditSubject | None) -> str:
    """One line without secrets; empty for an event whose data has no known shape."""
    line = _line(event, subject)
    return cut(one_line(without_secrets(line[:READ_LIMIT])), WIDTH)


def _line(event: FeedEvent, subject: AuditSubject | None) -> str:
    data = event.data
    if not isinstance(data, Struct):
        return ""
    if subject is not None and event.kind != "rule.add":
        return str(replace(subject, subject=_edited_subject(data) or subject.subject))
    if describe := _LINES.get(event.kind):
        return describe(data)
    return f"session {event.session_id[:8]}{_SESSION_SUFFIXES.get(event.kind, _nothing)(data)}"


def _edited_subject(data: Any) -> str:
    """The subject of the edited input that ran instead; empty if the input was not edited."""
    tool_input = getattr(data, "updated_input", None) or {}
    return next((value for key in SUBJECT_FIELDS if isinstance(value := tool_input.get(key), str) and value), "")


def _rule(data: Any) -> str:
    return f"{data.effect} {data.pattern or data.rule_id}".strip()


def _refused(data: Any) -> str:
    return data.command or data.request_id or ""


def _launched(data: Any) -> str:
    return f"{data.cwd}: {data.prompt}" if data.prompt else str(data.cwd)


def _setting(data: Any) -> str:
    return f"{data.key}: {data.old or 'default'} → {data.new or 'default'}"


def _nothing(data: Any) -> str:
    return ""


_LINES: Mapping[str, Callable[[Any], str]] = {
    "permission.decision": lambda d: d.request_id,
    "question.decision": lambda d: d.request_id,
    "stop.decision": lambda d: d.request_id,
    "decision.refused": _refused,
    "rule.add": _rule,
    "rule.remove": _rule,
    "project.trust": lambda d: d.path,
    "session.launch": _launched,
    "session.send": lambda d: d.prompt,
    "worktree.merge": lambda d: f"{d.name} into {d.base}",
    "worktree.discard": lambda d: d.name or d.worktree_path or "",
    "token.create": lambda d: f"token {d.name} ({', '.join(d.scopes)})",
    "token.elevate": lambda d: f"{d.name}: {', '.join(d.scopes)}",
    "token.revoke": lambda d: f"token {d.name}",
    "setting.change": _setting,
    "plugin.change": lambda d: f"plugin {d.name}",
    "mcp.change": lambda d: f"MCP server {d.name}",
    "log.trim": lambda d: f"{d.events} events up to {d.upto}",
}
_SESSION_SUFFIXES: Mapping[str, Callable[[Any], str]] = {
    "session.exit": lambda d: f" {d.reason}",
    "session.change": lambda d: ": " + ", ".join(filter(None, (d.model, d.permission_mode))),
    "session.failed": lambda d: f": could not {d.order}: {d.error}",
}
"""Details that follow the session's ID."""
