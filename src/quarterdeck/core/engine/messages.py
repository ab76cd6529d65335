"""The inputs of `reduce` and its effects. An input says what happened; an effect says what to do."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.engine.deck_messages import DeckCommand, DeckEffect, DispatchEnded
from quarterdeck.core.engine.input_bases import RequestInput, SessionInput, SignedInput, TimedInput
from quarterdeck.core.engine.session_messages import SessionCommand, SessionEffect, SessionReport
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.event_data.admin_data import McpChangeData, PluginChangeData
from quarterdeck.core.model.event_data.session_data import MessageUsage
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.state import ProcessId, Request
from quarterdeck.core.text.notifications import Notice


class ResolvedPaths(Struct, frozen=True, gc=False, kw_only=True):
    """The real folder an agent works in and the real file its tool is about; None when it could not be resolved."""

    cwd: str
    path: str | None = None


class HookReceived(Struct, frozen=True, gc=False, kw_only=True):
    """A hook call. `waiter` is the kind of connection that waits, `reconnects` says that it comes back after a restart
    of the daemon; `attended` that someone is watching; `enforced` that it came through the gate, which blocks the tool
    unless it gets an allow."""

    event: RuntimeEvent
    waiter: str = "http"
    reconnects: bool = False
    attended: bool = False
    enforced: bool = False
    paths: ResolvedPaths | None = None


class Remember(Struct, frozen=True, gc=False, kw_only=True):
    """Makes a rule of the decision. Without `pattern`, the narrowest that covers the request. `agent_settings`: the
    agent's settings file that also gets it."""

    rule_id: str
    scope: str
    pattern: str | None = None
    expires_at: float | None = None
    note: str | None = None
    agent_settings: str | None = None


class Decide(RequestInput, frozen=True, gc=False, kw_only=True):
    """A person's decision on a request as it was shown, which `digest` proves. `prior` is a request that has left the
    live state, so that a late decision can still be recorded. `is_waiter_away`: no agent is connected to get it."""

    decision: Decision
    digest: str
    by: str
    note: str | None = None
    prior: Request | None = None
    is_waiter_away: bool = False
    remember: Remember | None = None


class Deadline(RequestInput, frozen=True, gc=False, kw_only=True):
    """The end of the time for an answer."""


class RiskAssessed(RequestInput, frozen=True, gc=False, kw_only=True):
    """The full risk of the request with this digest: with the real path of its file, and with plug-ins."""

    digest: str
    risk: Risk


class StillWaiting(RequestInput, frozen=True, gc=False, kw_only=True):
    """A request still unanswered after `waited` seconds of the monotonic clock; `minute` is that of the local day."""

    waited: float
    minute: int


class WaiterGone(RequestInput, frozen=True, gc=False, kw_only=True):
    """A connection on which the agent no longer waits. `is_lost`: it did not reconnect after a restart."""

    is_lost: bool = False


class ProcessSeen(SessionInput, frozen=True, gc=False, kw_only=True):
    """The content of the agent's own process file, valid since `changed_at`; `answered` are the requests whose dialog
    has closed."""

    status: str
    changed_at: float
    process: ProcessId
    answered: tuple[str, ...] = ()
    waiting_for: str | None = None


class ProcessGone(SessionInput, frozen=True, gc=False, kw_only=True):
    """A session whose process has exited, or runs another session."""

    process: ProcessId
    reason: str = "process_gone"


class TimePassed(TimedInput, frozen=True, gc=False, kw_only=True):
    """A regular tick, to find stale sessions and rules."""


class TranscriptMessage(Struct, frozen=True, gc=False, kw_only=True):
    """A message of the model in its transcript: the text that is new, and its whole usage so far. A fork can begin at
    its `point`."""

    usage: MessageUsage
    text: str = ""
    text_bytes: int | None = None
    at: float = 0.0
    agent_id: str | None = None
    point: str | None = None


class TranscriptPart(Struct, frozen=True, gc=False, kw_only=True):
    """The content of the first `size` bytes of some lines."""

    size: int = 0
    messages: tuple[TranscriptMessage, ...] = ()
    prompts: int = 0
    context_tokens: int | None = None
    title: str | None = None
    titled_by_user: bool = False
    reported_cost_usd: float | None = None
    error: str | None = None
    malformed: int = 0
    skipped_lines: int = 0
    missing: tuple[str, ...] = ()


class TranscriptRead(SessionInput, frozen=True, gc=False, kw_only=True):
    """A further part of a transcript. `start` is the position it was read from, which must be that of the cursor in the
    state; `is_restart` says that the file is another one, or shorter. `summary` requests a summary and says why. `path`
    is the file, empty for a summary alone."""

    start: int = 0
    offset: int = 0
    agent_id: str | None = None
    file_id: int = 0
    is_restart: bool = False
    part: TranscriptPart = TranscriptPart()
    skipped_bytes: int = 0
    summary: str = ""
    path: str = ""


class Unattended(TimedInput, frozen=True, gc=False, kw_only=True):
    """The last person has left: agents without a dialog of their own must not wait any longer."""


class DaemonRestarted(TimedInput, frozen=True, gc=False, kw_only=True):
    """A restart of the daemon: earlier connections are gone, and some come back. `settings` are those that differ from
    their default."""

    settings: dict[str, str] = {}


class CreateToken(SignedInput, frozen=True, gc=False, kw_only=True):
    """Make a credential; `verifier` is its SHA-256."""

    token_id: str
    name: str
    scopes: tuple[str, ...]
    verifier: str
    kind: str = "token"
    expires_at: float | None = None


class ElevateToken(SignedInput, frozen=True, gc=False, kw_only=True):
    """Let a device do more until a time."""

    token_id: str
    scopes: tuple[str, ...]
    until: float


class RevokeToken(SignedInput, frozen=True, gc=False, kw_only=True):
    """Revoke a credential."""

    token_id: str


class AddRule(SignedInput, frozen=True, gc=False, kw_only=True):
    """Add a rule."""

    rule: Rule


class AddRules(SignedInput, frozen=True, gc=False, kw_only=True):
    """Add several rules at once: all that do not exist yet, or none if one is invalid. With `is_trial` they are only
    checked."""

    rules: tuple[Rule, ...]
    is_trial: bool = False


class RemoveRule(SignedInput, frozen=True, gc=False, kw_only=True):
    """Remove a rule."""

    rule_id: str


class TrustProject(SignedInput, frozen=True, gc=False, kw_only=True):
    """Set the trust in a folder: none, rules or full."""

    path: str
    trust: str


class TrimLog(TimedInput, frozen=True, gc=False, kw_only=True):
    """Announce that the oldest events are about to leave the log."""

    upto: int
    events: int
    why: str


class ExtensionChanged(TimedInput, frozen=True, gc=False, kw_only=True):
    """The outcome of a change of a plugin or an MCP server, made through the agent."""

    change: PluginChangeData | McpChangeData


class NotifyFailed(TimedInput, frozen=True, gc=False, kw_only=True):
    """A channel that could not send the notification of these requests."""

    channel: str
    request_ids: tuple[str, ...]
    error: str


class DaemonStopping(TimedInput, frozen=True, gc=False, kw_only=True):
    """The daemon is about to stop: waiting requests must be released. With `spares_sdk`, SDK sessions are interrupted
    next instead: releasing them would deny their tool call. With `spares_reconnecting`, a restart may follow, and what
    comes back to the next daemon waits on."""

    spares_sdk: bool = False
    spares_reconnecting: bool = False


class DecisionRefused(SignedInput, frozen=True, gc=False, kw_only=True):
    """A refused decision of a client that may not decide: its `attempt`, and the `reason` of the refusal."""

    attempt: str
    reason: str
    agent_session_id: str | None = None
    request_id: str | None = None
    pid: int | None = None
    command: str | None = None


class InputRefused(Struct, frozen=True, gc=False, kw_only=True):
    """An input that broke the rules of the envelope; it is recorded, never dropped in silence."""

    event: RuntimeEvent
    error: str


Command = (
    Decide
    | CreateToken
    | ElevateToken
    | RevokeToken
    | AddRule
    | AddRules
    | RemoveRule
    | TrustProject
    | TrimLog
    | ExtensionChanged
    | SessionCommand
    | DeckCommand
)
"""Inputs with a client that waits; each gets a CommandReply."""

Input = (
    Command
    | SessionReport
    | HookReceived
    | Deadline
    | RiskAssessed
    | StillWaiting
    | WaiterGone
    | ProcessSeen
    | ProcessGone
    | TimePassed
    | TranscriptRead
    | Unattended
    | DaemonRestarted
    | NotifyFailed
    | DaemonStopping
    | DecisionRefused
    | DispatchEnded
    | InputRefused
)


class SendAnswer(Struct, frozen=True, gc=False, kw_only=True):
    """Answer the agent that waits on this event. Sent exactly once per hook received."""

    event_id: str
    decision: Decision
    request: Request | None = None


class WakeAfter(Struct, frozen=True, gc=False, kw_only=True):
    """Send a Deadline for this request after this many seconds of the monotonic clock."""

    request_id: str
    seconds: float


class CheckAfter(Struct, frozen=True, gc=False, kw_only=True):
    """Send a StillWaiting for this request after this many seconds of the monotonic clock."""

    request_id: str
    seconds: float


class Notify(Struct, frozen=True, gc=False, kw_only=True):
    """Notify a person through each of these channels, as long as one of the requests still waits."""

    notice: Notice
    channels: tuple[str, ...]


class Unwatch(Struct, frozen=True, gc=False, kw_only=True):
    """Cancel the deadline of a request, and stop watching its process."""

    request_id: str


class CommandReply(Struct, frozen=True, gc=False, kw_only=True):
    """Report the outcome of a command: applied, or an error kind of the API. `request_id` is the id of the thing the
    command was about, `rule` and `rules` are those it added, `also_decided` the other requests it decided."""

    request_id: str
    outcome: str
    request: Request | None = None
    message: str = ""
    rule: Rule | None = None
    rules: tuple[Rule, ...] = ()
    also_decided: tuple[str, ...] = ()


Effect = SendAnswer | WakeAfter | CheckAfter | Notify | Unwatch | CommandReply | SessionEffect | DeckEffect
