"""The data of each kind of feed event: one struct per kind, open to what real agents send."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.core.model.decisions import Grant, PlanMode, Source


class Data(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The common root of all data types."""


class SessionStartData(Data, frozen=True, gc=False, kw_only=True):
    source: str
    model: str | None = None
    agent_type: str | None = None
    session_title: str | None = None


class SessionEndData(Data, frozen=True, gc=False, kw_only=True):
    """`source` is who says so: the agent's hooks, or the process table."""

    reason: str
    source: str = "hooks"


class SessionInterruptData(Data, frozen=True, gc=False, kw_only=True):
    """`idle` says that nothing was known to run."""

    by: str
    reason: str | None = None
    idle: bool = False


class SessionStateData(Data, frozen=True, gc=False, kw_only=True):
    """What the process table says of a session that hooks cannot say; without a status only which process it is."""

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


class ToolPreData(Data, frozen=True, gc=False, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None = None


class ToolPostData(Data, frozen=True, gc=False, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    tool_response: Any = None
    duration_ms: float | None = None


class ToolFailureData(Data, frozen=True, gc=False, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    error: str = ""
    is_interrupt: bool | None = None
    duration_ms: float | None = None


class BatchedCall(Data, frozen=True, gc=False, kw_only=True):
    tool_name: str
    tool_use_id: str | None = None


class ToolBatchData(Data, frozen=True, gc=False, kw_only=True):
    tool_calls: list[BatchedCall] = []


class Asked(Data, frozen=True, gc=False, kw_only=True):
    """What every request carries: the thing shown, its digest, and who holds on the other side. `enforced` marks one
    that no silence may answer."""

    request_id: str
    digest: str
    hook_name: str
    held: bool
    enforced: bool = False
    holder: str = "http"
    expires_at: float | None = None
    agent_id: str | None = None
    agent_type: str | None = None


class PermissionRequestData(Asked, frozen=True, gc=False, kw_only=True):
    """`cwd` and `path` are where the agent works and what the tool is about, with every link followed."""

    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    permission_suggestions: list[Any] = []
    cwd: str = ""
    path: str | None = None


class QuestionRequestData(Asked, frozen=True, gc=False, kw_only=True):
    """`form` is questions, plan or elicitation."""

    form: str
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    permission_suggestions: list[Any] = []


class StopRequestData(Data, frozen=True, gc=False, kw_only=True):
    """A wish to stop; the fields of a request are there when it is held."""

    stop_hook_active: bool
    scope: str = "root"
    agent_id: str | None = None
    agent_type: str | None = None
    last_assistant_message: str | None = None
    background: int = 0
    request_id: str | None = None
    digest: str | None = None
    hook_name: str | None = None
    held: bool = False
    holder: str = "http"
    expires_at: float | None = None


class DecisionData(Data, frozen=True, gc=False, kw_only=True):
    """How a request ended: `status` is decided, withdrawn or expired.

    `late` marks a decision that came after another one and was not delivered; `overrides` marks what the agent
    did against the decision it was sent; `still_asks` that the agent's own dialog is still on screen. `rule_ids` are
    the rules that decided, `pattern` how they read.
    """

    request_id: str
    decision_type: str
    source: Source
    by: str
    rule_ids: list[str] = []
    pattern: str | None = None
    status: str = "decided"
    digest: str | None = None
    updated_input: dict[str, Any] | None = None
    updated_digest: str | None = None
    updated_permissions: list[Any] | None = None
    grant: Grant | None = None
    answers: dict[str, Any] | None = None
    notes: dict[str, str] | None = None
    mode: PlanMode | None = None
    message: str | None = None
    interrupt: bool | None = None
    reason: str | None = None
    note: str | None = None
    late: bool = False
    overrides: bool = False
    still_asks: bool = False


class PermissionDecisionData(DecisionData, frozen=True, gc=False, kw_only=True):
    pass


class QuestionDecisionData(DecisionData, frozen=True, gc=False, kw_only=True):
    pass


class StopDecisionData(DecisionData, frozen=True, gc=False, kw_only=True):
    pass


class DecisionRefusedData(Data, frozen=True, gc=False, kw_only=True):
    """Somebody who may not decide tried to: a process that descends from an agent, or one that has gone."""

    wanted: str
    by: str
    reason: str
    agent_session_id: str | None = None
    request_id: str | None = None
    pid: int | None = None
    command: str | None = None


class RequestEscalatedData(Data, frozen=True, gc=False, kw_only=True):
    """Nobody answered within the grace: `channels` are told, of `told_of` requests at once."""

    request_id: str
    risk: str
    channels: list[str]
    told_of: int = 1


class EscalationFailedData(Data, frozen=True, gc=False, kw_only=True):
    """A channel could not tell anybody of these requests."""

    channel: str
    error: str
    request_ids: list[str] = []


class PermissionDeniedData(Data, frozen=True, gc=False, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    reason: str = ""


class ElicitationResultData(Data, frozen=True, gc=False, kw_only=True):
    mcp_server_name: str
    action: str
    mode: str | None = None
    content: Any = None


class StopFailureData(Data, frozen=True, gc=False, kw_only=True):
    error: str
    last_assistant_message: str | None = None


class SubagentStartData(Data, frozen=True, gc=False, kw_only=True):
    agent_id: str
    agent_type: str


class SubagentStopData(Struct, frozen=True, gc=False, kw_only=True):
    agent_id: str
    agent_type: str
    stop_hook_active: bool
    agent_transcript_path: str | None = None
    last_assistant_message: str | None = None


class NotificationData(Data, frozen=True, gc=False, kw_only=True):
    message: str
    title: str | None = None
    notification_type: str | None = None


class CompactPreData(Data, frozen=True, gc=False, kw_only=True):
    trigger: str
    custom_instructions: str | None = None


class CompactPostData(Data, frozen=True, gc=False, kw_only=True):
    trigger: str
    compact_summary: str | None = None


class SetupData(Data, frozen=True, gc=False, kw_only=True):
    trigger: str


class UnknownHookData(Data, frozen=True, gc=False, kw_only=True):
    hook_event_name: str
    payload: Any = None
    error: str | None = None


class TodoAddData(Data, frozen=True, gc=False, kw_only=True):
    todo_id: str
    text: str
    details: str | None = None
    priority: str | None = None
    linked_event_id: str | None = None
    assigned_actor_id: str | None = None
    tags: list[str] | None = None


class TodoUpdateData(Data, frozen=True, gc=False, kw_only=True):
    todo_id: str
    patch: dict[str, Any]


class TodoDoneData(Data, frozen=True, gc=False, kw_only=True):
    todo_id: str
    reason: str | None = None


class MessageData(Data, frozen=True, gc=False, kw_only=True):
    """What was said, and by its own clock when. `text_bytes` is the size of a text that was cut."""

    text: str
    message_id: str | None = None
    model: str | None = None
    said_at: float | None = None
    text_bytes: int | None = None


class Spent(Data, frozen=True, gc=False, kw_only=True):
    """What one message of the model used; a later word about the same message takes its place. `tools` counts the
    calls that are new; `said` is a checksum of the text."""

    message_id: str
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    tools: int = 0
    said: int = 0


class Usage(Data, frozen=True, gc=False, kw_only=True):
    """Tokens and their price; `cost_usd` is None when a model among them has no known price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = 0.0


class SessionUsageData(Data, frozen=True, gc=False, kw_only=True):
    """What a further part of a transcript says, and how far it is read. `afresh` starts the count of this file over;
    `reported_cost_usd` is the agent's own figure; `malformed` and the skipped count what could not be read."""

    offset: int
    agent_id: str | None = None
    file_id: int = 0
    afresh: bool = False
    spent: list[Spent] = []
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
    """What a session came to when it ended or was compacted; `missing` says what the transcript did not give."""

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


class RuleAddData(Data, frozen=True, gc=False, kw_only=True):
    """`request_id` is the request with which it was remembered."""

    rule_id: str
    effect: str
    pattern: str
    scope: str
    by: str
    scope_id: str | None = None
    scope_path: str | None = None
    expires_at: float | None = None
    note: str | None = None
    request_id: str | None = None


class RuleRemoveData(Data, frozen=True, gc=False, kw_only=True):
    """`why` is removed, used, expired, or ended for a rule of a session that is over."""

    rule_id: str
    by: str
    effect: str = ""
    pattern: str = ""
    why: str = "removed"


class ProjectTrustData(Data, frozen=True, gc=False, kw_only=True):
    """How far a folder is trusted: not at all, for the rules made in it, or in full."""

    path: str
    trust: str
    by: str


class PluginChangeData(Data, frozen=True, gc=False, kw_only=True):
    """Somebody had the agent change a plugin, or with `add_marketplace` and the like a marketplace. `outcome` is done
    or failed, `error` what the agent said then."""

    action: str
    name: str
    scope: str
    by: str
    outcome: str = "done"
    marketplace: str | None = None
    project: str | None = None
    error: str | None = None


class McpChangeData(Data, frozen=True, gc=False, kw_only=True):
    """Somebody had the agent add or remove an MCP server; its command, address, variables and headers are not told."""

    action: str
    name: str
    scope: str
    by: str
    transport: str | None = None
    outcome: str = "done"
    project: str | None = None
    error: str | None = None


class TerminalData(Data, frozen=True, gc=False, kw_only=True):
    terminal_id: str
    name: str | None = None
    pid: int | None = None


class OperatorArmData(Data, frozen=True, gc=False, kw_only=True):
    prompt_id: str | None = None


class OperatorDispatchData(Data, frozen=True, gc=False, kw_only=True):
    prompt_id: str | None = None
    delivered: bool = False


class TokenCreateData(Data, frozen=True, gc=False, kw_only=True):
    """`verifier` is the SHA-256 of a token of 256 random bits; the token itself is nowhere."""

    token_id: str
    name: str
    scopes: list[str]
    by: str
    verifier: str = ""
    kind: str = "token"
    expires_at: float | None = None


class TokenRevokeData(Data, frozen=True, gc=False, kw_only=True):
    token_id: str
    name: str
    by: str


class SettingChangeData(Data, frozen=True, gc=False, kw_only=True):
    """A setting as JSON text; None is the default."""

    key: str
    old: str | None = None
    new: str | None = None


class LogTrimData(Data, frozen=True, gc=False, kw_only=True):
    """Events up to `upto` leave the log; `why` is the setting that asks for it."""

    upto: int
    events: int
    why: str


class InstructionsLoadedData(Data, frozen=True, gc=False, kw_only=True):
    file_path: str
    memory_type: str | None = None
    load_reason: str | None = None


class CwdChangedData(Data, frozen=True, gc=False, kw_only=True):
    old_cwd: str
    new_cwd: str


class FileChangedData(Data, frozen=True, gc=False, kw_only=True):
    file_path: str
    event: str


class DirectoryAddedData(Data, frozen=True, gc=False, kw_only=True):
    directory: str
    source: str | None = None


class ConfigChangedData(Data, frozen=True, gc=False, kw_only=True):
    source: str
    file_path: str | None = None


class ModelSwitchData(Data, frozen=True, gc=False, kw_only=True):
    from_model: str
    to_model: str
    requested_model: str | None = None
    source: str | None = None
    context_tokens: int | None = None


class TeammateIdleData(Data, frozen=True, gc=False, kw_only=True):
    teammate_name: str | None = None
    team_name: str | None = None


class WorktreeData(Data, frozen=True, gc=False, kw_only=True):
    """`by` and `base` are told where somebody ordered it of us."""

    name: str | None = None
    worktree_path: str | None = None
    by: str | None = None
    base: str | None = None
