"""The words every face uses: states with one glyph each, risk, times, and who decided what."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from quarterdeck.core.text.titles import answers_in_words, cut, subject_of


class StateWord(NamedTuple):
    """A state as a person reads it; the colour never stands alone."""

    glyph: str
    word: str
    colour: str


STATES: Mapping[str, StateWord] = {
    "running": StateWord("●", "running", "green"),
    "waiting_permission": StateWord("◆", "needs you", "yellow"),
    "waiting_input": StateWord("?", "asks", "cyan"),
    "idle": StateWord("○", "idle", "bright_black"),
    "complete": StateWord("✓", "done", "blue"),
    "settled": StateWord("■", "ready", "bright_blue"),
    "blocked": StateWord("✕", "blocked", "red"),
    "sent": StateWord("→", "sent", "bright_black"),
    "unknown": StateWord("·", "unknown", "dim"),
    "ended": StateWord("–", "ended", "dim"),
}
RISK_MARKS: Mapping[str, str] = {"low": "", "medium": "!", "high": "!!", "critical": "!!!"}


def state_word(state: str) -> StateWord:
    """A state that nobody here knows is shown by its name."""
    return STATES.get(state) or StateWord("·", state, "dim")


def ago(at: float | None, now: float | None = None) -> str:
    """When it was, in few words: relative within the hour, then the clock, after half a day with its date."""
    if at is None:
        return "–"
    seconds = max(0.0, (time.time() if now is None else now) - at)
    if seconds < 3600:
        return f"{seconds:.0f} s ago" if seconds < 59.5 else f"{max(1, int(seconds / 60))} m ago"
    return time.strftime("at %H:%M" if seconds < 43200 else "%d %b %H:%M", time.localtime(at))


def lasting(seconds: float) -> str:
    """A length of time in few characters."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def limit(seconds: float) -> str:
    """A length of time that was set, as one would set it: 24 h, 90 s, 5 m."""
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds >= 2 * size or round(seconds) == size:
            return f"{round(seconds / size):,} {unit}"
    return f"{seconds:.0f} s"


def project_name(cwd: str) -> str:
    """The folder's own name."""
    return cwd.rstrip("/").rsplit("/", 1)[-1] or cwd or "no folder"


def project_of(session: Mapping[str, Any]) -> str:
    """What the project of a session is called: a worktree is one of the project that it was made from, and has the
    session's id in its name."""
    worktree = (session.get("owned") or {}).get("worktree")
    return project_name(worktree or session["cwd"]).removesuffix(f"-{session['session_id'][:8]}")


def about(request: Mapping[str, Any], width: int = 60) -> str:
    """What a request is about, in one line."""
    form = request.get("form")
    if form == "plan":
        return "a plan"
    if form == "questions":
        return _question(request["tool_input"], width)
    if form == "elicitation":
        return f"a form of {request['tool_input'].get('mcp_server_name', 'an MCP server')}"
    if request.get("kind") == "stop":
        return "to stop"
    subject = cut(subject_of(request["tool_input"]), width)
    tool = request["tool_name"]
    return subject if tool == "Bash" and subject else f"{tool}({subject})" if subject else str(tool)


def _question(tool_input: Mapping[str, Any], width: int) -> str:
    """The first question, and how many there are beside it."""
    found = tool_input.get("questions")
    asked = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    if not asked or not isinstance(asked[0].get("question"), str):
        return "a question"
    more = f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
    return cut(asked[0]["question"], width) + more


def about_decided(request: Mapping[str, Any]) -> str:
    """What was decided, in one line: of an edited input the edited one."""
    edited = (request.get("decision") or {}).get("updated_input")
    return about({**request, "tool_input": edited} if edited is not None else request)


_DID = {"allow": "Allowed", "deny": "Denied", "answer": "Answered", "block": "Told to go on", "pass": "Passed on"}
_DELIVERY = {"sent": "sent", "confirmed": "confirmed", "overridden": "overridden at the terminal"}


def outcome(request: Mapping[str, Any]) -> str:
    """How a request ended, as a sentence: what, by whom or by which rule, and when or how fast."""
    made = request.get("decision")
    if made is None:
        return {"pending": "It waits"}.get(str(request.get("status")), "It is over")
    if request.get("status") == "expired" or made["source"] == "timeout":
        return _unanswered(request, made)
    if made["source"] == "elsewhere" or request.get("status") == "withdrawn":
        return _sentence(made.get("reason") or "answered at the terminal")
    if made["source"] == "rule" and made.get("pattern"):
        return f"{_did(made)} by rule {made['pattern']}{_speed(request, made)}"
    edited = ", edited," if made.get("updated_input") is not None else ""
    mode = f" ({made['mode']})" if made.get("mode") else ""
    answers = answers_in_words(made.get("answers"), made.get("notes"))
    said = f" “{answers}”" if answers else ""
    clock = time.strftime(" · %H:%M", time.localtime(made["at"])) if made.get("at") else ""
    return f"{_did(made)}{said}{mode}{edited} by {made['by'].replace(' via ', ' from ')}{clock}"


def _did(made: Mapping[str, Any]) -> str:
    return _DID.get(made["decision"], str(made["decision"]))


def _unanswered(request: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """With the limit that it had: its own, or the shorter one after which it was decided unattended."""
    ends = [at for at in (request.get("expires_at"), made.get("at")) if at is not None]
    if not ends or request.get("opened_at") is None:
        return "Nobody answered in time"
    return f"Nobody answered within {limit(max(0.0, min(ends) - request['opened_at']))}"


def _speed(request: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """How long a rule took; one that was made later took as long as the request had waited."""
    if made.get("at") is None or request.get("opened_at") is None:
        return ""
    seconds = max(0.0, made["at"] - request["opened_at"])
    return f" · {seconds * 1000:.0f} ms" if seconds < 1 else f" · {lasting(seconds)}"


def delivery(request: Mapping[str, Any]) -> str:
    """What became of a decision: sent, confirmed by what the agent did, or overridden; empty when it has none."""
    return _DELIVERY.get(str((request.get("decision") or {}).get("delivery")), "")


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
