"""The data of events that only report something: notifications, compactions, changed files, worktrees."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.model.event_data.base import Data


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
    """`by` and `base` are set when a person ordered it through Quarterdeck."""

    name: str | None = None
    worktree_path: str | None = None
    by: str | None = None
    base: str | None = None
