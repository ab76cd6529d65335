"""The data of events about a session: its start and end, its runs, its prompts and messages, what it used."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.model.event_data.base import Data


class SessionStartData(Data, frozen=True, gc=False, kw_only=True):
    source: str
    model: str | None = None
    agent_type: str | None = None
    session_title: str | None = None


class SessionEndData(Data, frozen=True, gc=False, kw_only=True):
    """`source` says who reported it: hooks, or process for the process table."""

    reason: str
    source: str = "hooks"


class SessionInterruptData(Data, frozen=True, gc=False, kw_only=True):
    """`idle` says that nothing was known to be running."""

    by: str
    reason: str | None = None
    idle: bool = False


class SessionStateData(Data, frozen=True, gc=False, kw_only=True):
    """A fact from the process table that hooks cannot report; without a `status` only which process it is."""

    status: str = ""
    waiting_for: str | None = None
    pid: int | None = None
    start: str | None = None


class Trigger(Data, frozen=True, gc=False, kw_only=True):
    type: str
    prompt_preview: str | None = None


class RunStartData(Data, frozen=True, gc=False, kw_only=True):
    trigger: Trigger


class Counters(Data, frozen=True, gc=False, kw_only=True):
    tool_uses: int = 0
    tool_failures: int = 0
    permission_requests: int = 0
    blocks: int = 0


class RunEndData(Struct, frozen=True, gc=False, kw_only=True):
    status: str
    counters: Counters


class UserPromptData(Data, frozen=True, gc=False, kw_only=True):
    prompt: str
    cwd: str = ""
    permission_mode: str | None = None


class UserExpansionData(Data, frozen=True, gc=False, kw_only=True):
    expansion_type: str
    command_name: str
    command_args: str = ""
    command_source: str | None = None
    prompt: str = ""


class MessageData(Data, frozen=True, gc=False, kw_only=True):
    """A message, with its time by the transcript's clock. `text_bytes` is the full size of a text that was cut. A fork
    can begin at its `point`."""

    text: str
    message_id: str | None = None
    model: str | None = None
    said_at: float | None = None
    text_bytes: int | None = None
    point: str | None = None


class Tokens(Data, frozen=True, gc=False, kw_only=True):
    """Numbers of tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class MessageUsage(Tokens, frozen=True, gc=False, kw_only=True):
    """The usage of one message of the model; a later report about the same message replaces it. `tools` counts the
    calls that are new; `said` is a checksum of the text."""

    message_id: str
    model: str = ""
    cost_usd: float | None = None
    tools: int = 0
    said: int = 0


class Usage(Tokens, frozen=True, gc=False, kw_only=True):
    """Tokens and their price; `cost_usd` is None when a model among them has no known price."""

    cost_usd: float | None = 0.0


class SessionUsageData(Data, frozen=True, gc=False, kw_only=True):
    """The usage in a further part of a transcript, and the read position after it. `afresh` restarts the count of this
    file; `reported_cost_usd` is the agent's own figure; `malformed`, `skipped_lines` and `skipped_bytes` count what
    could not be read."""

    offset: int
    agent_id: str | None = None
    file_id: int = 0
    afresh: bool = False
    spent: list[MessageUsage] = []
    prompts: int = 0
    last_at: float = 0.0
    context_tokens: int | None = None
    title: str | None = None
    titled_by_user: bool = False
    reported_cost_usd: float | None = None
    error: str | None = None
    malformed: int = 0
    skipped_lines: int = 0
    skipped_bytes: int = 0
    missing: list[str] = []


class SessionSummaryData(Data, frozen=True, gc=False, kw_only=True):
    """The totals of a session when it ended or was compacted; `missing` says what the transcript did not contain."""

    reason: str
    last_assistant_text: str | None = None
    last_assistant_timestamp: float | None = None
    message_count: int = 0
    tool_call_count: int = 0
    error: str | None = None
    usage: Usage | None = None
    reported_cost_usd: float | None = None
    context_tokens: int | None = None
    model: str | None = None
    missing: list[str] = []
