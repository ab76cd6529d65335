"""What a transcript adds to the feed: what the model said, what it used, and a summary when a session is over."""

from __future__ import annotations

from quarterdeck.core.engine.fold_transcripts import missing_of
from quarterdeck.core.engine.messages import Said, TranscriptRead
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.events import actor_of
from quarterdeck.core.model.state import Scroll, Session


def read_transcript(step: Step, told: TranscriptRead) -> None:
    """Record what is new. A part that does not follow on what was read is left; who reads will read it again."""
    if step.session_id not in step.draft.sessions and step.session_id not in step.draft.ended:
        return
    scroll = step.session.transcript.scrolls.get(told.agent_id or "", Scroll())
    if told.afresh or told.start == scroll.offset:
        _record(step, told, scroll)
    if told.summary:
        over = step.session.ended_at is not None
        step.emit("session.summary", summary_of(step.session, told.summary), outside=over)


def _record(step: Step, told: TranscriptRead, scroll: Scroll) -> None:
    for said in told.said:
        if said.text and not _known(scroll, said, told.afresh):
            _say(step, said)
    usage = d.SessionUsageData(
        offset=told.offset,
        agent_id=told.agent_id,
        file_id=told.file_id,
        afresh=told.afresh,
        spent=[said.spent for said in told.said],
        prompts=told.prompts,
        last_at=max((said.at for said in told.said), default=0.0),
        context_tokens=told.context_tokens,
        title=told.title,
        titled_by_user=told.titled_by_user,
        reported_cost_usd=told.reported_cost_usd,
        error=told.error,
        malformed=told.malformed,
        skipped_lines=told.skipped_lines,
        skipped_bytes=told.skipped_bytes,
        missing=[note for note in told.missing if note not in step.session.transcript.missing],
    )
    moved = (usage.offset, usage.file_id) != (scroll.offset, scroll.file_id)
    failed = usage.error not in (None, step.session.transcript.error)
    if moved or failed or usage.spent or usage.missing:
        step.emit("session.usage", usage, level="debug")


def _known(scroll: Scroll, said: Said, afresh: bool) -> bool:
    """Whether a message is on record: the same words again, or in a file read over, not later than the latest."""
    before = scroll.recent.get(said.spent.message_id)
    return (before is not None and before.said == said.spent.said) or (afresh and said.at <= scroll.last_at)


def _say(step: Step, said: Said) -> None:
    """A message belongs to the run in which it was said, though we read it when that one may have ended."""
    run = step.session.run
    data = d.MessageData(
        text=said.text,
        message_id=said.spent.message_id,
        model=said.spent.model or None,
        said_at=said.at or None,
        text_bytes=said.text_bytes,
    )
    late = run is None or 0 < said.at < run.started_at
    step.emit("message.assistant", data, actor=actor_of(said.agent_id), of_last_run=late)


def summary_of(session: Session, reason: str) -> d.SessionSummaryData:
    """What a session came to. Without a transcript the hooks have counted the tools."""
    scrolls = session.transcript.scrolls.values()
    tools = sum(scroll.tools for scroll in scrolls)
    return d.SessionSummaryData(
        reason=reason,
        last_assistant_text=session.last_text,
        last_assistant_timestamp=session.last_text_at,
        message_count=sum(scroll.prompts + scroll.messages for scroll in scrolls),
        tool_call_count=tools or session.totals.tool_uses,
        error=session.transcript.error,
        usage=session.usage,
        reported_cost_usd=session.transcript.reported_cost_usd,
        context_tokens=session.transcript.context_tokens,
        model=session.model,
        missing=missing_of(session.transcript),
    )
