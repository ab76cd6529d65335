"""What comes into `reduce` and what goes out: an input is told, an effect is an order."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.core.engine.notifications import Notice
from quarterdeck.core.engine.session_messages import News, Order, Work
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.event_data import McpChangeData, PluginChangeData, Spent
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.state import ProcessId, Request


class Places(Struct, frozen=True, gc=False, kw_only=True):
    """Where an agent works and which file its tool is about, with every link followed; None when that could not be
    found out."""

    cwd: str
    path: str | None = None


class Heard(Struct, frozen=True, gc=False, kw_only=True):
    """An agent said something. `holder` names the kind of connection; `attended` whether a person is near; `enforced`
    that it came through the gate which blocks the tool when it hears nothing good."""

    event: RuntimeEvent
    holder: str = "http"
    attended: bool = False
    enforced: bool = False
    places: Places | None = None


class Remember(Struct, frozen=True, gc=False, kw_only=True):
    """A decision shall hold from now on; without a pattern by the narrowest that covers what was asked. `agent_keeper`
    is where the agent itself shall keep it too: its session, or its local, project or user settings."""

    rule_id: str
    scope: str
    pattern: str | None = None
    expires_at: float | None = None
    note: str | None = None
    agent_keeper: str | None = None


class Decide(Struct, frozen=True, gc=False, kw_only=True):
    """A person decides a request as it was shown, which `digest` proves. `prior` is a request that has left
    the live state, so that a late decision can still be recorded."""

    request_id: str
    decision: Decision
    digest: str
    by: str
    at: float
    note: str | None = None
    prior: Request | None = None
    remember: Remember | None = None


class Deadline(Struct, frozen=True, gc=False, kw_only=True):
    """The time for an answer has passed."""

    request_id: str
    at: float


class StillWaiting(Struct, frozen=True, gc=False, kw_only=True):
    """Nobody has answered for `waited` seconds of a clock that nobody sets; `minute` is that of the local day."""

    request_id: str
    waited: float
    minute: int
    at: float


class HolderGone(Struct, frozen=True, gc=False, kw_only=True):
    """The agent no longer waits on this connection."""

    request_id: str
    at: float


class ProcessSeen(Struct, frozen=True, gc=False, kw_only=True):
    """What the agent's own process file says, since `changed_at`; `answered` are the requests whose dialog has
    closed."""

    session_id: str
    status: str
    at: float
    changed_at: float
    process: ProcessId
    answered: tuple[str, ...] = ()
    waiting_for: str | None = None


class ProcessGone(Struct, frozen=True, gc=False, kw_only=True):
    """The process that ran a session has ended, or runs another one."""

    session_id: str
    process: ProcessId
    at: float
    reason: str = "process_gone"


class TimePassed(Struct, frozen=True, gc=False, kw_only=True):
    """Told now and then: what was last heard of may be stale."""

    at: float


class Said(Struct, frozen=True, gc=False, kw_only=True):
    """A message of the model as its transcript has it: the text that is new, and all it has used so far."""

    spent: Spent
    text: str = ""
    text_bytes: int | None = None
    at: float = 0.0
    agent_id: str | None = None


class TranscriptRead(Struct, frozen=True, gc=False, kw_only=True):
    """A further part of a transcript. `start` is how far it had been read before, which must be how far we know it
    read; `afresh` that the file is another one, or shorter. `summary` asks for a summary and says why."""

    session_id: str
    at: float
    start: int = 0
    offset: int = 0
    agent_id: str | None = None
    file_id: int = 0
    afresh: bool = False
    said: tuple[Said, ...] = ()
    prompts: int = 0
    context_tokens: int | None = None
    title: str | None = None
    titled_by_user: bool = False
    reported_cost_usd: float | None = None
    error: str | None = None
    malformed: int = 0
    skipped_lines: int = 0
    skipped_bytes: int = 0
    missing: tuple[str, ...] = ()
    summary: str = ""


class Unattended(Struct, frozen=True, gc=False, kw_only=True):
    """Nobody is near any more: who has no dialog of its own must not wait for us."""

    at: float


class Restarted(Struct, frozen=True, gc=False, kw_only=True):
    """We came back: connections of before are gone. `settings` are those that differ from their default."""

    at: float
    settings: dict[str, str] = {}


class CreateToken(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody makes a credential; `verifier` is its SHA-256."""

    token_id: str
    name: str
    scopes: tuple[str, ...]
    verifier: str
    by: str
    at: float
    kind: str = "token"
    expires_at: float | None = None


class RevokeToken(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody takes a credential back."""

    token_id: str
    by: str
    at: float


class AddRule(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody makes a standing decision."""

    rule: Rule
    by: str
    at: float


class AddRules(Struct, frozen=True, kw_only=True):
    """Somebody makes several standing decisions at once: all that do not stand yet, or with one that cannot be made,
    none. With `is_trial` they are only looked at."""

    rules: tuple[Rule, ...]
    by: str
    at: float
    is_trial: bool = False


class RemoveRule(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody takes a standing decision back."""

    rule_id: str
    by: str
    at: float


class TrustProject(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody says how far a folder is trusted: none, rules or full."""

    path: str
    trust: str
    by: str
    at: float


class Trimming(Struct, frozen=True, gc=False, kw_only=True):
    """The oldest events are about to leave the log."""

    upto: int
    events: int
    why: str
    at: float


class ExtensionChanged(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody had the agent change a plugin or an MCP server, and this is how it ended."""

    change: PluginChangeData | McpChangeData
    at: float


class NotifyFailed(Struct, frozen=True, gc=False, kw_only=True):
    """A channel could not tell anybody of these requests."""

    channel: str
    request_ids: tuple[str, ...]
    error: str
    at: float


class Stopping(Struct, frozen=True, gc=False, kw_only=True):
    """We are about to stop: everybody who waits must be let go. Who asks through an SDK is interrupted with its session
    instead, where that comes next: to let it go would deny what it asked for."""

    at: float
    spares_sdk: bool = False


class DecisionRefused(Struct, frozen=True, gc=False, kw_only=True):
    """Somebody who may not decide tried `wanted`; `reason` says why not."""

    wanted: str
    by: str
    reason: str
    at: float
    agent_session_id: str | None = None
    request_id: str | None = None
    pid: int | None = None
    command: str | None = None


class InputRefused(Struct, frozen=True, gc=False, kw_only=True):
    """A client broke the envelope's promise; it is recorded, never dropped in silence."""

    event: RuntimeEvent
    error: str


Command = (
    Decide
    | CreateToken
    | RevokeToken
    | AddRule
    | AddRules
    | RemoveRule
    | TrustProject
    | Trimming
    | ExtensionChanged
    | Order
)
"""What somebody wants and waits for; each gets a Reply."""

Input = (
    Command
    | News
    | Heard
    | Deadline
    | StillWaiting
    | HolderGone
    | ProcessSeen
    | ProcessGone
    | TimePassed
    | TranscriptRead
    | Unattended
    | Restarted
    | NotifyFailed
    | Stopping
    | DecisionRefused
    | InputRefused
)


class Answer(Struct, frozen=True, gc=False, kw_only=True):
    """Tell the agent that waits on this event. Sent exactly once per event heard."""

    event_id: str
    decision: Decision
    request: Request | None = None


class WakeAfter(Struct, frozen=True, gc=False, kw_only=True):
    """Send a Deadline for this request after so many seconds of a clock that nobody sets."""

    request_id: str
    seconds: float


class LookAfter(Struct, frozen=True, gc=False, kw_only=True):
    """Send a StillWaiting for this request after so many seconds of that clock."""

    request_id: str
    seconds: float


class Notify(Struct, frozen=True, gc=False, kw_only=True):
    """Tell a person, by each of these channels, as long as one of the requests still waits."""

    notice: Notice
    channels: tuple[str, ...]


class Unwatch(Struct, frozen=True, gc=False, kw_only=True):
    """The request is over: no deadline, no watching of its process."""

    request_id: str


class Reply(Struct, frozen=True, gc=False, kw_only=True):
    """Tell the person how their command ended: `outcome` is applied or an error kind of the API. `request_id` is what
    the command was about, `rule` the one that was made, `rules` those, `also` the other requests it decided."""

    request_id: str
    outcome: str
    request: Request | None = None
    message: str = ""
    rule: Rule | None = None
    rules: tuple[Rule, ...] = ()
    also: tuple[str, ...] = ()


Effect = Answer | WakeAfter | LookAfter | Notify | Unwatch | Reply | Work
