"""The records of a transcript as Claude Code writes them: only the fields that are read, each with its type."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
from msgspec import Raw, Struct

from quarterdeck.agents.claude.transcripts.prices import TokenCounts

SYNTHETIC = "<synthetic>"
"""The model name of a message that Claude Code wrote in the model's place, such as an error."""

MAX_TOKENS = 10**12
"""More than any model reads. The totals of damaged records must still fit in 64 bits."""

READ = frozenset({"assistant", "user", "system", "custom-title", "ai-title", "summary", "cost-state"})

Number = int | float | None


class Kind(Struct):
    type: str = ""


class Record(Struct, rename="camel"):
    type: str
    subtype: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    summary: str | None = None
    total_cost: Number = msgspec.field(name="totalCostUSD", default=None)
    message: Raw = Raw(b"{}")
    compact_metadata: Raw = Raw(b"{}")


class ContentBlock(Struct):
    type: str | None = None
    text: str | None = None
    id: str | None = None


class CacheWrites(Struct):
    ephemeral_5m_input_tokens: Number = None
    ephemeral_1h_input_tokens: Number = None


class Searches(Struct):
    web_search_requests: Number = None


class RecordUsage(Struct):
    input_tokens: Number = None
    output_tokens: Number = None
    cache_read_input_tokens: Number = None
    cache_creation_input_tokens: Number = None
    cache_creation: CacheWrites | None = None
    server_tool_use: Searches | None = None
    speed: str | None = None


class RecordMessage(Struct):
    id: str | None = None
    model: str | None = None
    content: str | list[ContentBlock] | None = None
    usage: RecordUsage | None = None


class Compaction(Struct, rename="camel"):
    post_tokens: Number = None


# Decoders that are made once: making one reads the types of all fields.
read_kind = msgspec.json.Decoder(Kind).decode
read_record = msgspec.json.Decoder(Record).decode
read_message = msgspec.json.Decoder(RecordMessage).decode
_compaction = msgspec.json.Decoder(Compaction).decode

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError, OverflowError)


def message_of(record: Record) -> RecordMessage | None:
    try:
        return read_message(record.message)
    except UNREADABLE:
        return None


def blocks_of(message: RecordMessage) -> list[ContentBlock]:
    content = message.content
    return [ContentBlock(type="text", text=content)] if isinstance(content, str) else content or []


def prompt_of(record: Record) -> str | None:
    """A person's prompt; None for tool results and for text that the program itself put in."""
    if record.type != "user" or record.is_meta or record.is_compact_summary or record.is_sidechain:
        return None
    message = message_of(record)
    blocks = blocks_of(message) if message else []
    if any(block.type == "tool_result" for block in blocks):
        return None
    text = next((b.text.strip() for b in blocks if b.text and b.text.strip()), "")
    return None if not text or text.startswith("<") else text


def tokens_of(usage: RecordUsage) -> TokenCounts:
    writes = _whole(usage.cache_creation_input_tokens)
    one_hour = min(_whole(usage.cache_creation.ephemeral_1h_input_tokens), writes) if usage.cache_creation else 0
    return TokenCounts(
        input=_whole(usage.input_tokens),
        output=_whole(usage.output_tokens),
        cache_write_5m=writes - one_hour,
        cache_write_1h=one_hour,
        cache_read=_whole(usage.cache_read_input_tokens),
        web_searches=_whole(usage.server_tool_use.web_search_requests) if usage.server_tool_use else 0,
    )


def _whole(value: Number) -> int:
    return max(0, min(int(value), MAX_TOKENS)) if value and math.isfinite(value) else 0


def amount(value: Number) -> float | None:
    return float(value) if value is not None and math.isfinite(value) and 0 <= value < MAX_TOKENS else None


def compacted_to(record: Record) -> int:
    """The number of tokens that a compaction left; 0 if unknown."""
    return _whole(_compaction(record.compact_metadata).post_tokens)


def seconds(timestamp: str | None) -> float:
    """Unix seconds; 0 if the timestamp is missing or invalid."""
    try:
        moment = datetime.fromisoformat(timestamp or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def read_records(content: bytes) -> Iterator[Record]:
    """The readable records among these lines."""
    for line in content.split(b"\n"):
        try:
            if read_kind(line).type in READ:
                yield read_record(line)
        except UNREADABLE:
            continue
