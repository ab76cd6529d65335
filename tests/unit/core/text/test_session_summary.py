"""The summary of a session."""

from __future__ import annotations

from quarterdeck.core.model.state import Session, Transcript, TranscriptCursor
from quarterdeck.core.text.session_summary import missing_notes, session_summary

CURSORS = {"": TranscriptCursor(prompts=2, messages=3, tools=4), "a1": TranscriptCursor(messages=1, malformed=2)}


def session(transcript: Transcript) -> Session:
    return Session(session_id="s1", started_at=0.0, last_event_at=1.0, last_text="done", transcript=transcript)


def test_it_counts_what_all_transcripts_hold() -> None:
    summary = session_summary(session(Transcript(cursors=CURSORS)), "end")
    assert (summary.reason, summary.last_assistant_text) == ("end", "done")
    assert (summary.message_count, summary.tool_call_count) == (6, 4)


def test_it_names_what_could_not_be_read() -> None:
    transcript = Transcript(cursors={**CURSORS, "a2": TranscriptCursor(skipped_bytes=1_000)}, missing=("a sub-agent",))
    assert missing_notes(transcript) == [
        "2 lines that could not be read",
        "1,000 bytes of a transcript too large to read whole",
        "a sub-agent",
    ]
