"""Feed events, and the table of their kinds. An event is stored, shipped and shown as it is, and never changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

from msgspec import Struct
from typing_extensions import TypeVar

from quarterdeck.core.model.event_data import (
    admin_data,
    deck_data,
    notice_data,
    owned_session_data,
    request_data,
    session_data,
    tool_data,
)
from quarterdeck.core.model.runtime_event import Context

KINDS: Mapping[str, type[Struct]] = {
    "session.start": session_data.SessionStartData,
    "session.end": session_data.SessionEndData,
    "session.interrupt": session_data.SessionInterruptData,
    "session.launch": owned_session_data.SessionLaunchData,
    "session.up": owned_session_data.SessionUpData,
    "session.exit": owned_session_data.SessionExitData,
    "session.send": owned_session_data.SessionSendData,
    "session.given": owned_session_data.SessionGivenData,
    "session.close": owned_session_data.SessionCloseData,
    "session.change": owned_session_data.SessionChangeData,
    "session.failed": owned_session_data.SessionFailedData,
    "session.state": session_data.SessionStateData,
    "session.usage": session_data.SessionUsageData,
    "session.summary": session_data.SessionSummaryData,
    "run.start": session_data.RunStartData,
    "run.end": session_data.RunEndData,
    "turn.result": owned_session_data.TurnResultData,
    "agent.note": owned_session_data.AgentNoteData,
    "user.prompt": session_data.UserPromptData,
    "user.expansion": session_data.UserExpansionData,
    "message.user": session_data.MessageData,
    "message.assistant": session_data.MessageData,
    "tool.pre": tool_data.ToolPreData,
    "tool.post": tool_data.ToolPostData,
    "tool.failure": tool_data.ToolFailureData,
    "tool.batch": tool_data.ToolBatchData,
    "permission.request": request_data.PermissionRequestData,
    "permission.decision": request_data.DecisionData,
    "permission.denied": request_data.PermissionDeniedData,
    "decision.refused": request_data.DecisionRefusedData,
    "question.request": request_data.QuestionRequestData,
    "question.decision": request_data.DecisionData,
    "request.assessed": request_data.RequestAssessedData,
    "request.escalated": request_data.RequestEscalatedData,
    "escalation.failed": request_data.EscalationFailedData,
    "elicitation.result": request_data.ElicitationResultData,
    "stop.request": request_data.StopRequestData,
    "stop.decision": request_data.DecisionData,
    "stop.failure": request_data.StopFailureData,
    "subagent.start": tool_data.SubagentStartData,
    "subagent.stop": tool_data.SubagentStopData,
    "notification": notice_data.NotificationData,
    "compact.pre": notice_data.CompactPreData,
    "compact.post": notice_data.CompactPostData,
    "setup": notice_data.SetupData,
    "instructions.loaded": notice_data.InstructionsLoadedData,
    "cwd.changed": notice_data.CwdChangedData,
    "file.changed": notice_data.FileChangedData,
    "directory.added": notice_data.DirectoryAddedData,
    "config.changed": notice_data.ConfigChangedData,
    "model.pre": notice_data.ModelSwitchData,
    "model.post": notice_data.ModelSwitchData,
    "teammate.idle": notice_data.TeammateIdleData,
    "worktree.create": notice_data.WorktreeData,
    "worktree.remove": notice_data.WorktreeData,
    "worktree.merge": notice_data.WorktreeData,
    "worktree.discard": notice_data.WorktreeData,
    "todo.add": tool_data.TodoAddData,
    "todo.update": tool_data.TodoUpdateData,
    "todo.done": tool_data.TodoDoneData,
    "rule.add": admin_data.RuleAddData,
    "rule.remove": admin_data.RuleRemoveData,
    "project.trust": admin_data.ProjectTrustData,
    "token.create": admin_data.TokenCreateData,
    "token.elevate": admin_data.TokenElevateData,
    "token.revoke": admin_data.TokenRevokeData,
    "setting.change": admin_data.SettingChangeData,
    "plugin.change": admin_data.PluginChangeData,
    "mcp.change": admin_data.McpChangeData,
    "log.trim": admin_data.LogTrimData,
    "terminal.open": deck_data.TerminalData,
    "terminal.close": deck_data.TerminalData,
    "operator.arm": deck_data.OperatorArmData,
    "operator.page": deck_data.OperatorPageData,
    "operator.select": deck_data.OperatorSelectData,
    "operator.dispatch": deck_data.OperatorDispatchData,
    "unknown.hook": notice_data.UnknownHookData,
}

D = TypeVar("D", default=Any)
"""The data of an event: the struct of its kind, or whatever came with an unknown kind."""

SYSTEM = "system"
USER = "user"
ROOT = "agent:root"
OWN = "quarterdeck"
"""The session id of events that concern this runner and no agent's session; no agent may use it."""


class Cause(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The cause of an event."""

    parent_event_id: str | None = None
    hook_request_id: str | None = None
    tool_use_id: str | None = None
    transcript_path: str | None = None


class FeedEvent(Struct, Generic[D], frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One event. `event_id` is `{run_id}:E{seq}`; `seq_no` is the position in this runner's log, without a gap. `title`
    is only set at a hub, for an event whose data stayed on its machine."""

    seq_no: int
    event_id: str
    seq: int
    run_id: str
    session_id: str
    runner_id: str
    at: float
    kind: str
    level: str
    actor_id: str
    cause: Cause | None = None
    data: D
    context: Context | None = None
    title: str | None = None


def actor_of(agent_id: str | None) -> str:
    """The actor id of the agent itself, or of one of its sub-agents."""
    return f"subagent:{agent_id}" if agent_id else ROOT


def run_number(run_id: str) -> int:
    """The n of `{session_id}:R{n}`."""
    return int(run_id.rsplit(":R", 1)[1])


AUDIT_KINDS = (
    "permission.decision",
    "question.decision",
    "stop.decision",
    "decision.refused",
    "rule.add",
    "rule.remove",
    "project.trust",
    "session.launch",
    "session.exit",
    "session.send",
    "session.interrupt",
    "session.close",
    "session.change",
    "session.failed",
    "worktree.merge",
    "worktree.discard",
    "token.create",
    "token.elevate",
    "token.revoke",
    "setting.change",
    "plugin.change",
    "mcp.change",
    "log.trim",
)
"""The kinds in the audit: every decision, every change of a rule, a token, a setting, a plugin, an MCP server or the
log itself, and every command to an owned session. SQLite uses the store's index of audited events only for a query that
names the same kinds in the same order, so another order would make the index once more."""

RESERVED = frozenset({"message.user"})
"""Kinds that are defined and not recorded yet: a person's message outside of a prompt."""

HIDDEN = frozenset(
    {
        "agent.note",
        "config.changed",
        "file.changed",
        "instructions.loaded",
        "model.pre",
        "operator.arm",
        "operator.page",
        "operator.select",
        "request.assessed",
        "session.given",
        "session.state",
        "session.up",
        "session.usage",
        "setting.change",
        "setup",
        "terminal.close",
        "terminal.open",
        "todo.update",
        "tool.batch",
    }
)
"""Kinds that surfaces show only at level debug: they repeat or explain what another event already says, or report what
only matters when you look for it."""
