"""The records of a transcript as Claude Code writes them: only the fields we read, each of the type it must have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
from msgspec import Raw, Struct

from quarterdeck.agents.claude.prices import Tokens

SYNTHETIC = "<synthetic>"
"""The model of what Claude Code says in the model's place."""

MAX_TOKENS = 10**12

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


class Block(Struct):
    type: str | None = None
    text: str | None = None
    id: str | None = None


class CacheWrites(Struct):
    ephemeral_5m_input_tokens: Number = None
    ephemeral_1h_input_tokens: Number = None


class Searches(Struct):
    web_search_requests: Number = None


class Usage(Struct):
    input_tokens: Number = None
    output_tokens: Number = None
    cache_read_input_tokens: Number = None
    cache_creation_input_tokens: Number = None
    cache_creation: CacheWrites | None = None
    server_tool_use: Searches | None = None
    speed: str | None = None


class Message(Struct):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Usage | None = None


class Compaction(Struct, rename="camel"):
    post_tokens: Number = None


read_kind = msgspec.json.Decoder(Kind).decode
read_record = msgspec.json.Decoder(Record).decode
read_message = msgspec.json.Decoder(Message).decode
_compaction = msgspec.json.Decoder(Compaction).decode

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError, OverflowError)


def message_of(record: Record) -> Message | None:
    try:
        return read_message(record.message)
    except UNREADABLE:
        return None


def blocks_of(message: Message) -> list[Block]:
    content = message.content
    return [Block(type="text", text=content)] if isinstance(content, str) else content or []


def prompt_of(record: Record) -> str | None:
    """What a person asked; None for tool results and what the program itself put in."""
    if record.type != "user" or record.is_meta or record.is_compact_summary or record.is_sidechain:
        return None
    message = message_of(record)
    blocks = blocks_of(message) if message else []
    if any(block.type == "tool_result" for block in blocks):
        return None
    text = next((b.text.strip() for b in blocks if b.text and b.text.strip()), "")
    return None if not text or text.startswith("<") else text


def tokens_of(usage: Usage) -> Tokens:
    writes = _whole(usage.cache_creation_input_tokens)
    an_hour = min(_whole(usage.cache_creation.ephemeral_1h_input_tokens), writes) if usage.cache_creation else 0
    return Tokens(
        input=_whole(usage.input_tokens),
        output=_whole(usage.output_tokens),
        cache_write_5m=writes - an_hour,
        cache_write_1h=an_hour,
        cache_read=_whole(usage.cache_read_input_tokens),
        web_searches=_whole(usage.server_tool_use.web_search_requests) if usage.server_tool_use else 0,
    )


def _whole(value: Number) -> int:
    return max(0, min(int(value), MAX_TOKENS)) if value and math.isfinite(value) else 0


def amount(value: Number) -> float | None:
    return float(value) if value is not None and math.isfinite(value) and 0 <= value < MAX_TOKENS else None


def compacted_to(record: Record) -> int:
    """How many tokens a compaction left; 0 where it does not say."""
    return _whole(_compaction(record.compact_metadata).post_tokens)


def seconds(timestamp: str | None) -> float:
    """Unix seconds; 0 when there is no such time."""
    try:
        moment = datetime.fromisoformat(timestamp or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def read_records(content: bytes) -> Iterator[Record]:
    """The records among these lines that can be read."""
    for line in content.split(b"\n"):
        try:
            if read_kind(line).type in READ:
                yield read_record(line)
        except UNREADABLE:
            continue
