"""The outcome of a request as a sentence: the decision, who made it, and how fast."""

from __future__ import annotations

from quarterdeck.core.model.event_data.request_data import DecisionData
from quarterdeck.core.model.state import Request
from quarterdeck.core.text.decision_words import DECIDED, answers_in_words
from quarterdeck.core.text.durations import duration_words, limit_words


def outcome(request: Request) -> str:
    """The sentence to show; the time of the decision is for the surface to add."""
    made = request.decision
    if made is None:
        return "Waiting" if request.status == "pending" else "Ended"
    if request.status == "expired" or made.source == "timeout":
        return _unanswered(request)
    if request.status == "withdrawn" and made.message:
        return made.message.removesuffix(".")  # the gate blocks what it lets go
    if made.source == "elsewhere" or request.status == "withdrawn":
        return sentence(made.reason or "answered at the terminal")
    if made.source == "rule" and made.pattern:
        return f"{_did(made)} by rule {made.pattern}{_speed(request)}"
    edited = ", edited," if made.updated_input is not None else ""
    mode = f" ({made.mode})" if made.mode else ""
    answers = answers_in_words(made.answers, made.notes)
    quoted = f" “{answers}”" if answers else ""
    return f"{_did(made)}{quoted}{mode}{edited} by {made.by.replace(' via ', ' from ')}"


def sentence(words: str) -> str:
    """The words with a capital letter."""
    return words[:1].upper() + words[1:]


def _did(made: DecisionData) -> str:
    # A request of the gate that a person leaves to the terminal is stored as `ask`; people know it as `pass`.
    word = "pass" if made.decision_type in ("no_opinion", "ask") else made.decision_type
    return sentence(DECIDED.get(word, word))


def _unanswered(request: Request) -> str:
    """With the time limit that ended it: its own, or that of the policy for requests that nobody answers."""
    ends = [at for at in (request.expires_at, request.decided_at) if at is not None]
    if not ends:
        return "Nobody answered in time"
    return f"Nobody answered within {limit_words(max(0.0, min(ends) - request.opened_at))}"


def _speed(request: Request) -> str:
    """The time a rule took to decide; for a rule created later, how long the request had waited."""
    if request.decided_at is None:
        return ""
    return f" · {duration_words(max(0.0, request.decided_at - request.opened_at))}"
