"""What a transcript says, counted: each message once, however often its file repeats it."""

from __future__ import annotations

from msgspec.structs import replace

from quarterdeck.core.model.event_data import SessionUsageData, Spent, Usage
from quarterdeck.core.model.state import Scroll, Transcript

RECENT = 8
"""How many messages of a file may still be corrected; their lines stand close together."""

MAX_MISSING = 20
TEXT_KEPT = 2_000


def beginning(text: str) -> str:
    """As much of a text as a session keeps."""
    return text if len(text) <= TEXT_KEPT else text[: TEXT_KEPT - 1] + "…"


def unrolled(transcript: Transcript, data: SessionUsageData) -> Transcript:
    """The transcript after a further part of one of its files."""
    key = data.agent_id or ""
    scroll = _counted(transcript.scrolls.get(key, Scroll()), data)
    notes = (*transcript.missing, *(note for note in data.missing if note not in transcript.missing))
    return replace(
        transcript,
        scrolls={**transcript.scrolls, key: scroll},
        context_tokens=transcript.context_tokens if data.context_tokens is None else data.context_tokens,
        reported_cost_usd=transcript.reported_cost_usd if data.reported_cost_usd is None else data.reported_cost_usd,
        named=transcript.named or data.titled_by_user,
        error=data.error or (transcript.error if key or not data.spent else None),
        missing=notes[:MAX_MISSING],
    )


def _counted(scroll: Scroll, data: SessionUsageData) -> Scroll:
    if data.afresh:
        scroll = Scroll(last_at=scroll.last_at)
    usage, messages, tools = scroll.usage, scroll.messages, scroll.tools
    recent = dict(scroll.recent)
    for spent in data.spent:
        before = recent.pop(spent.message_id, None)
        usage = _plus(usage, spent, before)
        messages += before is None
        tools += spent.tools
        recent[spent.message_id] = spent
    return Scroll(
        offset=data.offset,
        file_id=data.file_id,
        usage=usage,
        prompts=scroll.prompts + data.prompts,
        messages=messages,
        tools=tools,
        last_at=max(scroll.last_at, data.last_at),
        recent=dict(list(recent.items())[-RECENT:]),
        malformed=scroll.malformed + data.malformed,
        skipped_lines=scroll.skipped_lines + data.skipped_lines,
        skipped_bytes=scroll.skipped_bytes + data.skipped_bytes,
    )


def _plus(usage: Usage, spent: Spent, before: Spent | None) -> Usage:
    """The last word about a message counts, not the sum of all its words."""
    old = before or Spent(message_id="", cost_usd=0.0)
    known = usage.cost_usd is not None and spent.cost_usd is not None and old.cost_usd is not None
    return Usage(
        input_tokens=usage.input_tokens + spent.input_tokens - old.input_tokens,
        output_tokens=usage.output_tokens + spent.output_tokens - old.output_tokens,
        cache_read_tokens=usage.cache_read_tokens + spent.cache_read_tokens - old.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens + spent.cache_write_tokens - old.cache_write_tokens,
        cost_usd=(usage.cost_usd or 0.0) + (spent.cost_usd or 0.0) - (old.cost_usd or 0.0) if known else None,
    )


def used(transcript: Transcript) -> Usage:
    """What the agent and its sub-agents used together."""
    parts = [scroll.usage for scroll in transcript.scrolls.values()]
    costs = [part.cost_usd for part in parts]
    return Usage(
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=sum(part.output_tokens for part in parts),
        cache_read_tokens=sum(part.cache_read_tokens for part in parts),
        cache_write_tokens=sum(part.cache_write_tokens for part in parts),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def missing_of(transcript: Transcript) -> list[str]:
    """What the transcript did not give, in words."""
    scrolls = transcript.scrolls.values()
    counted = (
        (sum(s.malformed for s in scrolls), "{} that could not be read", "line"),
        (sum(s.skipped_lines for s in scrolls), "{} too long to read", "line"),
        (sum(s.skipped_bytes for s in scrolls), "{} of a transcript too large to read whole", "byte"),
    )
    lost = [words.format(f"{n:,} {unit}{'s' * (n > 1)}") for n, words, unit in counted if n]
    return [*lost, *transcript.missing]
