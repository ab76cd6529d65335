"""The words of a decision: the past-tense word for each, its line in the feed, and answers as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarterdeck.core.model.decisions import DEFAULT_DENY
from quarterdeck.core.text.amounts import cut

DECIDED: Mapping[str, str] = {
    "allow": "allowed",
    "deny": "denied",
    "answer": "answered",
    "block": "kept working",
    "ask": "left to the terminal",
    "no_opinion": "passed on",
    "pass": "passed on",
}
"""The past-tense word for each decision, for every surface."""


def decision_title(data: Any, edited: str = "") -> str:
    """A decision event in one line; `edited` says what became of the input."""
    by = f" by rule {data.pattern}" if data.pattern else f" by {data.by}" if data.by else ""
    if data.late:
        return f"· Too late: {data.decision_type}{by}"
    if data.overrides:
        return f"! Overridden: {data.note or data.decision_type}"
    words = {
        "allow": f"✓ Allowed{by}{edited}",
        "answer": f"✓ Answered{by}: {answers_in_words(data.answers, data.notes)}",
        "deny": f"✗ Denied{by}{'' if data.pattern else ': ' + _denied(data)}",
        "block": f"✗ Blocked{by}: {data.reason or ''}",
        "ask": "? Asked at the terminal",
        "no_opinion": f"· {_no_opinion(data)}",
    }
    return words.get(str(data.decision_type), str(data.decision_type)).removesuffix(": ")


def answers_in_words(answers: Any, notes: Any = None, width: int = 60) -> str:
    """The answers in one line, in order, each with its note but without its question."""
    if not isinstance(answers, dict):
        return ""
    noted = notes if isinstance(notes, dict) else {}
    parts = []
    for question, answer in answers.items():
        words = ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
        parts.append(f"{words} ({noted[question]})" if noted.get(question) else words)
    return cut(" · ".join(parts).replace("\n", " "), width)


def _denied(data: Any) -> str:
    """The message of a denial; empty for the default one, which only names the person."""
    message = data.message or data.reason or ""
    return "" if message == DEFAULT_DENY.format(by=data.by) else message


def _no_opinion(data: Any) -> str:
    if data.status == "withdrawn":
        return f"Withdrawn: {data.reason or 'answered elsewhere'}"
    if data.status == "expired":
        return "Nobody answered in time" + (f" ({data.by})" if data.by != "deadline" else "")
    return f"Passed to the terminal{': ' + data.reason if data.reason else ''}"
