"""The data of events about requests, decisions, and stops."""

from __future__ import annotations

from typing import Any

from msgspec import field

from quarterdeck.core.model.decisions import Grant, PlanMode, Source
from quarterdeck.core.model.event_data.base import Data
from quarterdeck.core.model.event_data.tool_data import ToolCallData


class RequestOpenedData(Data, frozen=True, gc=False, kw_only=True):
    """The fields of every request. `holder` is the kind of connection that waits for the answer, and `reconnects` says
    that it comes back after a restart; `enforced` marks a request that must get a decision, since silence would let the
    tool run."""

    request_id: str
    digest: str
    hook_name: str
    held: bool
    enforced: bool = False
    holder: str = "http"
    reconnects: bool = False
    expires_at: float | None = None
    agent_id: str | None = None
    agent_type: str | None = None


class ToolRequestData(RequestOpenedData, frozen=True, gc=False, kw_only=True):
    """The fields of every request about a tool call."""

    tool_name: str
    tool_kind: str = ""
    tool_risk: tuple[str, str] | None = None
    tool_input: dict[str, Any]
    tool_use_id: str | None = None
    permission_suggestions: list[Any] = []


class PermissionRequestData(ToolRequestData, frozen=True, gc=False, kw_only=True):
    """`cwd` is where the agent works and `path` the file the tool is about, both with every link resolved."""

    cwd: str = ""
    path: str | None = None


class QuestionRequestData(ToolRequestData, frozen=True, gc=False, kw_only=True):
    """`form` is questions, plan or elicitation."""

    form: str


class StopRequestData(Data, frozen=True, gc=False, kw_only=True):
    """An agent that is about to stop; the fields of a request are set when it is held."""

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
    reconnects: bool = False
    expires_at: float | None = None


class DecisionData(Data, frozen=True, gc=False, kw_only=True):
    """The end of a request: `status` is decided, withdrawn or expired.

    `late` marks a decision that came after another one and was not delivered; `overrides` an outcome at the agent
    that differs from the decision it was sent; `still_asks` that the agent's own dialog is still on screen. `rule_ids`
    are the rules that decided, `pattern` their patterns.
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


class DecisionRefusedData(Data, frozen=True, gc=False, kw_only=True):
    """A refused attempt to decide, by a process that descends from an agent or that has exited. `wanted` is the
    attempted action."""

    wanted: str
    by: str
    reason: str
    agent_session_id: str | None = None
    request_id: str | None = None
    pid: int | None = None
    command: str | None = None


class RequestAssessedData(Data, frozen=True, gc=False, kw_only=True):
    """The full risk of a request, as every surface shows it and as the unattended policy uses it."""

    request_id: str
    risk: str
    reasons: list[str] = []


class RequestEscalatedData(Data, frozen=True, gc=False, kw_only=True):
    """A notification after `grace_seconds` without an answer, to `channels` and about `request_count` requests."""

    request_id: str
    risk: str
    channels: list[str]
    request_count: int = field(default=1, name="told_of")


class EscalationFailedData(Data, frozen=True, gc=False, kw_only=True):
    """A channel that could not send the notification of these requests."""

    channel: str
    error: str
    request_ids: list[str] = []


class PermissionDeniedData(ToolCallData, frozen=True, gc=False, kw_only=True):
    reason: str = ""


class ElicitationResultData(Data, frozen=True, gc=False, kw_only=True):
    mcp_server_name: str
    action: str
    mode: str | None = None
    content: Any = None


class StopFailureData(Data, frozen=True, gc=False, kw_only=True):
    error: str
    last_assistant_message: str | None = None

    @property
    def failure(self) -> str:
        """The reason of the failure, in the agent's words."""
        return self.last_assistant_message or self.error.replace("_", " ")
