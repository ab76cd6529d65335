"""The part of an event that a row keeps: a line, a preview, a state. Pure, quick, and bounded for any input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quarterdeck.core.text.amounts import money
from quarterdeck.core.text.feed.row_words import verdict_words
from quarterdeck.surfaces.tui.feed.render.bash import exit_of
from quarterdeck.surfaces.tui.feed.render.cut_text import brief, middle, plain, size_words, visible_text
from quarterdeck.surfaces.tui.feed.render.registry import tool_view_of
from quarterdeck.surfaces.tui.feed.rows.preview import RowPreview

LINE = 240
"""Characters of the line that are kept; the rest is shown when the event is opened."""

PREVIEW = 480
"""Characters of a text that are kept below the line."""

ERROR_LINES = 3
"""Lines of an error that are shown below the outcome."""

PREVIEWED, FADED, REPEATED, WAITS, DENIED, ALLOWED, DONE, FAILED, ASIDE, WIDE_ASIDE = (1 << n for n in range(10))
"""Flags of an event, in this order: has a preview; is unimportant; only repeats another row; asks a person; refuses a
call; lets it run; ends it; is a failure; its preview leaves room at its right end, or much room."""

STATE = WAITS | DENIED | ALLOWED | DONE | FAILED
"""The flags that make the state of a row."""

BELOW_SHIFT = 12
"""The bits from this one on hold the number of error lines below the row."""


class Summary(NamedTuple):
    """`text`: the packed line and preview."""

    text: str
    flags: int = 0
    took: float = -1.0


def summary_of(event: dict[str, Any]) -> Summary:
    """The summary of an event. One with unexpected data is summarised by its title."""
    data = event.get("data")
    if isinstance(data, dict):
        make = _KINDS.get(str(event.get("kind")))
        if make is not None:
            return make(event, data)
    return _titled(event)


def stored_summary(event: dict[str, Any]) -> Summary:
    """The summary of an event that is shown as it is stored: its title."""
    return Summary(brief(str(event.get("title") or ""), LINE), FADED if event.get("level") == "debug" else 0)


def _tool_pre(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    return Summary(_subject(data))


def _subject(data: dict[str, Any]) -> str:
    tool_input = data.get("tool_input")
    return middle(tool_view_of(data).subject(tool_input), LINE) if isinstance(tool_input, dict) else ""


def _tool_post(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    tool_input = data.get("tool_input")
    outcome = tool_view_of(data).outcome(tool_input if isinstance(tool_input, dict) else {}, data.get("tool_response"))
    return Summary(brief(outcome, LINE), DONE, _duration(data))


def _tool_failure(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    error = str(data.get("error", ""))
    code = exit_of(error)
    output = error.partition("\n")[2][-4000:] if code else error[:4000]
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    below: list[str] = []
    if len(lines) > 1 and _is_opened(event):
        line, below = _error_end(code, lines, error) if code else _error_start(lines)
    else:
        line = " · ".join([part for part in (code, *(one.strip() for one in lines[-1:])) if part])
        line = line or ("interrupted" if data.get("is_interrupt") else "failed")
    text = RowPreview(brief(line, LINE), "\n".join([brief(one, LINE) for one in below])).packed()
    return Summary(text, DONE | FAILED | len(below) << BELOW_SHIFT, _duration(data))


def _error_end(code: str, lines: list[str], error: str) -> tuple[str, list[str]]:
    """The end of a command's output: commands print their error last."""
    return f"{code} · {error.strip().count(chr(10))} lines", lines[-ERROR_LINES:]


def _error_start(lines: list[str]) -> tuple[str, list[str]]:
    """The beginning of any other error."""
    shown, more = lines[1:ERROR_LINES], len(lines) > ERROR_LINES
    return lines[0].strip(), [*shown[:-1], f"{shown[-1]} …"] if more else shown


def _is_opened(event: dict[str, Any]) -> bool:
    """True if the event is to be shown with the lines below its line."""
    ui = event.get("ui")
    return isinstance(ui, dict) and ui.get("collapsed_default") is False


def _duration(data: dict[str, Any]) -> float:
    ms = data.get("duration_ms")
    return ms / 1000 if isinstance(ms, int | float) and 0 <= ms < 1e12 else -1.0


def _request(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    tool_input = data.get("tool_input")
    if data.get("form") == "elicitation" and isinstance(tool_input, dict):
        return Summary(middle(f"{tool_input.get('mcp_server_name', '')}: {tool_input.get('message', '')}", LINE), WAITS)
    return Summary(_subject(data), WAITS)


def _denied(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    return Summary(_subject(data), DENIED)


def _decision(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    """The title, and the few words that the row of the request shows."""
    decision = data.get("decision_type")
    state = DENIED if decision in ("deny", "block") else ALLOWED
    if data.get("late") or data.get("overrides") or data.get("still_asks"):
        state = 0
    text = brief(str(event.get("title") or decision), LINE)
    return Summary(RowPreview(text, brief(verdict_words(data), LINE)).packed(), state)


def _stop(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    text = str(data.get("last_assistant_message") or "")
    return _previewed("", text, WIDE_ASIDE | (WAITS if data.get("request_id") else 0))


def _agent_start(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    return Summary(brief(str(data.get("agent_type") or data.get("agent_id")), LINE))


def _agent_stop(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    text = str(data.get("last_assistant_message") or "")[: LINE * 4].strip()
    return Summary(brief(text, LINE), DONE)


def _turn_result(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    cost = data.get("cost_usd")
    words = money(cost) if isinstance(cost, int | float) else ""
    return Summary(_title(event) if data.get("is_error") else words, FADED | (FAILED if data.get("is_error") else 0))


def _text_summary(field: str, flags: int = 0) -> Callable[[dict[str, Any], dict[str, Any]], Summary]:
    """A summary of a text: it goes on below the line, because the row exists for it."""

    def make(event: dict[str, Any], data: dict[str, Any]) -> Summary:
        text = data.get(field)
        return _previewed("", text if isinstance(text, str) else "", flags)

    return make


def _previewed(line: str, text: str, flags: int = 0) -> Summary:
    below = visible_text(text[:PREVIEW]).strip("\n").rstrip()
    if not below:
        return Summary(line, flags)
    size = size_words(len(text)) if len(text) > PREVIEW else ""
    return Summary(RowPreview(line, below, size).packed(), flags | PREVIEWED)


def _run_start(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    return Summary(f"run {plain(str(event.get('run_id', '')).rpartition(':R')[2][:12])}", FADED)


def _run_end(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    counters = data.get("counters")
    known = counters if isinstance(counters, dict) else {}
    uses, failed = known.get("tool_uses", 0), known.get("tool_failures", 0)
    status = str(data.get("status", "over"))
    words = f"{'' if status == 'completed' else f'{status} · '}{uses} tool{'' if uses == 1 else 's'}"
    return Summary(brief(f"{words} · {failed} failed" if failed else words, LINE), FADED)


def _titled(event: dict[str, Any]) -> Summary:
    """Any other event: its title without the glyph, because the row has its own; and its body if it is to be shown."""
    title = brief(_title(event), LINE)
    body = event.get("body")
    return _previewed(title, body) if isinstance(body, str) and _is_opened(event) else Summary(title)


def _title(event: dict[str, Any]) -> str:
    title = str(event.get("title") or event.get("kind") or "")
    glyph, _, words = title.partition(" ")
    return words if words and len(glyph) == 1 and (glyph == "Σ" or not glyph.isalnum()) else title


_KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Summary]] = {
    "tool.pre": _tool_pre,
    "tool.post": _tool_post,
    "tool.failure": _tool_failure,
    "permission.request": _request,
    "question.request": _request,
    "permission.denied": _denied,
    "permission.decision": _decision,
    "question.decision": _decision,
    "stop.decision": _decision,
    "stop.request": _stop,
    "subagent.start": _agent_start,
    "subagent.stop": _agent_stop,
    "user.prompt": _text_summary("prompt", ASIDE),
    "message.user": _text_summary("text"),
    "message.assistant": _text_summary("text"),
    "run.start": _run_start,
    "run.end": _run_end,
    "turn.result": _turn_result,
}
