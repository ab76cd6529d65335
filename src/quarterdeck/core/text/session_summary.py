"""The summary of a session: messages, tool calls, usage and cost, and what its transcript did not contain."""

from __future__ import annotations

from quarterdeck.core.model.event_data.session_data import SessionSummaryData
from quarterdeck.core.model.state import Session, Transcript


def session_summary(session: Session, reason: str) -> SessionSummaryData:
    """The totals of a session: messages, tool calls, usage and cost. Without a transcript the tool calls are
    those that hooks counted."""
    cursors = session.transcript.cursors.values()
    tools = sum(cursor.tools for cursor in cursors)
    return SessionSummaryData(
        reason=reason,
        last_assistant_text=session.last_text,
        last_assistant_timestamp=session.last_text_at,
        message_count=sum(cursor.prompts + cursor.messages for cursor in cursors),
        tool_call_count=tools or session.totals.tool_uses,
        error=session.transcript.error,
        usage=session.usage,
        reported_cost_usd=session.transcript.reported_cost_usd,
        context_tokens=session.transcript.context_tokens,
        model=session.model,
        missing=missing_notes(session.transcript),
    )


def missing_notes(transcript: Transcript) -> list[str]:
    """Notes on what the transcript did not contain."""
    cursors = transcript.cursors.values()
    counted = (
        (sum(s.malformed for s in cursors), "{} that could not be read", "line"),
        (sum(s.skipped_lines for s in cursors), "{} too long to read", "line"),
        (sum(s.skipped_bytes for s in cursors), "{} of a transcript too large to read whole", "byte"),
    )
    notes = [words.format(f"{n:,} {unit}{'s' * (n > 1)}") for n, words, unit in counted if n]
    return [*notes, *transcript.missing]
