"""The state: sessions, runs, open requests, rules. Frozen; equal to the fold of the log."""

from __future__ import annotations

from typing import Any, Literal, get_args

from msgspec import Struct, field

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.event_data.request_data import DecisionData
from quarterdeck.core.model.event_data.session_data import Counters, MessageUsage, Usage
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.runtime_event import FIRST_AGENT, Context
from quarterdeck.core.model.tool_kinds import ToolTraits
from quarterdeck.core.model.unattended_policy import UnattendedPolicy


class Capabilities(Struct, frozen=True, kw_only=True):
    """What an agent can do: the `modes` in which Quarterdeck can run it, the `permission_modes` in which it can start;
    whether it continues a conversation, under its own id or a new one, and runs a tool with an input that a person
    edited. `label` is the agent's name for a person."""

    label: str
    modes: tuple[str, ...]
    permission_modes: tuple[str, ...]
    resumes: bool = True
    forks: bool = True
    edits_input: bool = True


class Settings(Struct, frozen=True, kw_only=True):
    """The configuration that `reduce` needs, and facts about this machine: the person's real home, the home of
    Quarterdeck, whether file names ignore case, whether it belongs to a hub, the paths an agent must not change
    (`guarded`): Quarterdeck's home and the agent's settings; and what each agent can do, by its name."""

    hold: str = "auto"
    wait_seconds: float = 86400.0
    hold_stop: bool = False
    confirm_high: bool = False
    unattended: UnattendedPolicy = UnattendedPolicy()
    home: str = "/"
    quarterdeck_home: str = field(default="", name="our_home")
    case_folds: bool = False
    in_hub: bool = False
    guarded: tuple[str, ...] = ()
    max_sessions: int = 20
    idle_seconds: float = 0.0
    approval_seconds: float = 86400.0
    capabilities: dict[str, Capabilities] = {}


class Run(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One prompt until its stop."""

    run_id: str
    started_at: float
    trigger: str
    prompt_preview: str | None = None
    seq: int = 0
    counters: Counters = Counters()
    subagent_ids: tuple[str, ...] = ()


class OpenTool(Struct, frozen=True, kw_only=True):
    """A tool call that was announced and has not ended."""

    event_id: str
    tool_name: str
    tool_input: dict[str, Any]
    agent_id: str | None = None


class Actor(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An agent or sub-agent of a session."""

    actor_id: str
    kind: str
    display_name: str
    agent_type: str | None = None
    parent_actor_id: str | None = None


class Todo(Struct, frozen=True, kw_only=True):
    """One item of the agent's to-do list: open, doing, blocked or done. `priority` is p0 for the most urgent, to p2."""

    todo_id: str
    text: str
    status: str = "open"
    priority: str | None = None
    details: str | None = None


class ProcessId(Struct, frozen=True, gc=False):
    """A unique process: the system reuses a pid, but not together with its start time."""

    pid: int
    start: str


class TranscriptCursor(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The read position in one transcript file, and the totals up to it. `recent` are the latest messages: later lines
    may still correct their usage. `last_at` is the time of the latest message."""

    offset: int = 0
    file_id: int = 0
    usage: Usage = Usage()
    prompts: int = 0
    messages: int = 0
    tools: int = 0
    last_at: float = 0.0
    recent: dict[str, MessageUsage] = field(default_factory=dict)
    malformed: int = 0
    skipped_lines: int = 0
    skipped_bytes: int = 0


class Transcript(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session's transcript. `cursors` are its files: the main one under "", a sub-agent's under its id. Messages of a
    fork from before `forked_at` belong to its parent, and are in the feed there."""

    forked_at: float = 0.0
    cursors: dict[str, TranscriptCursor] = field(default_factory=dict, name="scrolls")
    context_tokens: int | None = None
    reported_cost_usd: float | None = None
    named: bool = False
    error: str | None = None
    missing: tuple[str, ...] = ()
    is_summarized: bool = field(default=False, name="summed_up")


class Ownership(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The facts about a session that Quarterdeck runs. `handle` is the id it was started with, `forked_from` the
    conversation it began as a fork of; `status` is starting,
    up, ending, down, or moved when the agent continues under another id. `queued` are the messages that the agent has
    not confirmed, None for its first prompt; `delivered` says that the first of them reached the agent, `interrupted`
    that a person interrupted the turn that is still running."""

    handle: str
    by: str
    launched_at: float
    status: str = "starting"
    terminal: str | None = None
    worktree: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    shell: bool = False
    forked_from: str | None = None
    fork_at: str | None = None
    moved_to: str | None = None
    next_mode: str | None = None
    ended_by: str | None = None
    answered: bool = False
    queued: tuple[str | None, ...] = ()
    delivered: bool = field(default=False, name="given")
    interrupted: bool = False

    @property
    def runs(self) -> bool:
        return self.status in ("starting", "up", "ending")


class Session(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent conversation. `waiting` maps its open requests to their kind. `sent` maps tool calls to their
    request, from when the decision was sent until it is seen to take effect. `state_at` is when the state was last
    reported or changed, `hook_state_at` when a hook last reported it, `hook_at` when a hook last came,
    `hooks_lost_at` when it turned out that none come any more, `process` its process once that was seen, `background`
    the number of tasks still running when the agent last stopped, `last_run_id` the run that ended last, `last_error`
    why it failed, if it did, `retrying` why the agent waits before it tries again."""

    session_id: str
    started_at: float
    last_event_at: float
    ended_at: float | None = None
    mode: str = "observed"
    agent_state: AgentState = AgentState.UNKNOWN
    state_source: str = "hooks"
    state_at: float = 0.0
    hook_state_at: float = field(default=0.0, name="heard_at")
    hook_at: float = 0.0
    hooks_lost_at: float = 0.0
    process: ProcessId | None = None
    background: int = 0
    context: Context = Context()
    title: str = ""
    source: str | None = None
    model: str | None = None
    run: Run | None = None
    runs: int = 0
    seq_outside: int = 0
    totals: Counters = Counters()
    actors: dict[str, Actor] = field(default_factory=dict)
    open_tools: dict[str, OpenTool] = field(default_factory=dict)
    todos: dict[str, Todo] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)
    last_run_id: str = ""
    last_run_seq: int = 0
    last_text: str | None = None
    last_text_at: float | None = None
    last_error: str | None = None
    retrying: str | None = None
    usage: Usage | None = None
    transcript: Transcript = Transcript()
    owned: Ownership | None = field(default=None, name="ours")

    @property
    def agent(self) -> str:
        """The name of the agent."""
        return self.context.agent or FIRST_AGENT

    @property
    def runs_here(self) -> bool:
        """True for an owned session that still runs."""
        return self.owned is not None and self.owned.runs

    @property
    def has_terminal(self) -> bool:
        """True when a request can also be answered at a terminal; an SDK session has none, only Quarterdeck."""
        return self.mode != "sdk" or not self.runs_here


class Token(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A credential; `kind` is token, or for a signed-in device page, phone, editor or deck. `extra_scopes` are what it
    may do besides until `extra_until`."""

    token_id: str
    name: str
    scopes: tuple[str, ...]
    verifier: str
    created_at: float
    created_by: str
    kind: str = "token"
    expires_at: float | None = None
    extra_scopes: tuple[str, ...] = ()
    extra_until: float = 0.0

    def scopes_at(self, at: float) -> tuple[str, ...]:
        """What it may do at this time."""
        extra = self.extra_scopes if at < self.extra_until else ()
        return (*self.scopes, *(scope for scope in extra if scope not in self.scopes))


RequestStatus = Literal["pending", "decided", "withdrawn", "expired"]
REQUEST_STATUSES: tuple[RequestStatus, ...] = get_args(RequestStatus)


class Request(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request for a decision. `reconnects`: its waiter comes back after a restart. `risk` is its full risk, once that
    is assessed; `escalated` are the channels that were notified; `enforced` says that the tool is blocked unless a
    decision lets it run. `tool_risk` is what the agent's table says of a tool that has no kind of its own."""

    request_id: str
    kind: str
    session_id: str
    run_id: str
    event_id: str
    seq_no: int
    hook_name: str
    tool_name: str
    tool_kind: str = ""
    tool_risk: tuple[str, str] | None = None
    tool_input: dict[str, Any]
    digest: str
    opened_at: float
    held: bool
    waiter: str = field(name="holder")
    reconnects: bool = False
    enforced: bool = False
    form: str | None = None
    tool_use_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    expires_at: float | None = None
    agent: str = FIRST_AGENT
    suggestions: list[Any] = []
    cwd: str = ""
    path: str | None = None
    status: str = "pending"
    decision: DecisionData | None = None
    decided_at: float | None = None
    delivery: str | None = None
    risk: Risk | None = None
    escalated: tuple[str, ...] = ()
    escalated_at: float | None = None

    @property
    def tool(self) -> ToolTraits:
        """The traits of its tool."""
        return ToolTraits(kind=self.tool_kind, risk=self.tool_risk)


class RuleHits(Struct, frozen=True, gc=False):
    """The number of requests a rule has decided, and the time of the last."""

    count: int = 0
    last_at: float | None = None


class EditorTerminal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A terminal in an editor, known by its process and its tag; its place in the editor's list says nothing. The tag
    is the variable that the editor put into its environment."""

    terminal_id: str
    client_id: str
    pid: int | None = None
    tag: str = ""
    name: str = ""
    active: bool = False


class ArmedPrompt(Struct, frozen=True, kw_only=True):
    """The prompt that waits for Enter. `is_typed`: it already stands in the session's terminal."""

    prompt_id: str
    style: str
    is_typed: bool = False


class DeckDispatch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last text that the deck sent. `outcome` is sending, delivered or undelivered; `reason` says why."""

    message_id: str
    session_id: str
    route: str
    outcome: str
    at: float
    prompt_id: str | None = None
    reason: str | None = None


class DeckState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The operator's intent, and the terminals that editors report. `selected_terminal` or `selected_session` is what
    the roller chose, at `selected_at`; `active_at` is when an editor last showed another terminal. `shown_request` is
    the one that Next chose, `always_for` the request whose allow becomes a rule."""

    armed: ArmedPrompt | None = None
    page: int = 0
    selected_terminal: str | None = None
    selected_session: str | None = None
    selected_at: float = 0.0
    active_at: float = 0.0
    shown_request: str | None = None
    always_for: str | None = None
    dispatch: DeckDispatch | None = None
    terminals: dict[str, EditorTerminal] = field(default_factory=dict)


class State(Struct, frozen=True, kw_only=True):
    """Everything `reduce` knows. `ended` sessions are kept apart so that live ones stay cheap to copy; `trust` maps a
    folder to its level of trust, `changed_settings` are those last seen to differ from their default, `own_seq` counts
    the events that concern no session, `deck` is what the key deck is set to."""

    runner_id: str
    settings: Settings = Settings()
    seq_no: int = 0
    sessions: dict[str, Session] = field(default_factory=dict)
    ended: dict[str, Session] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)
    rule_hits: dict[str, RuleHits] = field(default_factory=dict)
    trust: dict[str, str] = field(default_factory=dict)
    changed_settings: dict[str, str] = field(default_factory=dict)
    own_seq: int = 0
    deck: DeckState = DeckState()
