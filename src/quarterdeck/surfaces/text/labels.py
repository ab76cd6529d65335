"""Labels that every surface uses: states with their glyphs, risk, times, and outcomes of requests."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.decision_words import DECIDED, answers_in_words
from quarterdeck.core.text.durations import age_words, duration_words, limit_words
from quarterdeck.core.text.titles import subject_of
from quarterdeck.views.resources.session_view import SessionView
from quarterdeck.views.session_label import FAILED as FAILED
from quarterdeck.views.session_label import STATES as STATES
from quarterdeck.views.session_label import StateLabel, is_failed, state_word

NAMED_SECONDS = 3600.0
"""How long a session that ended unexpectedly stays listed."""


def state_label(session: SessionView) -> StateLabel:
    """The label of a session."""
    return state_word(session.agent_state, session.last_error, session.retrying)


def has_failed(session: SessionView) -> bool:
    """True if a session rests because its last run failed. An older daemon does not say so."""
    return is_failed(session.agent_state, session.last_error)


def problem_text(session: SessionView) -> str | None:
    """Why a session rests after a failed run, or why its agent waits before it tries again."""
    return session.last_error if has_failed(session) else session.retrying


def failure_texts(sessions: Iterable[SessionView], now: float) -> list[str]:
    """Every session whose last run failed or was cut off, with the reason. One that has ended stays listed for a while,
    because nobody ended it on purpose."""
    return [
        f"{one.session_id[:8]} {'failed' if one.ended_at is None else 'ended'}: {one.last_error}"
        for one in sessions
        if has_failed(one) or (one.ended_at and _was_cut_off(one) and now - one.ended_at < NAMED_SECONDS)
    ]


def _was_cut_off(session: SessionView) -> bool:
    return session.owned is not None and bool(session.last_error)


def ago(at: float | None, now: float | None = None) -> str:
    """A time in few words: relative within the hour, then the time of day, after half a day with the date."""
    if at is None:
        return "–"
    seconds = max(0.0, (time.time() if now is None else now) - at)
    if seconds < 3600:
        return f"{age_words(seconds)} ago"
    return time.strftime("at %H:%M", time.localtime(at)) if seconds < 43200 else date_and_time(at)


def date_and_time(at: float) -> str:
    """A day of this year and a time of day."""
    return time.strftime("%d %b %H:%M", time.localtime(at))


def project_name(cwd: str) -> str:
    """The name of a project: the last part of its folder."""
    return cwd.rstrip("/").rsplit("/", 1)[-1] or cwd or "no folder"


def project_of(session: SessionView) -> str:
    """The name of a session's project. A worktree belongs to the project it was created from; its folder ends with the
    session's id, which is left out."""
    worktree = session.owned.worktree if session.owned else None
    return project_name(worktree or session.cwd).removesuffix(f"-{session.session_id[:8]}")


def about(request: Mapping[str, Any], width: int = 60) -> str:
    """The subject of a request in one line."""
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
    if request["tool_kind"] == ToolKind.SHELL and subject:
        return subject
    return f"{request['tool_name']}({subject})" if subject else str(request["tool_name"])


def _question(tool_input: Mapping[str, Any], width: int) -> str:
    """The first question, and the number of others."""
    found = tool_input.get("questions")
    questions = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    if not questions or not isinstance(questions[0].get("question"), str):
        return "a question"
    more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
    return cut(questions[0]["question"], width) + more


def about_decided(request: Mapping[str, Any]) -> str:
    """The subject of a decision in one line; of an edited input, the edited one."""
    edited = (request.get("decision") or {}).get("updated_input")
    return about({**request, "tool_input": edited} if edited is not None else request)


_DELIVERY = {"sent": "sent", "confirmed": "confirmed", "overridden": "overridden at the terminal"}


def outcome(request: Mapping[str, Any]) -> str:
    """The outcome of a request as a sentence: the decision, the person or rule that made it, and when or how fast."""
    made = request.get("decision")
    if made is None:
        return {"pending": "Waiting"}.get(str(request.get("status")), "Ended")
    if request.get("status") == "expired" or made["source"] == "timeout":
        return _unanswered(request, made)
    if request.get("status") == "withdrawn" and made.get("message"):
        return str(made["message"]).removesuffix(".")  # the gate blocks what it lets go
    if made["source"] == "elsewhere" or request.get("status") == "withdrawn":
        return sentence(made.get("reason") or "answered at the terminal")
    if made["source"] == "rule" and made.get("pattern"):
        return f"{_did(made)} by rule {made['pattern']}{_speed(request, made)}"
    edited = ", edited," if made.get("updated_input") is not None else ""
    mode = f" ({made['mode']})" if made.get("mode") else ""
    answers = answers_in_words(made.get("answers"), made.get("notes"))
    quoted = f" “{answers}”" if answers else ""
    clock = time.strftime(" · %H:%M", time.localtime(made["at"])) if made.get("at") else ""
    return f"{_did(made)}{quoted}{mode}{edited} by {made['by'].replace(' via ', ' from ')}{clock}"


def _did(made: Mapping[str, Any]) -> str:
    return sentence(DECIDED.get(made["decision"], str(made["decision"])))


def _unanswered(request: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """The outcome of an unanswered request, with the time limit that ended it: its own or the unattended policy's."""
    ends = [at for at in (request.get("expires_at"), made.get("at")) if at is not None]
    if not ends or request.get("opened_at") is None:
        return "Nobody answered in time"
    return f"Nobody answered within {limit_words(max(0.0, min(ends) - request['opened_at']))}"


def _speed(request: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """The time a rule took to decide; for a rule created later, how long the request had waited."""
    if made.get("at") is None or request.get("opened_at") is None:
        return ""
    return f" · {duration_words(max(0.0, made['at'] - request['opened_at']))}"


def delivery(request: Mapping[str, Any]) -> str:
    """The delivery of a decision: sent, confirmed by the agent's next step, or overridden; empty without a decision."""
    return _DELIVERY.get(str((request.get("decision") or {}).get("delivery")), "")


def own_allows_sentence(own_allows: Sequence[str]) -> str:
    """What the agent's own settings allow, where no rule here does; empty if they do not."""
    return f"The agent's own settings allow it: {', '.join(own_allows)}." if own_allows else ""


def sentence(words: str) -> str:
    """The words with a capital letter."""
    return words[:1].upper() + words[1:]


def link_label(link: Mapping[str, Any]) -> str:
    """The link to a hub in few words, for the header and `qd status`."""
    if link["backlog_warning"]:
        return f"hub: {link['behind']:,} events wait, {link['backlog_used']:.0%} of their room"
    if link["state"] == "backfilling":
        return f"hub: catching up, {link['behind']:,} to go"
    return "hub: connected" if link["state"] == "ready" else f"hub: away ({link['trouble_kind'] or link['state']})"
