"""One hook call of an agent, independent of its wire format."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.tool_kinds import UNKNOWN_TOOL, ToolKind, ToolTraits

FIRST_AGENT = "claude"
"""The agent of everything that was recorded before events named one."""


class EventName(StrEnum):
    """What a hook call reports, whatever the agent calls the hook."""

    __hash__ = str.__hash__  # several look-ups for each hook call, and the hash of an enum is Python code

    SESSION_STARTED = "session.started"
    SESSION_ENDED = "session.ended"
    SETUP = "setup"
    PROMPT_SUBMITTED = "prompt.submitted"
    PROMPT_EXPANDED = "prompt.expanded"
    TOOL_BEFORE = "tool.before"
    TOOL_AFTER = "tool.after"
    TOOL_FAILED = "tool.failed"
    TOOLS_FINISHED = "tools.finished"
    PERMISSION_ASKED = "permission.asked"
    PERMISSION_DENIED = "permission.denied"
    FORM_ASKED = "form.asked"
    FORM_ANSWERED = "form.answered"
    TURN_STOPPED = "turn.stopped"
    TURN_FAILED = "turn.failed"
    SUBAGENT_STARTED = "subagent.started"
    SUBAGENT_STOPPED = "subagent.stopped"
    NOTIFICATION = "notification"
    COMPACT_BEFORE = "compact.before"
    COMPACT_AFTER = "compact.after"
    TODO_ADDED = "todo.added"
    TODO_DONE = "todo.done"
    TEAMMATE_IDLE = "teammate.idle"
    INSTRUCTIONS_LOADED = "instructions.loaded"
    CWD_CHANGED = "cwd.changed"
    CONFIG_CHANGED = "config.changed"
    FILE_CHANGED = "file.changed"
    DIRECTORY_ADDED = "directory.added"
    MODEL_BEFORE = "model.before"
    MODEL_AFTER = "model.after"
    WORKTREE_CREATED = "worktree.created"
    WORKTREE_REMOVED = "worktree.removed"
    TEXT_STREAMED = "text.streamed"
    """A piece of text that is still being written; it never goes into the feed."""
    UNKNOWN = "unknown"


class Context(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The surroundings of an agent; on a feed event only the fields that changed since the session's last event.
    `agent` is its name, left out for `FIRST_AGENT`."""

    cwd: str = ""
    transcript_path: str = ""
    permission_mode: str = ""
    entrypoint: str = ""
    pid: int = 0
    tag: str = ""
    agent: str = ""

    def merged(self, news: Context) -> Context:
        """This context, updated with every field that the news set."""
        return Context(**{name: getattr(news, name) or getattr(self, name) for name in self.__struct_fields__})

    def changes_to(self, now: Context) -> Context | None:
        """The fields of another context that differ from this one; None when there are none."""
        pairs = ((name, getattr(now, name)) for name in self.__struct_fields__)
        changes = {name: value for name, value in pairs if value != getattr(self, name)}
        return Context(**changes) if any(changes.values()) else None


class RuntimeEvent(Struct, frozen=True, gc=False, kw_only=True):
    """One hook call. `id` comes from the client or the daemon; `at` is when the daemon received it. `hook_name` is the
    agent's own name for the event, kept for the record. `skips_permission`: the agent asks no permission for this tool
    call, so a question in it is decided here."""

    id: str
    at: float
    event: EventName
    hook_name: str
    session_id: str
    payload: dict[str, Any]
    context: Context
    tool_name: str | None = None
    tool: ToolTraits = UNKNOWN_TOOL
    tool_use_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    skips_permission: bool = False

    @property
    def agent(self) -> str:
        """The name of the agent that sent it."""
        return self.context.agent or FIRST_AGENT

    @property
    def tool_kind(self) -> str:
        """The kind of its tool, or what it is about instead of one."""
        return _WITHOUT_TOOL.get(self.event, self.tool.kind)


_WITHOUT_TOOL = {EventName.FORM_ASKED: ToolKind.FORM, EventName.TURN_STOPPED: ToolKind.STOP}
