"""Hooks that only report something: each is one event, opens no run and waits for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.event_data import notice_data
from quarterdeck.core.model.event_data.notice_data import CompactPostData, CompactPreData, SetupData, WorktreeData
from quarterdeck.core.model.payload import read_fields, text
from quarterdeck.core.model.runtime_event import EventName


def unknown_hook(step: Step, received: HookReceived) -> None:
    event = received.event
    data = notice_data.UnknownHookData(hook_event_name=event.hook_name, payload=event.payload)
    step.emit("unknown.hook", data, level="debug")


def _notice(kind: str, read: Callable[[dict[str, Any]], Any]) -> Callable[[Step, HookReceived], None]:
    """A handler that records one event and opens no run."""

    def hook(step: Step, received: HookReceived) -> None:
        step.emit(kind, read(received.event.payload))

    return hook


_model_switch = partial(read_fields, notice_data.ModelSwitchData)
_worktree = partial(read_fields, WorktreeData, by=None, base=None)
"""A hook cannot say that a person ordered it."""

NOTICE_HANDLERS: Mapping[EventName, Callable[[Step, HookReceived], None]] = {
    EventName.NOTIFICATION: _notice("notification", partial(read_fields, notice_data.NotificationData)),
    EventName.COMPACT_BEFORE: _notice(
        "compact.pre", lambda p: read_fields(CompactPreData, p, trigger=text(p, "trigger", "auto"))
    ),
    EventName.COMPACT_AFTER: _notice(
        "compact.post", lambda p: read_fields(CompactPostData, p, trigger=text(p, "trigger", "auto"))
    ),
    EventName.SETUP: _notice("setup", lambda p: SetupData(trigger=text(p, "trigger", "init"))),
    EventName.INSTRUCTIONS_LOADED: _notice(
        "instructions.loaded", partial(read_fields, notice_data.InstructionsLoadedData)
    ),
    EventName.CWD_CHANGED: _notice("cwd.changed", partial(read_fields, notice_data.CwdChangedData)),
    EventName.FILE_CHANGED: _notice("file.changed", partial(read_fields, notice_data.FileChangedData)),
    EventName.DIRECTORY_ADDED: _notice("directory.added", partial(read_fields, notice_data.DirectoryAddedData)),
    EventName.CONFIG_CHANGED: _notice("config.changed", partial(read_fields, notice_data.ConfigChangedData)),
    EventName.MODEL_BEFORE: _notice("model.pre", _model_switch),
    EventName.MODEL_AFTER: _notice("model.post", _model_switch),
    EventName.TEAMMATE_IDLE: _notice("teammate.idle", partial(read_fields, notice_data.TeammateIdleData)),
    EventName.WORKTREE_CREATED: _notice("worktree.create", _worktree),
    EventName.WORKTREE_REMOVED: _notice("worktree.remove", _worktree),
}
