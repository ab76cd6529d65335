"""What a deed of the audit was about, in a few words: the command, the file, the folder, the rule, the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.redaction import without_secrets
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import SUBJECT, cut

WIDTH = 200
READ = 2_000
"""So much of a text is read for it."""


class AskedFor(Struct, frozen=True):
    """What the request of a decision was: a tool, and what it was to be used on."""

    tool_name: str
    subject: str = ""

    def __str__(self) -> str:
        if self.tool_name == "Bash" and self.subject:
            return self.subject
        return f"{self.tool_name}({self.subject})" if self.subject else self.tool_name


def about(event: FeedEvent, asked: AskedFor | None) -> str:
    """One line without a secret; empty where the event tells nothing."""
    words = _words(event, asked)
    return cut(one_line(without_secrets(words[:READ])), WIDTH)


def _words(event: FeedEvent, asked: AskedFor | None) -> str:
    data = event.data
    if not isinstance(data, Struct):
        return ""
    if asked is not None and event.kind != "rule.add":
        return str(AskedFor(asked.tool_name, _edited(data) or asked.subject))
    told = _ABOUT.get(event.kind)
    return told(data) if told else f"session {event.session_id[:8]}{_SESSION.get(event.kind, _nothing)(data)}"


def _edited(data: Any) -> str:
    """What ran instead of what was asked for."""
    given = getattr(data, "updated_input", None) or {}
    return next((value for key in SUBJECT if isinstance(value := given.get(key), str) and value), "")


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


_ABOUT: Mapping[str, Callable[[Any], str]] = {
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
    "token.revoke": lambda d: f"token {d.name}",
    "setting.change": _setting,
    "plugin.change": lambda d: f"plugin {d.name}",
    "mcp.change": lambda d: f"MCP server {d.name}",
    "log.trim": lambda d: f"{d.events} events up to {d.upto}",
}
_SESSION: Mapping[str, Callable[[Any], str]] = {
    "session.exit": lambda d: f" {d.reason}",
    "session.change": lambda d: ": " + ", ".join(filter(None, (d.model, d.permission_mode))),
    "session.failed": lambda d: f": could not {d.order}: {d.error}",
}
"""What is said of a session beyond which one it is."""
