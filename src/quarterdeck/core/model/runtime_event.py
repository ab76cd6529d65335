"""What an agent said, free of its protocol, and which of its words wait for us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Interaction(Struct, frozen=True, gc=False, kw_only=True):
    """Whether somebody is expected to decide, and whether a refusal can have an effect."""

    expects_decision: bool = False
    can_block: bool = False


SILENT = Interaction()
"""Unknown hooks never wait."""

INTERACTIONS: Mapping[str, Interaction] = {
    "PermissionRequest": Interaction(expects_decision=True, can_block=True),
    "Elicitation": Interaction(expects_decision=True, can_block=True),
    "PreToolUse": Interaction(can_block=True),
    "PostToolUse": Interaction(can_block=True),
    "Stop": Interaction(can_block=True),
    "SubagentStop": Interaction(can_block=True),
    "UserPromptSubmit": Interaction(can_block=True),
}
"""Who expects a decision. Stop expects one when `decide.hold_stop` is set, and the PreToolUse
of a question where no permission request will follow; both are decided in `core.hearing`."""


class Context(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Where an agent works; on a feed event only what changed since the last one of its session."""

    cwd: str = ""
    transcript_path: str = ""
    permission_mode: str = ""
    entrypoint: str = ""
    pid: int = 0
    tag: str = ""


class RuntimeEvent(Struct, frozen=True, gc=False, kw_only=True):
    """One thing an agent said. `id` is ours or the client's; `at` is when we received it."""

    id: str
    at: float
    hook_name: str
    session_id: str
    payload: dict[str, Any]
    context: Context
    interaction: Interaction = SILENT
    tool_name: str | None = None
    tool_use_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
