"""The feed: what happened, numbered and placed. The only thing stored, shipped and shown; never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

from msgspec import Struct
from typing_extensions import TypeVar

from quarterdeck.core.model import event_data as d
from quarterdeck.core.model import session_event_data as o
from quarterdeck.core.model.runtime_event import Context

KINDS: Mapping[str, type[Struct]] = {
    "session.start": d.SessionStartData,
    "session.end": d.SessionEndData,
    "session.interrupt": d.SessionInterruptData,
    "session.launch": o.SessionLaunchData,
    "session.up": o.SessionUpData,
    "session.exit": o.SessionExitData,
    "session.send": o.SessionSendData,
    "session.given": o.SessionGivenData,
    "session.close": o.SessionCloseData,
    "session.change": o.SessionChangeData,
    "session.failed": o.SessionFailedData,
    "session.state": d.SessionStateData,
    "session.usage": d.SessionUsageData,
    "session.summary": d.SessionSummaryData,
    "run.start": d.RunStartData,
    "run.end": d.RunEndData,
    "turn.result": o.TurnResultData,
    "agent.note": o.AgentNoteData,
    "user.prompt": d.UserPromptData,
    "user.expansion": d.UserExpansionData,
    "message.user": d.MessageData,
    "message.assistant": d.MessageData,
    "tool.pre": d.ToolPreData,
    "tool.post": d.ToolPostData,
    "tool.failure": d.ToolFailureData,
    "tool.batch": d.ToolBatchData,
    "permission.request": d.PermissionRequestData,
    "permission.decision": d.PermissionDecisionData,
    "permission.denied": d.PermissionDeniedData,
    "decision.refused": d.DecisionRefusedData,
    "question.request": d.QuestionRequestData,
    "question.decision": d.QuestionDecisionData,
    "request.escalated": d.RequestEscalatedData,
    "escalation.failed": d.EscalationFailedData,
    "elicitation.result": d.ElicitationResultData,
    "stop.request": d.StopRequestData,
    "stop.decision": d.StopDecisionData,
    "stop.failure": d.StopFailureData,
    "subagent.start": d.SubagentStartData,
    "subagent.stop": d.SubagentStopData,
    "notification": d.NotificationData,
    "compact.pre": d.CompactPreData,
    "compact.post": d.CompactPostData,
    "setup": d.SetupData,
    "instructions.loaded": d.InstructionsLoadedData,
    "cwd.changed": d.CwdChangedData,
    "file.changed": d.FileChangedData,
    "directory.added": d.DirectoryAddedData,
    "config.changed": d.ConfigChangedData,
    "model.pre": d.ModelSwitchData,
    "model.post": d.ModelSwitchData,
    "teammate.idle": d.TeammateIdleData,
    "worktree.create": d.WorktreeData,
    "worktree.remove": d.WorktreeData,
    "worktree.merge": d.WorktreeData,
    "worktree.discard": d.WorktreeData,
    "todo.add": d.TodoAddData,
    "todo.update": d.TodoUpdateData,
    "todo.done": d.TodoDoneData,
    "rule.add": d.RuleAddData,
    "rule.remove": d.RuleRemoveData,
    "project.trust": d.ProjectTrustData,
    "token.create": d.TokenCreateData,
    "token.revoke": d.TokenRevokeData,
    "setting.change": d.SettingChangeData,
    "plugin.change": d.PluginChangeData,
    "mcp.change": d.McpChangeData,
    "log.trim": d.LogTrimData,
    "terminal.open": d.TerminalData,
    "terminal.close": d.TerminalData,
    "operator.arm": d.OperatorArmData,
    "operator.dispatch": d.OperatorDispatchData,
    "unknown.hook": d.UnknownHookData,
}

D = TypeVar("D", default=Any)
"""The data of an event: that of its kind, or what came with a kind we do not know."""

SYSTEM = "system"
USER = "user"
ROOT = "agent:root"
OWN = "quarterdeck"
"""Stands as session of what concerns this runner and no agent's session; no agent may use it."""


class Cause(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What an event follows from."""

    parent_event_id: str | None = None
    hook_request_id: str | None = None
    tool_use_id: str | None = None
    transcript_path: str | None = None


class FeedEvent(Struct, Generic[D], frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """`event_id` is `{run_id}:E{seq}`; `seq_no` is the position in this runner's log, without a gap."""

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


def actor_of(agent_id: str | None) -> str:
    """The actor for the agent itself or one of its sub-agents."""
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
    "token.revoke",
    "setting.change",
    "plugin.change",
    "mcp.change",
    "log.trim",
)
"""What the audit shows: every decision, every change of a rule, a token, a setting, a plugin, an MCP server or the log
itself, and every order to a session of ours."""

HIDDEN = frozenset(
    {
        "tool.batch",
        "instructions.loaded",
        "file.changed",
        "config.changed",
        "session.state",
        "session.given",
        "session.up",
        "session.usage",
        "todo.update",
    }
)
"""Kinds a face leaves out unless asked: they repeat or explain what another event already says."""


def should_exclude(event: FeedEvent) -> bool:
    """Whether a face leaves this event out by default."""
    return event.kind in HIDDEN
