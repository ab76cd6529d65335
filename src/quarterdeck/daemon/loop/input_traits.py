"""What the loop must know of an input before it is reduced, or when it could not be recorded."""

from __future__ import annotations

from quarterdeck.core.engine.messages import (
    AddRule,
    AddRules,
    Command,
    CreateToken,
    Deadline,
    Decide,
    ExtensionChanged,
    Heard,
    HolderGone,
    Input,
    InputRefused,
    NotifyFailed,
    RemoveRule,
    Restarted,
    RevokeToken,
    StillWaiting,
    TranscriptRead,
    Trimming,
    TrustProject,
    Unattended,
)
from quarterdeck.core.engine.session_messages import Down, Failed, Given, TurnEnded, Up
from quarterdeck.core.model.payload import obj, text

LONG_COMMAND = 1_000

SAID_ONCE = (
    Deadline,
    Down,
    Failed,
    Given,
    HolderGone,
    InputRefused,
    NotifyFailed,
    Restarted,
    StillWaiting,
    TurnEnded,
    Unattended,
    Up,
)


def is_said_once(told: Input) -> bool:
    """Whether nobody would say it again when it could not be recorded."""
    return isinstance(told, SAID_ONCE) or (isinstance(told, TranscriptRead) and bool(told.summary))


def is_long(told: Input) -> bool:
    """Whether deciding takes its time: a new rule looks at all that waits, and some commands are long to read."""
    match told:
        case AddRule() | AddRules():
            return True
        case Decide(remember=remember):
            return remember is not None
        case Heard(event=event, places=places):
            return places is not None and len(text(obj(event.payload, "tool_input"), "command")) > LONG_COMMAND
        case _:
            return False


def about(command: Command) -> str:
    """The id of what a command is about."""
    match command:
        case Decide(request_id=request_id):
            return request_id
        case Trimming():
            return "log.trim"
        case AddRule(rule=rule):
            return rule.rule_id
        case AddRules():
            return "rules"
        case RemoveRule(rule_id=rule_id):
            return rule_id
        case TrustProject(path=path):
            return path
        case ExtensionChanged(change=change):
            return change.name
        case CreateToken() | RevokeToken():
            return command.token_id
        case _:
            return command.session_id
