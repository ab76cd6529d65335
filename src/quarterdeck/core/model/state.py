"""What is known now: sessions, runs, open requests. Frozen; equal to the fold of the log."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.event_data import Counters, DecisionData, Spent, Usage
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.unattended_policy import Policy


class Settings(Struct, frozen=True, kw_only=True):
    """What a person configured about deciding; and of this machine the person's real home, ours, whether its file names
    ignore case, and what guards the agents."""

    hold: str = "auto"
    wait_seconds: float = 86400.0
    hold_stop: bool = False
    unattended: Policy = Policy()
    home: str = "/"
    our_home: str = ""
    case_folds: bool = False
    guarded: tuple[str, ...] = ()
    max_sessions: int = 20
    idle_seconds: float = 0.0
    approval_seconds: float = 86400.0


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
    """Who acts in a session."""

    actor_id: str
    kind: str
    display_name: str
    agent_type: str | None = None
    parent_actor_id: str | None = None


class Todo(Struct, frozen=True, kw_only=True):
    """One item of the agent's own list: open, doing, blocked or done."""

    todo_id: str
    text: str
    status: str = "open"


class ProcessId(Struct, frozen=True, gc=False):
    """One process for good: a pid comes again, with the time it started it does not."""

    pid: int
    start: str


class Scroll(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far one file of a transcript is read, and what it has said so far. `recent` are the latest messages, whose
    usage may still be corrected; `last_at` is when the latest one was said."""

    offset: int = 0
    file_id: int = 0
    usage: Usage = Usage()
    prompts: int = 0
    messages: int = 0
    tools: int = 0
    last_at: float = 0.0
    recent: dict[str, Spent] = field(default_factory=dict)
    malformed: int = 0
    skipped_lines: int = 0
    skipped_bytes: int = 0


class Transcript(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session's transcript says. `scrolls` are its files: the main one under "", a sub-agent's under its id.
    What a fork's file says of the time before `forked_at` is its parent's, and was said there."""

    forked_at: float = 0.0
    scrolls: dict[str, Scroll] = field(default_factory=dict)
    context_tokens: int | None = None
    reported_cost_usd: float | None = None
    named: bool = False
    error: str | None = None
    missing: tuple[str, ...] = ()
    summed_up: bool = False


class Ours(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a session because we run it. `handle` is the id it was started with; `status` is starting, up,
    ending or down, or moved when the agent goes on under another id. `queued` are the messages that the agent is not
    known to have heard, None for the prompt it was started with; `given` says that it was given the first of them,
    `interrupted` that somebody interrupted the turn which has not ended yet."""

    handle: str
    by: str
    launched_at: float
    status: str = "starting"
    terminal: str | None = None
    worktree: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    shell: bool = False
    moved_to: str | None = None
    next_mode: str | None = None
    ended_by: str | None = None
    answered: bool = False
    queued: tuple[str | None, ...] = ()
    given: bool = False
    interrupted: bool = False

    @property
    def runs(self) -> bool:
        return self.status in ("starting", "up", "ending")


class Session(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent conversation. `waiting` maps its open requests to their kind, `sent` the tool calls whose
    decision was sent and not yet seen to take effect to their request. `state_at` is when the state was last said
    or changed, `heard_at` when a hook last said it, `process` who runs it where that was once seen, `background` what
    still ran when the agent last stopped, `last_run_id` the run that ended last."""

    session_id: str
    started_at: float
    last_event_at: float
    ended_at: float | None = None
    mode: str = "observed"
    agent_state: AgentState = AgentState.UNKNOWN
    state_source: str = "hooks"
    state_at: float = 0.0
    heard_at: float = 0.0
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
    usage: Usage | None = None
    transcript: Transcript = Transcript()
    ours: Ours | None = None

    @property
    def runs_here(self) -> bool:
        """Whether it is a session that we started and that still runs."""
        return self.ours is not None and self.ours.runs

    @property
    def has_terminal(self) -> bool:
        """Whether what nobody decides here can be asked elsewhere: the desk is all that an SDK session has."""
        return self.mode != "sdk" or not self.runs_here


class Token(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A credential somebody made; `kind` is token, or page for a signed-in browser."""

    token_id: str
    name: str
    scopes: tuple[str, ...]
    verifier: str
    created_at: float
    created_by: str
    kind: str = "token"
    expires_at: float | None = None


class Request(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What waits, or waited, for a decision; `escalated` are the channels that were told of it, `enforced` says that
    the tool is blocked unless a decision lets it run."""

    request_id: str
    kind: str
    session_id: str
    run_id: str
    event_id: str
    seq_no: int
    hook_name: str
    tool_name: str
    tool_input: dict[str, Any]
    digest: str
    opened_at: float
    held: bool
    holder: str
    enforced: bool = False
    form: str | None = None
    tool_use_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    expires_at: float | None = None
    suggestions: list[Any] = []
    cwd: str = ""
    path: str | None = None
    status: str = "pending"
    decision: DecisionData | None = None
    decided_at: float | None = None
    delivery: str | None = None
    escalated: tuple[str, ...] = ()
    escalated_at: float | None = None


class Hits(Struct, frozen=True, gc=False):
    """How often a rule has decided, and when last."""

    count: int = 0
    last_at: float | None = None


class State(Struct, frozen=True, kw_only=True):
    """Everything `reduce` knows. `ended` sessions are kept apart so that live ones stay cheap to copy;
    `trust` says of a folder how far it is trusted, `changed_settings` are those last seen to differ from their default,
    `own_seq` counts what concerns no session."""

    runner_id: str
    settings: Settings = Settings()
    seq_no: int = 0
    sessions: dict[str, Session] = field(default_factory=dict)
    ended: dict[str, Session] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)
    rule_hits: dict[str, Hits] = field(default_factory=dict)
    trust: dict[str, str] = field(default_factory=dict)
    changed_settings: dict[str, str] = field(default_factory=dict)
    own_seq: int = 0
