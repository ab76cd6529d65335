"""What a row keeps of an event: a line, how it goes on, what it belongs to. Pure, quick, and bounded whatever comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quarterdeck.surfaces.tui.feed.render.bash import exit_of
from quarterdeck.surfaces.tui.feed.render.registry import face_of
from quarterdeck.surfaces.tui.feed.render.styled_pieces import brief, middle, plain, shown, size_words
from quarterdeck.surfaces.tui.feed.rows.pending_calls import use_of
from quarterdeck.surfaces.tui.feed.rows.preview import Kept

LINE = 240
"""Characters of the one line that are kept; a wider terminal shows the rest when the event is opened."""

PREVIEW = 480
"""Characters of what was said that are kept below the line."""

ASKED = 1200
"""Characters of what somebody is asked for that are kept."""

ONE_LINE = 24
"""What is not longer than this is never wrapped."""

ERROR_LINES = 3
"""Lines of an error that are shown below what came of it."""

FOOT, COMPACT, FAILED, PREVIEWED, CHILD, DONE, FADED, DENIED, WAITING, ECHO, ASIDE = (1 << n for n in range(11))
"""What is to know of a row besides its columns: has a line for its outcome; says its outcome on its own line; failed;
has a preview; is shown as the outcome of another; its outcome has come; is of little account; was refused; waits for
a person; only repeats what another row says; its preview leaves room at its right end."""

BELOW = 11
"""From this bit on the flags hold how many lines of an error stand below."""

HEADS = frozenset({"tool.pre", "permission.request", "question.request", "stop.request", "subagent.start"})
"""Kinds that open a pair."""

TAILS = frozenset(
    {"tool.post", "tool.failure", "permission.decision", "question.decision", "stop.decision", "subagent.stop"}
)
"""Kinds that close one."""


class Summary(NamedTuple):
    """`text` is the line and its preview; `pair` the name under which two events are shown as one."""

    text: str
    flags: int = 0
    pair: str = ""
    took: float = -1.0


def summary_of(event: dict[str, Any]) -> Summary:
    """What a row keeps. An event of a shape nobody expects is named by its title."""
    data = event.get("data")
    if isinstance(data, dict):
        make = _KINDS.get(str(event.get("kind")))
        if make is not None:
            return make(event, data)
    return _titled(event)


def _tool_pre(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    face = face_of(str(data.get("tool_name", "")))
    given = data.get("tool_input")
    text = middle(face.subject(given), LINE) if isinstance(given, dict) else ""
    return Summary(text, COMPACT if face.compact else 0, _use(event, data))


def _tool_post(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    given = data.get("tool_input")
    face = face_of(str(data.get("tool_name", "")))
    text = brief(face.outcome(given if isinstance(given, dict) else {}, data.get("tool_response")), LINE)
    return Summary(text, DONE, _use(event, data), _took(data))


def _tool_failure(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    error = str(data.get("error", ""))
    code = exit_of(error)
    said = error.partition("\n")[2][-4000:] if code else error[:4000]
    lines = [line.rstrip() for line in said.splitlines() if line.strip()]
    below: list[str] = []
    if len(lines) > 1 and _is_opened(event):
        line, below = _ended(code, lines, error) if code else _begun(lines)
    else:
        line = " · ".join([part for part in (code, *(one.strip() for one in lines[-1:])) if part])
        line = line or ("interrupted" if data.get("is_interrupt") else "failed")
    text = Kept(brief(line, LINE), "\n".join([brief(one, LINE) for one in below])).packed()
    return Summary(text, DONE | FAILED | len(below) << BELOW, _use(event, data), _took(data))


def _ended(code: str, lines: list[str], error: str) -> tuple[str, list[str]]:
    """Of a command, how its output ends: there it says what went wrong."""
    return f"{code} · {error.strip().count(chr(10))} lines", lines[-ERROR_LINES:]


def _begun(lines: list[str]) -> tuple[str, list[str]]:
    """Of anything else, how its error begins."""
    shown, more = lines[1:ERROR_LINES], len(lines) > ERROR_LINES
    return lines[0].strip(), [*shown[:-1], f"{shown[-1]} …"] if more else shown


def _is_opened(event: dict[str, Any]) -> bool:
    """Whether an event asks to be seen with what stands below its line."""
    ui = event.get("ui")
    return isinstance(ui, dict) and ui.get("collapsed_default") is False


def _use(event: dict[str, Any], data: dict[str, Any]) -> str:
    return use_of(event, data.get("tool_use_id"))


def _took(data: dict[str, Any]) -> float:
    ms = data.get("duration_ms")
    return ms / 1000 if isinstance(ms, int | float) and 0 <= ms < 1e12 else -1.0


def _request(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    given = data.get("tool_input")
    face = face_of(str(data.get("tool_name", "")))
    text = face.subject(given) if isinstance(given, dict) else ""
    if data.get("form") == "elicitation" and isinstance(given, dict):
        text = f"{given.get('mcp_server_name', '')}: {given.get('message', '')}"
    pair = f"{event.get('session_id')}?{data.get('request_id')}"
    if not _is_opened(event) or (len(text) <= ONE_LINE and "\n" not in text):
        return Summary(middle(text, LINE), 0, pair)
    return _previewed("", text, ASIDE, pair, ASKED)


def _decision(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    failed = FAILED if data.get("decision_type") in ("deny", "block") else 0
    pair = f"{event.get('session_id')}?{data.get('request_id')}"
    title = brief(str(event.get("title") or data.get("decision_type")), LINE)
    return Summary(title, failed) if data.get("late") or data.get("overrides") else Summary(title, DONE | failed, pair)


def _stop(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    pair = f"{event.get('session_id')}?{data['request_id']}" if data.get("request_id") else ""
    text = str(data.get("last_assistant_message") or "")
    return _previewed("", text, (FOOT if data.get("held") else 0) | ASIDE, pair)


def _agent_start(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    return Summary(
        brief(str(data.get("agent_type") or data.get("agent_id")), LINE),
        FOOT,
        f"{event.get('session_id')}@{data.get('agent_id')}",
    )


def _agent_stop(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    text = str(data.get("last_assistant_message") or "")[: LINE * 4].strip()
    return Summary(brief(text, LINE), DONE, f"{event.get('session_id')}@{data.get('agent_id')}")


def _said(field: str) -> Callable[[dict[str, Any], dict[str, Any]], Summary]:
    """Something said: its text is what the row is for, so it goes on below the line."""

    def make(event: dict[str, Any], data: dict[str, Any]) -> Summary:
        text = data.get(field)
        return _previewed("", text if isinstance(text, str) else "")

    return make


def _previewed(line: str, text: str, flags: int = 0, pair: str = "", most: int = PREVIEW) -> Summary:
    below = shown(text[:most]).strip("\n").rstrip()
    if not below:
        return Summary(line, flags, pair)
    size = size_words(len(text)) if len(text) > most else ""
    return Summary(Kept(line, below, size).packed(), flags | PREVIEWED, pair)


def _run_start(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    return Summary(f"run {plain(str(event.get('run_id', '')).rpartition(':R')[2][:12])}", FADED)


def _run_end(event: dict[str, Any], data: dict[str, Any]) -> Summary:
    counters = data.get("counters")
    known = counters if isinstance(counters, dict) else {}
    uses, failed = known.get("tool_uses", 0), known.get("tool_failures", 0)
    words = f"{data.get('status', 'over')} · {uses} tool{'' if uses == 1 else 's'}"
    return Summary(brief(f"{words} · {failed} failed" if failed else words, LINE), FADED)


def _titled(event: dict[str, Any]) -> Summary:
    """Whatever else: its title without the glyph, since the row has its own; and its body when it asks to be seen."""
    title = brief(_title(event), LINE)
    body = event.get("body")
    return _previewed(title, body) if isinstance(body, str) and _is_opened(event) else Summary(title)


def _title(event: dict[str, Any]) -> str:
    title = str(event.get("title") or event.get("kind") or "")
    glyph, _, words = title.partition(" ")
    return words if words and len(glyph) == 1 and not glyph.isascii() else title


_KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Summary]] = {
    "tool.pre": _tool_pre,
    "tool.post": _tool_post,
    "tool.failure": _tool_failure,
    "permission.request": _request,
    "question.request": _request,
    "permission.decision": _decision,
    "question.decision": _decision,
    "stop.decision": _decision,
    "stop.request": _stop,
    "subagent.start": _agent_start,
    "subagent.stop": _agent_stop,
    "user.prompt": _said("prompt"),
    "message.user": _said("text"),
    "message.assistant": _said("text"),
    "run.start": _run_start,
    "run.end": _run_end,
}
