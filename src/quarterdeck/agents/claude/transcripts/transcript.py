"""Claude Code's transcripts: lines of JSON, one per content block. Reads as much as it can, whatever the bytes hold.

Prompts are left out: hooks report them sooner, word for word.
"""

from __future__ import annotations

import re
import zlib
from functools import partial

from quarterdeck.agents.base import ReadPart, TranscriptSummary
from quarterdeck.agents.claude.transcripts.prices import Prices, cost_of, read_prices
from quarterdeck.agents.claude.transcripts.transcript_records import (
    READ,
    SYNTHETIC,
    UNREADABLE,
    Record,
    RecordMessage,
    RecordUsage,
    amount,
    blocks_of,
    compacted_to,
    message_of,
    prompt_of,
    read_kind,
    read_message,
    read_record,
    read_records,
    seconds,
    tokens_of,
)
from quarterdeck.core.engine.messages import TranscriptMessage, TranscriptPart
from quarterdeck.core.model.event_data.session_data import MessageUsage
from quarterdeck.core.model.payload import safe_id

MAX_LINE = 32 * 1024 * 1024
MAX_TEXT = 1024 * 1024
MAX_TITLE = 400
MAX_ERROR = 2_000
"""Limits of what is kept: the file comes from the agent, and the log keeps each event forever."""

SLICE = 1024 * 1024
MAX_COMMAS = 100_000
"""Of a line longer than SLICE: decoding more values would block the loop for too long."""

ENOUGH_MESSAGES = 50
ENOUGH_TEXT = 512 * 1024
"""What is recorded in one go: one part is one transaction, and hook calls wait for it."""

CONTENT = re.compile(rb"\S")
SIDECHAIN = "sidechain"
"""The agent id for a sub-agent's record without one."""


def read_part(content: bytes, prices: Prices, agent_id: str | None = None, *, since: float = 0.0) -> TranscriptPart:
    """Read whole lines of a session's transcript, or of its sub-agent's, until there is enough to record in one go.
    Messages before `since` are left out: a fork begins with a copy of its parent's lines, under its own id."""
    reader = _PartReader(prices, agent_id, since)
    start = 0
    while start < len(content) and not reader.enough:
        found = CONTENT.search(content, start)  # millions of blank lines, one by one, would take seconds
        if found is None:
            return reader.part(len(content))
        end = content.find(b"\n", found.start()) + 1 or len(content)
        reader.add(content[found.start() : end].strip())
        start = end
    return reader.part(start)


def transcript_reader(prices: bytes) -> ReadPart:
    """A reader that knows this price list."""
    return partial(_read_priced, read_prices(prices))


def _read_priced(prices: Prices, content: bytes, agent_id: str | None = None, *, since: float = 0.0) -> TranscriptPart:
    return read_part(content, prices, agent_id, since=since)


def read_summary(head: bytes, tail: bytes) -> TranscriptSummary | None:
    """A session from the beginning and the end of its transcript; None if it has no messages."""
    opening = list(read_records(head))
    records = [*opening, *read_records(tail)]
    turns = [r for r in records if r.type in ("user", "assistant") and not r.is_sidechain]
    if not turns:
        return None
    times = [at for r in records if (at := seconds(r.timestamp))]
    titles: list[str | None] = [r.custom_title for r in records if r.custom_title] or [
        r.ai_title or r.summary for r in records
    ]
    messages = [m for r in records if r.type == "assistant" and (m := message_of(r)) is not None]
    models = [m.model for m in messages if m.model and m.model != SYNTHETIC]
    title = next((t for t in reversed(titles) if t), None)
    return TranscriptSummary(
        cwd=next((r.cwd for r in turns if r.cwd), ""),
        title=(title or next((p for r in opening if (p := prompt_of(r))), ""))[:MAX_TITLE],
        model=models[-1] if models else None,
        started_at=min(times, default=0.0),
        last_at=max(times, default=0.0),
    )


class _PartReader:
    """Gathers lines into messages: the same id is the same message, and its last usage counts."""

    def __init__(self, prices: Prices, agent_id: str | None, since: float) -> None:
        self._prices = prices
        self._since = since
        self._agent_id = agent_id
        self._texts: dict[str, list[str]] = {}
        self._messages: dict[str, TranscriptMessage] = {}
        self._tools: set[str] = set()
        self._length = 0
        self._prompts = self._malformed = self._skipped = 0
        self._context: int | None = None
        self._titles: dict[bool, str] = {}
        self._reported: float | None = None
        self._error: str | None = None
        self._missing: dict[str, None] = {}

    def add(self, line: bytes) -> None:
        if len(line) > MAX_LINE or _is_too_dense(line):
            self._skipped += 1
            return
        try:
            if read_kind(line).type in READ:  # records of other kinds may have any shape
                self._take(read_record(line))
        except UNREADABLE:
            self._malformed += 1

    def _take(self, record: Record) -> None:
        if record.type in ("assistant", "user") and 0 < seconds(record.timestamp) < self._since:
            return
        match record.type:
            case "assistant":
                self._assistant(record)
            case "user":
                self._prompts += prompt_of(record) is not None
            case "system":
                if record.subtype == "compact_boundary" and not self._agent_id:
                    self._context = compacted_to(record)
            case "cost-state":
                self._reported = amount(record.total_cost)
            case _:
                title = record.custom_title or record.ai_title or record.summary
                if title:
                    self._titles[record.type == "custom-title"] = title[:MAX_TITLE]

    def _assistant(self, record: Record) -> None:
        message = read_message(record.message)
        blocks = blocks_of(message)
        if message.model == SYNTHETIC:
            if record.is_api_error_message:
                self._error = "\n".join(b.text for b in blocks if b.text)[:MAX_ERROR] or "an API error"
            return
        message_id = safe_id(message.id, "") or safe_id(record.uuid, "")
        if not message_id:
            raise ValueError("a message without an id")
        self._error = None
        texts = self._texts.setdefault(message_id, [])
        new = [b.text for b in blocks if b.type == "text" and b.text and b.text.strip() and b.text not in texts]
        texts += new
        self._length += sum(map(len, new))
        calls = {b.id for b in blocks if b.type == "tool_use" and b.id} - self._tools
        self._tools |= calls
        before = self._messages.pop(message_id, None)
        self._messages[message_id] = self._message(record, message, message_id, texts, len(calls), before)

    def _message(
        self,
        record: Record,
        message: RecordMessage,
        message_id: str,
        texts: list[str],
        calls: int,
        before: TranscriptMessage | None,
    ) -> TranscriptMessage:
        usage, model = message.usage or RecordUsage(), (message.model or "")[:128]
        tokens = tokens_of(usage)
        cost = cost_of(self._prices, model, tokens, usage.speed or "")
        if cost is None:
            self._missing[f"the price of {model or 'an unnamed model'}"] = None
        cache_write = tokens.cache_write_5m + tokens.cache_write_1h
        agent_id = self._agent_id
        if record.is_sidechain and not agent_id:
            agent_id = safe_id(record.agent_id, SIDECHAIN)
        context = tokens.input + tokens.cache_read + cache_write
        if not agent_id and context:
            self._context = context
        text, size = _cut("\n\n".join(texts))
        spent = MessageUsage(
            message_id=message_id,
            model=model,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=cache_write,
            cost_usd=cost,
            tools=calls + (before.usage.tools if before else 0),
            said=zlib.crc32(text.encode(errors="surrogatepass")) if text else 0,
        )
        at = before.at if before else seconds(record.timestamp)
        point = None if agent_id else safe_id(record.uuid, "") or None
        return TranscriptMessage(usage=spent, text=text, text_bytes=size, at=at, agent_id=agent_id, point=point)

    @property
    def enough(self) -> bool:
        return len(self._messages) >= ENOUGH_MESSAGES or self._length >= ENOUGH_TEXT

    def part(self, size: int) -> TranscriptPart:
        return TranscriptPart(
            size=size,
            messages=tuple(self._messages.values()),
            prompts=self._prompts,
            context_tokens=self._context,
            title=self._titles.get(True) or self._titles.get(False),
            titled_by_user=True in self._titles,
            reported_cost_usd=self._reported,
            error=self._error,
            malformed=self._malformed,
            skipped_lines=self._skipped,
            missing=tuple(self._missing),
        )


def _is_too_dense(line: bytes) -> bool:
    """True if a long line has enough values that decoding it would hold up all other work."""
    if len(line) <= SLICE:
        return False
    commas = 0
    for start in range(0, len(line), SLICE):
        commas += line.count(b",", start, start + SLICE)
        if commas > MAX_COMMAS:
            return True
    return False


def _cut(text: str) -> tuple[str, int | None]:
    """The text within the limit, and its whole size when it was cut."""
    return (text, None) if len(text) <= MAX_TEXT else (text[:MAX_TEXT], len(text.encode(errors="surrogatepass")))
