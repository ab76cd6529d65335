"""The totals of a transcript: each message counts once, however often its file repeats it."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.core.model.event_data.session_data import MessageUsage, SessionUsageData, Tokens, Usage
from quarterdeck.core.model.state import Transcript, TranscriptCursor

RECENT = 8
"""The messages of a file that later lines may still correct. Lines of one message stand close together, so a few are
enough, and the state stays small."""

MAX_MISSING = 20
"""Notes on what could not be read. A broken file could give a new one with every line, and the state keeps them."""

MAX_TEXT = 2_000
"""Characters of the last message that a session keeps: enough to recognise it; the feed has all of it."""


def shortened(text: str) -> str:
    """The beginning of a text, as much as a session keeps."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def with_part(transcript: Transcript, data: SessionUsageData) -> Transcript:
    """The transcript after a further part of one of its files."""
    key = data.agent_id or ""
    cursor = _advanced(transcript.cursors.get(key, TranscriptCursor()), data)
    notes = (*transcript.missing, *(note for note in data.missing if note not in transcript.missing))
    return replace(
        transcript,
        cursors={**transcript.cursors, key: cursor},
        context_tokens=transcript.context_tokens if data.context_tokens is None else data.context_tokens,
        reported_cost_usd=transcript.reported_cost_usd if data.reported_cost_usd is None else data.reported_cost_usd,
        named=transcript.named or data.titled_by_user,
        error=data.error or (transcript.error if key or not data.spent else None),
        missing=notes[:MAX_MISSING],
    )


def _advanced(cursor: TranscriptCursor, data: SessionUsageData) -> TranscriptCursor:
    if data.afresh:
        cursor = TranscriptCursor(last_at=cursor.last_at)
    usage, messages, tools = cursor.usage, cursor.messages, cursor.tools
    recent = dict(cursor.recent)
    for spent in data.spent:
        before = recent.pop(spent.message_id, None)
        usage = with_usage(usage, spent, before)
        messages += before is None
        tools += spent.tools
        recent[spent.message_id] = spent
    return TranscriptCursor(
        offset=data.offset,
        file_id=data.file_id,
        usage=usage,
        prompts=cursor.prompts + data.prompts,
        messages=messages,
        tools=tools,
        last_at=max(cursor.last_at, data.last_at),
        recent=dict(list(recent.items())[-RECENT:]),
        malformed=cursor.malformed + data.malformed,
        skipped_lines=cursor.skipped_lines + data.skipped_lines,
        skipped_bytes=cursor.skipped_bytes + data.skipped_bytes,
    )


def with_usage(usage: Usage, spent: MessageUsage, before: MessageUsage | None) -> Usage:
    """Add the usage of a message in place of its earlier report: the last report counts, not the sum."""
    old = before or MessageUsage(message_id="", cost_usd=0.0)
    known = usage.cost_usd is not None and spent.cost_usd is not None and old.cost_usd is not None
    return Usage(
        cost_usd=(usage.cost_usd or 0.0) + (spent.cost_usd or 0.0) - (old.cost_usd or 0.0) if known else None,
        **{n: getattr(usage, n) + getattr(spent, n) - getattr(old, n) for n in Tokens.__struct_fields__},
    )


def usage_and_cost(transcript: Transcript) -> Usage:
    """The tokens and the cost of the agent and its sub-agents together."""
    parts = [cursor.usage for cursor in transcript.cursors.values()]
    costs = [part.cost_usd for part in parts]
    return Usage(
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        **{name: sum(getattr(part, name) for part in parts) for name in Tokens.__struct_fields__},
    )
