"""A row of the feed in one line: `● Bash mkdir out2  ✓ rule Bash(mkdir:*)  40 ms`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.text.amounts import cut, money
from quarterdeck.core.text.decision_words import answers_in_words
from quarterdeck.core.text.durations import duration_words
from quarterdeck.core.text.feed.event_rows import EventRow
from quarterdeck.core.text.titles import subject_of

Json = dict[str, Any]

NAMES: Mapping[str, str] = {
    ToolKind.TODO_LIST: "Todo",
    ToolKind.QUESTION: "Question",
    ToolKind.PLAN: "Plan",
    ToolKind.NOTEBOOK_EDIT: "Notebook",
}
"""Names of tools for people, by the kind of the tool."""

CALLS = ("tool.pre", "permission.request", "question.request", "permission.denied", "tool.post", "tool.failure")
"""Kinds that name the tool of a row, the best first."""
REQUESTS = ("permission.request", "question.request")
DECISIONS = ("permission.decision", "question.decision", "stop.decision")
OUTCOMES = ("tool.post", "tool.failure")
ENDS = ("stop.failure", "run.end", "turn.result", "stop.request")
"""Kinds that say how a turn ended, the best first."""

SUBJECT = 80
TERMINAL = "at the terminal"
_LEVELS = ("debug", "info", "warn", "error")


class RowWords(Struct, frozen=True, kw_only=True):
    """The parts of a line. `text` begins with a glyph. `verdict`: who decided. `outcome`: a failure, or that the call
    waits or still runs. `took`: seconds."""

    text: str
    verdict: str = ""
    outcome: str = ""
    took: float | None = None
    level: str = "info"

    @property
    def line(self) -> str:
        took = "" if self.took is None else duration_words(self.took)
        return "  ".join(filter(None, (self.text, self.verdict, self.outcome, took)))


def short_tool_name(tool_name: str, kind: str) -> str:
    """The tool's name for people: `mcp__github__create_issue` is `github·create_issue`."""
    if kind != ToolKind.MCP:
        return NAMES.get(kind, tool_name)
    server, _, tool = tool_name.removeprefix("mcp__").partition("__")
    return f"{server}·{tool}" if tool else server


def verdict_words(data: Mapping[str, Any]) -> str:
    """The decision of a request in a few words; empty if nobody decided. The outcome shows an override."""
    decision, source = str(data.get("decision_type")), data.get("source")
    if data.get("late") or data.get("overrides"):
        return "! overridden at the terminal" if data.get("overrides") else ""
    if data.get("status") == "expired":
        return "· nobody answered"
    glyph = {"allow": "✓", "answer": "✓", "ask": "?", "no_opinion": "·"}.get(decision, "✗")
    if data.get("status") == "withdrawn":
        return f"{glyph} {_end_words(data)}"
    if decision == "no_opinion":
        return ""
    if data.get("pattern"):
        return f"{glyph} rule {data['pattern']}"
    if source == "elsewhere":
        return f"{glyph} {TERMINAL}"
    if answers := answers_in_words(data.get("answers"), data.get("notes")):
        return f"{glyph} {answers}"
    edited = ", edited" if data.get("updated_input") is not None else ""
    message = str(data.get("message") or data.get("reason") or "") if glyph == "✗" else ""
    by = str(data.get("by") or "").replace(" via ", " from ")
    return f"{glyph} {by}{edited}" + (f": {cut(' '.join(message.split()), 60)}" if message.strip() else "")


def _end_words(data: Mapping[str, Any]) -> str:
    """Why a request was withdrawn; a session over the SDK has no terminal where it could have been answered."""
    reason = str(data.get("reason") or data.get("message") or TERMINAL).removeprefix("Blocked: ").removesuffix(".")
    return TERMINAL if reason.endswith(TERMINAL) else cut(reason, 60)


def row_words(row: EventRow) -> RowWords:
    """The words of a row."""
    level = _LEVELS[max(_LEVELS.index(event["level"]) if event["level"] in _LEVELS else 1 for event in row.events)]
    call = next((event for kind in CALLS for event in row.events if event["kind"] == kind), None)
    if call is not None and isinstance(call.get("data"), dict) and call["data"].get("tool_name"):
        return _call_words(row, call["data"], level)
    return RowWords(text=_text(row), verdict=_verdict(row), level=level)


def _call_words(row: EventRow, data: Json, level: str) -> RowWords:
    kind, tool_input = str(data.get("tool_kind") or ""), data.get("tool_input")
    subject = cut(" ".join((subject_of(tool_input) or _list_progress(tool_input)).split()), SUBJECT)
    name = short_tool_name(str(data.get("tool_name") or ""), kind)
    waits = _waiting(row)
    refused = row.last("permission.denied") is not None
    outcome, took = _outcome(row.last(*OUTCOMES), row.last(*DECISIONS), waits, refused)
    if row.over and outcome == "running":
        outcome = "no result"
    glyph = "●" if not waits else "?" if row.last("question.request") is not None else "◆"
    text = f"{glyph} {name} {subject}".rstrip()
    return RowWords(text=text, verdict=_verdict(row), outcome=outcome, took=took, level=level)


def _list_progress(tool_input: Any) -> str:
    """How far a list of to-dos is done."""
    found = tool_input.get("todos") if isinstance(tool_input, dict) else None
    todos = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    done = sum(one.get("status") == "completed" for one in todos)
    return f"{done} of {len(todos)} done" if todos else ""


def _outcome(after: Json | None, decision: Json | None, waits: str, refused: bool) -> tuple[str, float | None]:
    """The outcome in words, and the seconds it took."""
    if after is None:
        denied = decision is not None and decision["data"].get("decision_type") == "deny"
        return waits or ("denied by the agent" if refused else "" if denied else "running"), None
    data = after["data"] if isinstance(after.get("data"), dict) else {}
    ms = data.get("duration_ms")
    took = ms / 1000 if isinstance(ms, int | float) and 0 <= ms < 1e12 else None
    if after["kind"] == "tool.post":
        return "", took
    error = [line.strip() for line in str(data.get("error") or "").splitlines() if line.strip()]
    return f"failed: {cut(error[-1], SUBJECT)}" if error else "failed", took


def _waiting(row: EventRow) -> str:
    """What a call waits for; empty if it waits for nothing."""
    request, decision = row.last(*REQUESTS), row.last(*DECISIONS)
    if request is None or row.last(*OUTCOMES) is not None:
        return ""
    if decision is None:
        return "needs you" if request["kind"] == "permission.request" else "asks you"
    data = decision.get("data")
    return "waits at its terminal" if not row.over and isinstance(data, dict) and data.get("still_asks") else ""


def _verdict(row: EventRow) -> str:
    """The decision that counts: the last one that was not too late, unless the agent did otherwise."""
    made = [event["data"] for event in row.events if event["kind"] in DECISIONS and isinstance(event["data"], dict)]
    return next(filter(None, map(verdict_words, reversed(made))), "")


def _text(row: EventRow) -> str:
    """The title of the event that says most: of a prompt its text, of a turn how it ended."""
    end = next((event for kind in ENDS for event in row.events if event["kind"] == kind), None)
    if end is not None:
        result = row.last("turn.result")
        cost = money(result["data"].get("cost_usd")) if result is not None and end is not result else ""
        return " · ".join(filter(None, (str(end["title"]), cost)))
    return str((row.last("user.prompt") or row.last("subagent.stop") or row.head)["title"])
