"""The events that a transcript adds to the feed: messages, usage, and a summary when a session ends."""

from __future__ import annotations

from quarterdeck.core.engine.messages import TranscriptMessage, TranscriptRead
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.event_data.session_data import MessageData, SessionUsageData
from quarterdeck.core.model.events import actor_of
from quarterdeck.core.model.payload import shared_fields
from quarterdeck.core.model.state import TranscriptCursor
from quarterdeck.core.text.session_summary import session_summary


def read_transcript(step: Step, chunk: TranscriptRead) -> None:
    """Record what is new. Drop a part that does not start at the cursor: its reader will read it again."""
    if step.session_id not in step.draft.sessions and step.session_id not in step.draft.ended:
        return
    step.transcript_path = chunk.path
    cursor = step.session.transcript.cursors.get(chunk.agent_id or "", TranscriptCursor())
    if chunk.is_restart or chunk.start == cursor.offset:
        _record(step, chunk, cursor)
    if chunk.summary:
        over = step.session.ended_at is not None
        step.emit("session.summary", session_summary(step.session, chunk.summary), outside=over)


def _record(step: Step, chunk: TranscriptRead, cursor: TranscriptCursor) -> None:
    part = chunk.part
    for message in part.messages:
        if message.text and not _is_recorded(cursor, message, chunk.is_restart):
            _record_message(step, message)
    missing = [note for note in part.missing if note not in step.session.transcript.missing]
    usage = SessionUsageData(
        afresh=chunk.is_restart,
        spent=[message.usage for message in part.messages],
        last_at=max((message.at for message in part.messages), default=0.0),
        **shared_fields(part, SessionUsageData) | shared_fields(chunk, SessionUsageData) | {"missing": missing},
    )
    moved = (usage.offset, usage.file_id) != (cursor.offset, cursor.file_id)
    failed = usage.error not in (None, step.session.transcript.error)
    if moved or failed or usage.spent or usage.missing:
        step.emit("session.usage", usage, level="debug")


def _is_recorded(cursor: TranscriptCursor, message: TranscriptMessage, is_restart: bool) -> bool:
    """True when a message is in the feed already: the same text again, or, in a restarted file, not newer than the
    latest message."""
    before = cursor.recent.get(message.usage.message_id)
    return (before is not None and before.said == message.usage.said) or (is_restart and message.at <= cursor.last_at)


def _record_message(step: Step, message: TranscriptMessage) -> None:
    """Record a message in the run it belongs to: it may be read after that run has ended."""
    run = step.session.run
    data = MessageData(
        text=message.text,
        message_id=message.usage.message_id,
        model=message.usage.model or None,
        said_at=message.at or None,
        text_bytes=message.text_bytes,
        point=message.point,
    )
    late = run is None or 0 < message.at < run.started_at
    step.emit("message.assistant", data, actor=actor_of(message.agent_id), of_last_run=late)
