"""How an event reads in one line, what its body is, and how a face shows it at first; pure, never stored."""

from __future__ import annotations

import posixpath as paths
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.decisions import DEFAULT_DENY
from quarterdeck.core.model.events import FeedEvent

WIDTH = 100
BODY = 10_001

SUBJECT = (
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
"""Where a tool's input says what it is about, in order of preference."""


class Ui(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hints for a face."""

    collapsed_default: bool | None = None
    pin: bool | None = None
    badge: str | None = None


UI: Mapping[str, Ui] = {
    "tool.pre": Ui(collapsed_default=True, badge="TOOL"),
    "tool.post": Ui(collapsed_default=True),
    "tool.failure": Ui(collapsed_default=False, badge="FAIL"),
    "permission.request": Ui(collapsed_default=False, badge="PERM"),
    "question.request": Ui(collapsed_default=False, badge="ASK"),
    "stop.request": Ui(collapsed_default=False, badge="STOP"),
    "stop.failure": Ui(collapsed_default=False, badge="FAIL"),
    "unknown.hook": Ui(collapsed_default=True, badge="?"),
}
_PLAIN = Ui()


def ui_of(event: FeedEvent) -> Ui:
    """The rendering hints of an event."""
    return UI.get(event.kind, _PLAIN)


def title_of(event: FeedEvent) -> str:
    """The one line. An event of an unknown kind or with data of another shape is named by its kind."""
    title = _TITLES.get(event.kind)
    if title is None or not isinstance(event.data, Struct):
        return event.kind
    return cut(title(event.data).replace("\n", " "))


def body_of(event: FeedEvent) -> str | None:
    """The longer text behind the title, where there is one."""
    field = _BODIES.get(event.kind)
    value = getattr(event.data, field, None) if field else None
    return cut(value, BODY) if isinstance(value, str) and value else None


def cut(text: str, width: int = WIDTH) -> str:
    """The text in at most `width` characters, cut in the middle."""
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def subject_of(tool_input: Any) -> str:
    """What a tool call is about, in a few words."""
    if not isinstance(tool_input, dict):
        return ""
    for key in SUBJECT:
        value = tool_input.get(key)
        if isinstance(value, str) and value:
            return paths.basename(value) or value if key.endswith("_path") else value
    return ""


def _call(data: Any) -> str:
    return f"{data.tool_name}({cut(subject_of(data.tool_input), 80)})"


def _decision(data: Any) -> str:
    by = f" by rule {data.pattern}" if data.pattern else f" by {data.by}" if data.by else ""
    if data.late:
        return f"· Too late: {data.decision_type}{by}"
    if data.overrides:
        return f"! Otherwise than decided: {data.note or data.decision_type}"
    edited = "" if data.updated_input is None else _edited(data.updated_input)
    words = {
        "allow": f"✓ Allowed{by}{edited}",
        "answer": f"✓ Answered{by}: {answers_in_words(data.answers, data.notes)}",
        "deny": f"✗ Denied{by}{'' if data.pattern else ': ' + _denied(data)}",
        "block": f"✗ Blocked{by}: {data.reason or ''}",
        "ask": "? Asked at the terminal",
        "no_opinion": f"· {_no_opinion(data)}",
    }
    return words.get(str(data.decision_type), str(data.decision_type)).removesuffix(": ")


def _edited(tool_input: dict[str, Any]) -> str:
    subject = cut(subject_of(tool_input), 80)
    return f", edited: {subject}" if subject else ", with an edited input"


def answers_in_words(answers: Any, notes: Any = None, width: int = 60) -> str:
    """What was answered, in one line: the answers in their order, each with its note, without the questions."""
    if not isinstance(answers, dict):
        return ""
    noted = notes if isinstance(notes, dict) else {}
    told = []
    for question, one in answers.items():
        words = ", ".join(map(str, one)) if isinstance(one, list) else str(one)
        told.append(f"{words} ({noted[question]})" if noted.get(question) else words)
    return cut(" · ".join(told).replace("\n", " "), width)


def _denied(data: Any) -> str:
    """What was said beyond who denied it."""
    said = data.message or data.reason or ""
    return "" if said == DEFAULT_DENY.format(by=data.by) else said


def _no_opinion(data: Any) -> str:
    if data.status == "withdrawn":
        return f"Withdrawn: {data.reason or 'answered elsewhere'}"
    if data.status == "expired":
        return "Nobody answered in time" + (f" ({data.by})" if data.by != "deadline" else "")
    return f"Passed to the terminal{': ' + data.reason if data.reason else ''}"


def _todo_update(data: Any) -> str:
    return f"◦ to-do {cut(data.todo_id, 40)} → {data.patch.get('status') or data.patch.get('text', 'changed')}"


def _run_end(data: Any) -> str:
    counters = data.counters
    return f"■ Run {data.status}: {_counted(counters.tool_uses, 'tool')}, {counters.tool_failures} failed"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _summary(data: Any) -> str:
    words = f"Σ {_counted(data.message_count, 'message')}, {_counted(data.tool_call_count, 'tool')}"
    if data.usage is not None:
        words += f", {short_usage(data.usage)}"
    return f"{words}; not all is known" if data.missing else words


def short_usage(usage: Any) -> str:
    """Tokens and cost in a few characters; the cost is left out where it is not known."""
    tokens = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    cost = money(usage.cost_usd)
    return f"{count(tokens)} tokens{' ' + cost if cost else ''}"


def money(dollars: float | None) -> str:
    """A cost in dollars and cents; nothing where there is none, and never nought for a little."""
    if not dollars:
        return ""
    return f"${dollars:.2f}" if dollars >= 0.005 else "<$0.01"


def count(number: int) -> str:
    """A number in at most four characters or so: 950, 12k, 3.4M."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.0f}k" if number < 999_500 else f"{number / 1_000_000:.1f}M"


_TITLES: dict[str, Callable[[Any], str]] = {
    "session.start": lambda d: f"○ Session started ({d.source})",
    "session.end": lambda d: f"– Session ended ({d.reason})",
    "session.interrupt": lambda d: f"· Nothing to interrupt, for {d.by}" if d.idle else f"✕ Interrupted by {d.by}",
    "session.launch": lambda d: _launch(d),
    "session.up": lambda d: f"· Runs as process {d.pid}" + (f" in {d.terminal}" if d.terminal else ""),
    "session.exit": lambda d: _exit(d),
    "session.send": lambda d: f"→ {d.by}: {d.prompt.strip()}",
    "session.given": lambda d: "· The agent has the prompt",
    "session.close": lambda d: f"– Ended by {d.by}" + (f", to go on in {d.next_mode}" if d.next_mode else ""),
    "session.change": lambda d: f"· {d.by}: " + ", ".join(filter(None, (d.model, d.permission_mode))),
    "session.failed": lambda d: f"✕ Could not {d.order}: {d.error}",
    "turn.result": lambda d: _turn(d),
    "agent.note": lambda d: f"· {d.name}",
    "session.state": lambda d: _session_state(d),
    "session.usage": lambda d: f"· Transcript read: {_counted(len(d.spent), 'message')}",
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
    "tool.batch": lambda d: f"⎿ {_counted(len(d.tool_calls), 'tool call')} done",
    "permission.request": lambda d: f"⚠ Permission: {_call(d)}",
    "permission.decision": _decision,
    "decision.refused": lambda d: f"✗ Refused: {d.wanted} by {d.by}, {d.reason}",
    "permission.denied": lambda d: f"✗ Denied by the agent: {_call(d)}",
    "question.request": lambda d: _question(d),
    "question.decision": _decision,
    "request.escalated": lambda d: f"! Nobody answers: told {', '.join(d.channels)} ({d.risk} risk)",
    "escalation.failed": lambda d: f"✕ Nobody could be told by {d.channel}: {d.error}",
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
    "token.revoke": lambda d: f"− Token {d.name} by {d.by}",
    "log.trim": lambda d: f"− {d.events} events up to {d.upto} leave the log ({d.why})",
    "setting.change": lambda d: f"· Setting {d.key}: {d.old or 'default'} → {d.new or 'default'}",
    "plugin.change": lambda d: f"· Plugin {_extension(d)}",
    "mcp.change": lambda d: f"· MCP server {_extension(d)}",
    "terminal.open": lambda d: f"· Terminal {d.name or d.terminal_id} opened",
    "terminal.close": lambda d: f"· Terminal {d.name or d.terminal_id} closed",
    "operator.arm": lambda d: f"· Armed {d.prompt_id}" if d.prompt_id else "· Disarmed",
    "operator.dispatch": lambda d: f"→ Sent {d.prompt_id or ''}",
    "unknown.hook": lambda d: f"? {d.hook_event_name}" + (f": {d.error}" if d.error else ""),
}


def _launch(data: Any) -> str:
    if data.continues:
        return f"○ Goes on after /clear ({data.mode})"
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
    words = [data.subtype if data.is_error else "Turn done", money(data.cost_usd), *data.errors[:1]]
    return f"{'✕' if data.is_error else '■'} " + " · ".join(filter(None, words))


def _extension(data: Any) -> str:
    action = data.action.replace("_", " ")
    failed = f", which failed: {data.error or 'no reason given'}" if data.outcome == "failed" else ""
    return f"{data.name}: {action} ({data.scope}) by {data.by}{failed}"


def _session_state(data: Any) -> str:
    if data.status == "stale":
        return "· Nothing heard of it for long"
    return f"· Process is {data.status}" if data.status else f"· Runs as process {data.pid}"


def _question(data: Any) -> str:
    if data.form == "plan":
        return "⚠ Plan to approve"
    if data.form == "elicitation":
        return f"⚠ {data.tool_input.get('mcp_server_name', 'MCP server')} asks: {data.tool_input.get('message', '')}"
    questions = data.tool_input.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    asked = first.get("question", "") if isinstance(first, dict) else ""
    return f"⚠ Question: {asked}"


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
    "turn.result": "text",
    "todo.add": "details",
    "permission.decision": "message",
    "question.decision": "message",
    "stop.decision": "reason",
}
