"""Questions the loop has about an input before it is reduced, or after it could not be recorded."""

from __future__ import annotations

from quarterdeck.core.engine.deck_messages import DeckCommand, DispatchEnded
from quarterdeck.core.engine.messages import (
    AddRule,
    AddRules,
    Command,
    CreateToken,
    DaemonRestarted,
    Deadline,
    Decide,
    ElevateToken,
    ExtensionChanged,
    HookReceived,
    Input,
    InputRefused,
    NotifyFailed,
    RemoveRule,
    RevokeToken,
    RiskAssessed,
    StillWaiting,
    TranscriptRead,
    TrimLog,
    TrustProject,
    Unattended,
    WaiterGone,
)
from quarterdeck.core.engine.session_messages import (
    AgentExited,
    AgentStarted,
    CommandFailed,
    PromptDelivered,
    TurnEnded,
)
from quarterdeck.core.handlers.deck.presses import DECK
from quarterdeck.core.model.payload import obj, text

# A longer shell command may take longer to parse than the 50 ms for which the loop may stand still.
LONG_COMMAND = 1_000

NEVER_REPEATED = (
    Deadline,
    AgentExited,
    CommandFailed,
    PromptDelivered,
    WaiterGone,
    InputRefused,
    NotifyFailed,
    DaemonRestarted,
    RiskAssessed,
    StillWaiting,
    TurnEnded,
    Unattended,
    AgentStarted,
    DispatchEnded,
)
"""Inputs that the daemon makes itself: no client sends them again."""


def must_be_retried(input: Input) -> bool:
    """True if the loop must keep an input that could not be recorded, because no sender repeats it."""
    return isinstance(input, NEVER_REPEATED) or (isinstance(input, TranscriptRead) and bool(input.summary))


def is_slow(input: Input) -> bool:
    """True if deciding takes long: a new rule is matched against every waiting request, and a long shell command takes
    long to parse."""
    match input:
        case AddRule() | AddRules():
            return True
        case Decide(remember=remember):
            return remember is not None
        case HookReceived(event=event, paths=paths):
            return paths is not None and len(text(obj(event.payload, "tool_input"), "command")) > LONG_COMMAND
        case _:
            return False


def subject_id(command: Command) -> str:
    """The id of the thing that a command changes."""
    match command:
        case Decide(request_id=request_id):
            return request_id
        case TrimLog():
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
        case CreateToken() | ElevateToken() | RevokeToken():
            return command.token_id
        case command if isinstance(command, DeckCommand):
            return DECK
        case _:
            return command.session_id
