"""Claude Code's transcripts: lines of JSON, one per content block. Whatever the bytes hold, what can be had is given.

What people say is left out: hooks give it sooner, word for word.
"""

from __future__ import annotations

import zlib

from msgspec import Struct

from quarterdeck.agents.claude.prices import Prices, cost_of
from quarterdeck.agents.claude.transcript_records import (
    READ,
    SYNTHETIC,
    UNREADABLE,
    Message,
    Record,
    Usage,
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
from quarterdeck.core.engine.messages import Said
from quarterdeck.core.model.event_data import Spent
from quarterdeck.core.model.payload import safe_id

MAX_LINE = 32 * 1024 * 1024
MAX_TEXT = 1024 * 1024
MAX_TITLE = 400
MAX_ERROR = 2_000
SLICE = 1024 * 1024
MAX_COMMAS = 100_000
"""Of a line longer than a slice: more would take too long to read in one go."""

ENOUGH_MESSAGES = 50
ENOUGH_TEXT = 512 * 1024

SIDECHAIN = "sidechain"
"""The sub-agent of a record that names none."""


class Part(Struct, frozen=True, kw_only=True):
    """What the first `size` bytes of a stretch of lines say."""

    size: int = 0
    said: tuple[Said, ...] = ()
    prompts: int = 0
    context_tokens: int | None = None
    title: str | None = None
    titled_by_user: bool = False
    reported_cost_usd: float | None = None
    error: str | None = None
    malformed: int = 0
    skipped_lines: int = 0
    missing: tuple[str, ...] = ()


class Glance(Struct, frozen=True, kw_only=True):
    """What the first and last lines say of a session."""

    cwd: str = ""
    title: str = ""
    model: str | None = None
    started_at: float = 0.0
    last_at: float = 0.0


def read_part(content: bytes, prices: Prices, agent_id: str | None = None, *, since: float = 0.0) -> Part:
    """Read whole lines of a session's transcript, or of its sub-agent's, until there is enough to record in one go.
    What was said before `since` is left out: a fork begins with a copy of its parent's lines, under its own id."""
    reading = _Reading(prices, agent_id, since)
    start = 0
    while start < len(content) and not reading.enough:
        end = content.find(b"\n", start) + 1 or len(content)
        if line := content[start:end].strip():
            reading.line(line)
        start = end
    return reading.part(start)


def read_glance(head: bytes, tail: bytes) -> Glance | None:
    """A session by the beginning and the end of its transcript; None when nothing was said in it."""
    opening = list(read_records(head))
    records = [*opening, *read_records(tail)]
    spoken = [r for r in records if r.type in ("user", "assistant") and not r.is_sidechain]
    if not spoken:
        return None
    times = [at for r in records if (at := seconds(r.timestamp))]
    titles: list[str | None] = [r.custom_title for r in records if r.custom_title] or [
        r.ai_title or r.summary for r in records
    ]
    said = [m for r in records if r.type == "assistant" and (m := message_of(r)) is not None]
    models = [m.model for m in said if m.model and m.model != SYNTHETIC]
    title = next((t for t in reversed(titles) if t), None)
    return Glance(
        cwd=next((r.cwd for r in spoken if r.cwd), ""),
        title=(title or next((p for r in opening if (p := prompt_of(r))), ""))[:MAX_TITLE],
        model=models[-1] if models else None,
        started_at=min(times, default=0.0),
        last_at=max(times, default=0.0),
    )


class _Reading:
    """Gathers lines into messages: the same id is the same message, and its last usage counts."""

    def __init__(self, prices: Prices, agent_id: str | None, since: float) -> None:
        self._prices = prices
        self._since = since
        self._agent_id = agent_id
        self._texts: dict[str, list[str]] = {}
        self._said: dict[str, Said] = {}
        self._tools: set[str] = set()
        self._length = 0
        self._prompts = self._malformed = self._skipped = 0
        self._context: int | None = None
        self._titles: dict[bool, str] = {}
        self._reported: float | None = None
        self._error: str | None = None
        self._missing: dict[str, None] = {}

    def line(self, line: bytes) -> None:
        if len(line) > MAX_LINE or _too_dense(line):
            self._skipped += 1
            return
        try:
            if read_kind(line).type in READ:
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
        before = self._said.pop(message_id, None)
        self._said[message_id] = self._message(record, message, message_id, texts, len(calls), before)

    def _message(
        self, record: Record, message: Message, message_id: str, texts: list[str], calls: int, before: Said | None
    ) -> Said:
        usage, model = message.usage or Usage(), (message.model or "")[:128]
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
        spent = Spent(
            message_id=message_id,
            model=model,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=cache_write,
            cost_usd=cost,
            tools=calls + (before.spent.tools if before else 0),
            said=zlib.crc32(text.encode(errors="surrogatepass")) if text else 0,
        )
        at = before.at if before else seconds(record.timestamp)
        return Said(spent=spent, text=text, text_bytes=size, at=at, agent_id=agent_id)

    @property
    def enough(self) -> bool:
        return len(self._said) >= ENOUGH_MESSAGES or self._length >= ENOUGH_TEXT

    def part(self, size: int) -> Part:
        return Part(
            size=size,
            said=tuple(self._said.values()),
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


def _too_dense(line: bytes) -> bool:
    """Whether a long line has so many parts that reading it would hold up everybody else."""
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
