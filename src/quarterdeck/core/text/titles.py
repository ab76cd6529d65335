"""Title, body and display hints of an event. Pure: computed when shown, never stored."""

from __future__ import annotations

import posixpath as paths
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.amounts import counted, cut, money, short_usage
from quarterdeck.core.text.decision_words import decision_title

BODY_LIMIT = 10_001
"""5,000 characters from each end, and the sign between them: lists of events carry the body of each."""

SUBJECT_FIELDS = (
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "command",
    "url",
    "query",
    "description",
    "prompt",
    "subject",
)
"""Fields of a tool input that name its subject, in order of preference."""


class UiHints(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Display hints for a surface."""

    collapsed_default: bool | None = None
    pin: bool | None = None
    badge: str | None = None


UI_HINTS: Mapping[str, UiHints] = {
    "tool.pre": UiHints(collapsed_default=True, badge="TOOL"),
    "tool.post": UiHints(collapsed_default=True),
    "tool.failure": UiHints(collapsed_default=False, badge="FAIL"),
    "permission.request": UiHints(collapsed_default=False, badge="PERM"),
    "question.request": UiHints(collapsed_default=False, badge="ASK"),
    "stop.request": UiHints(collapsed_default=False, badge="STOP"),
    "stop.failure": UiHints(collapsed_default=False, badge="FAIL"),
    "unknown.hook": UiHints(collapsed_default=True, badge="?"),
}
_NO_HINTS = UiHints()


def ui_of(event: FeedEvent) -> UiHints:
    """The display hints of an event. The result of a turn that failed is shown like a failed stop."""
    kind = "stop.failure" if event.kind == "turn.result" and getattr(event.data, "has_failed", False) else event.kind
    return UI_HINTS.get(kind, _NO_HINTS)


def title_of(event: FeedEvent) -> str:
    """The event in one line. If its kind or the shape of its data is unknown, the title is the kind."""
    if event.title is not None:
        return cut(event.title.replace("\n", " "))
    title = _TITLES.get(event.kind)
    if title is None or not isinstance(event.data, Struct):
        return event.kind
    return cut(title(event.data).replace("\n", " "))


def body_of(event: FeedEvent) -> str | None:
    """The longer text behind the title; None if there is none."""
    field = _BODIES.get(event.kind)
    value = getattr(event.data, field, None) if field else None
    return cut(value, BODY_LIMIT) if isinstance(value, str) and value else None


def subject_of(tool_input: Any) -> str:
    """The subject of a tool call: its file, command, address or prompt, the first line of its plan, or its first
    question; empty if it has none."""
    if not isinstance(tool_input, dict):
        return ""
    for key in SUBJECT_FIELDS:
        value = tool_input.get(key)
        if isinstance(value, str) and value:
            return paths.basename(value) or value if key.endswith("_path") else value
    return plan_line(tool_input) or _first_question(tool_input)


def plan_line(tool_input: Any) -> str:
    """The first line of a plan, without the marks of a heading."""
    plan = tool_input.get("plan") if isinstance(tool_input, dict) else None
    return plan.strip().partition("\n")[0].lstrip("# ").rstrip() if isinstance(plan, str) else ""


def _first_question(tool_input: Mapping[str, Any]) -> str:
    found = tool_input.get("questions")
    first = found[0] if isinstance(found, list) and found else None
    question = first.get("question") if isinstance(first, dict) else None
    return question if isinstance(question, str) else ""


def _call(data: Any) -> str:
    return f"{data.tool_name}({cut(subject_of(data.tool_input), 80)})"


def _decision(data: Any) -> str:
    return decision_title(data, "" if data.updated_input is None else _edited(data.updated_input))


def _edited(tool_input: dict[str, Any]) -> str:
    subject = cut(subject_of(tool_input), 80)
    return f", edited: {subject}" if subject else ", with an edited input"


def _todo_update(data: Any) -> str:
    return f"◦ to-do {cut(data.todo_id, 40)} → {data.patch.get('status') or data.patch.get('text', 'changed')}"


def _dispatch(data: Any) -> str:
    subject = f"{data.prompt_id or 'a key'} from the deck" + (f" by {data.route}" if data.route else "")
    match data.outcome:
        case "sending":
            return f"→ Sending {subject}"
        case "undelivered":
            return f"✕ Not delivered: {subject}" + (f": {data.reason}" if data.reason else "")
        case _:
            return f"→ Sent {subject}"


def _run_end(data: Any) -> str:
    counters = data.counters
    return f"■ Run {data.status}: {counted(counters.tool_uses, 'tool')}, {counters.tool_failures} failed"


def _summary(data: Any) -> str:
    words = f"Σ {counted(data.message_count, 'message')}, {counted(data.tool_call_count, 'tool')}"
    if data.usage is not None:
        words += f", {short_usage(data.usage)}"
    return f"{words}; some usage is missing" if data.missing else words


_TITLES: dict[str, Callable[[Any], str]] = {
    "session.start": lambda d: f"○ Session started ({d.source})",
    "session.end": lambda d: f"– Session ended ({d.reason})",
    "session.interrupt": lambda d: f"· Nothing to interrupt, for {d.by}" if d.idle else f"✕ Interrupted by {d.by}",
    "session.launch": lambda d: _launch(d),
    "session.up": lambda d: f"· Runs as process {d.pid}" + (f" in {d.terminal}" if d.terminal else ""),
    "session.exit": lambda d: _exit(d),
    "session.send": lambda d: f"→ {d.by}: {d.prompt.strip()}",
    "session.given": lambda d: "· The agent has the prompt",
    "session.close": lambda d: f"– Ended by {d.by}" + (f", to continue in {d.next_mode}" if d.next_mode else ""),
    "session.change": lambda d: f"· {d.by}: " + ", ".join(filter(None, (d.model, d.permission_mode))),
    "session.failed": lambda d: f"✕ Could not {d.order}: {d.error}",
    "turn.result": lambda d: _turn(d),
    "agent.note": lambda d: f"· {d.name}",
    "session.state": lambda d: _session_state(d),
    "session.usage": lambda d: f"· Transcript read: {counted(len(d.spent), 'message')}",
    "session.summary": _summary,
    "run.start": lambda d: f"▸ Run: {d.trigger.prompt_preview or d.trigger.type}",
    "run.end": _run_end,
    "user.prompt": lambda d: f"❯ {d.prompt.strip()}",
    "user.expansion": lambda d: f"❯ /{d.command_name} {d.command_args}".rstrip(),
    "message.user": lambda d: f"❯ {d.text}",
    "message.assistant": lambda d: f"◂ {d.text}",
    "tool.pre": lambda d: f"● {_call(d)}",
    "tool.post": lambda d: f"⎿ {d.tool_name} result",
    "tool.failure": lambda d: f"⎿ {d.tool_name} failed: {d.error}",
    "tool.batch": lambda d: f"⎿ {counted(len(d.tool_calls), 'tool call')} done",
    "permission.request": lambda d: f"⚠ Permission: {_call(d)}",
    "permission.decision": _decision,
    "decision.refused": lambda d: f"✗ Refused: {d.wanted} by {d.by}, {d.reason}",
    "permission.denied": lambda d: f"✗ Denied by the agent: {_call(d)}",
    "question.request": lambda d: _question(d),
    "question.decision": _decision,
    "request.assessed": lambda d: f"· Assessed: {', '.join((f'{d.risk} risk', *d.reasons[:1]))}",
    "request.escalated": lambda d: f"! Unanswered: notified {', '.join(d.channels)} ({d.risk} risk)",
    "escalation.failed": lambda d: f"✕ {d.channel} could not notify you: {d.error}",
    "elicitation.result": lambda d: f"✓ {d.mcp_server_name}: {d.action}",
    "stop.request": lambda d: "■ Stop" if d.scope == "root" else "■ Sub-agent stop",
    "stop.decision": _decision,
    "stop.failure": lambda d: f"✕ Stopped by an error: {d.error}",
    "subagent.start": lambda d: f"◇ Sub-agent {d.agent_type or d.agent_id} started",
    "subagent.stop": lambda d: f"◇ Sub-agent {d.agent_type or d.agent_id} stopped",
    "notification": lambda d: d.message,
    "compact.pre": lambda d: f"⇲ Compacting ({d.trigger})",
    "compact.post": lambda d: f"⇲ Compacted ({d.trigger})",
    "setup": lambda d: f"· Setup ({d.trigger})",
    "instructions.loaded": lambda d: f"· Read instructions {paths.basename(d.file_path)}",
    "cwd.changed": lambda d: f"· Now in {d.new_cwd}",
    "file.changed": lambda d: f"· {d.event} {d.file_path}",
    "directory.added": lambda d: f"· Added directory {d.directory}",
    "config.changed": lambda d: f"· Settings changed ({d.source})",
    "model.pre": lambda d: f"· Switching to {d.to_model}",
    "model.post": lambda d: f"· Now on {d.to_model}",
    "teammate.idle": lambda d: f"· Teammate {d.teammate_name or ''} idle",
    "worktree.create": lambda d: f"· Worktree {d.name or ''}",
    "worktree.remove": lambda d: f"· Worktree removed {d.worktree_path or d.name or ''}",
    "worktree.merge": lambda d: f"· {d.name} merged into {d.base} by {d.by}",
    "worktree.discard": lambda d: f"· {d.name} discarded by {d.by}",
    "todo.add": lambda d: f"◦ to-do: {d.text}",
    "todo.update": _todo_update,
    "todo.done": lambda d: f"✓ to-do {cut(d.todo_id, 60)}{' (' + d.reason + ')' if d.reason else ''}",
    "rule.add": lambda d: f"+ Rule {d.effect} {d.pattern} ({d.scope})",
    "rule.remove": lambda d: f"− Rule {d.effect} {d.pattern or d.rule_id} ({d.why})",
    "project.trust": lambda d: f"Trust in {d.path}: {d.trust}",
    "token.create": lambda d: f"+ Token {d.name} ({', '.join(d.scopes)}) by {d.by}",
    "token.elevate": lambda d: f"+ {d.name} may also {', '.join(d.scopes)}, by {d.by}",
    "token.revoke": lambda d: f"− Token {d.name} by {d.by}",
    "log.trim": lambda d: f"− {d.events} events up to {d.upto} leave the log ({d.why})",
    "setting.change": lambda d: f"· Setting {d.key}: {d.old or 'default'} → {d.new or 'default'}",
    "plugin.change": lambda d: f"· Plugin {_extension(d)}",
    "mcp.change": lambda d: f"· MCP server {_extension(d)}",
    "terminal.open": lambda d: f"· Terminal {d.name or d.terminal_id} opened",
    "terminal.close": lambda d: f"· Terminal {d.name or d.terminal_id} closed",
    "operator.arm": lambda d: f"· Armed {d.prompt_id}" if d.prompt_id else "· Disarmed",
    "operator.page": lambda d: f"· Page {d.page + 1}",
    "operator.select": lambda d: f"· Chose {d.what} {d.id or 'none'}",
    "operator.dispatch": _dispatch,
    "unknown.hook": lambda d: f"? {d.hook_event_name}" + (f": {d.error}" if d.error else ""),
}


def _launch(data: Any) -> str:
    if data.continues:
        return f"○ Continues after /clear ({data.mode})"
    how = "Resumed" if data.resumed else "Forked" if data.forked_from else "Started"
    return (
        f"○ {how} by {data.by} ({data.mode}{', a shell' if data.shell else ''}{', worktree' if data.worktree else ''})"
    )


def _exit(data: Any) -> str:
    how = f"signal {data.signal}" if data.signal else f"exit {data.code}" if data.code else ""
    cut_off = f"; cut off: {data.cut_off}" if data.cut_off else ""
    return f"– {data.mode} session {data.reason}{' (' + how + ')' if how else ''}{cut_off}"


def _turn(data: Any) -> str:
    if data.interrupted:
        return " · ".join(filter(None, ("■ Turn interrupted", money(data.cost_usd))))
    if data.is_error:
        words = data.failure.rpartition(": ")[0] if data.advice else data.failure  # the next step is in the body
        return " · ".join(filter(None, (f"✕ Turn failed: {words}", money(data.cost_usd))))
    return " · ".join(filter(None, ("■ Turn done", money(data.cost_usd))))


def _extension(data: Any) -> str:
    action = data.action.replace("_", " ")
    failed = f", which failed: {data.error or 'no reason given'}" if data.outcome == "failed" else ""
    return f"{data.name}: {action} ({data.scope}) by {data.by}{failed}"


def _session_state(data: Any) -> str:
    if data.status == "stale":
        return "· No activity for a day"
    return f"· Process is {data.status}" if data.status else f"· Runs as process {data.pid}"


def _question(data: Any) -> str:
    if data.form == "plan":
        return f"⚠ Plan to approve: {plan_line(data.tool_input)}".removesuffix(": ")
    if data.form == "elicitation":
        return f"⚠ {data.tool_input.get('mcp_server_name', 'MCP server')} asks: {data.tool_input.get('message', '')}"
    return f"⚠ Question: {_first_question(data.tool_input)}"


_BODIES = {
    "user.prompt": "prompt",
    "user.expansion": "prompt",
    "tool.failure": "error",
    "stop.request": "last_assistant_message",
    "stop.failure": "last_assistant_message",
    "subagent.stop": "last_assistant_message",
    "notification": "message",
    "compact.post": "compact_summary",
    "message.user": "text",
    "message.assistant": "text",
    "session.summary": "last_assistant_text",
    "session.launch": "prompt",
    "session.send": "prompt",
    "session.exit": "last_words",
    "session.failed": "error",
    "turn.result": "words",
    "todo.add": "details",
    "permission.decision": "message",
    "question.decision": "message",
    "stop.decision": "reason",
}
