"""The protocols between the API and what it serves, a daemon or a hub: one for each topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from quarterdeck.config.effective import EffectiveSetting
from quarterdeck.core.deck.render_model import RenderModel
from quarterdeck.core.engine.deck_layout import DeckLayout
from quarterdeck.core.engine.deck_messages import DeckCommand
from quarterdeck.core.engine.messages import CommandReply, CreateToken, ElevateToken, Remember
from quarterdeck.core.engine.session_messages import SessionCommand
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.event_data.admin_data import McpChangeData, PluginChangeData
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Capabilities, Request, RuleHits, Session, Token
from quarterdeck.core.risk.breakdown import RequestBreakdown
from quarterdeck.core.rules.file_format import RuleSpec
from quarterdeck.core.rules.lint import LintFinding
from quarterdeck.core.rules.rulebook import Explanation
from quarterdeck.core.rules.simulation import PastPage
from quarterdeck.core.rules.suggestions import Suggestion
from quarterdeck.core.text.audit.audit_row import AuditRow
from quarterdeck.core.workspace.project_config import FolderConfig
from quarterdeck.core.workspace.projects import ProjectEntry, Scan
from quarterdeck.core.workspace.worktrees import Worktree, WorktreeDiff
from quarterdeck.drivers.extensions import Extensions
from quarterdeck.sessions.launcher import ScreenViewer
from quarterdeck.store.reader import ActorActivity, AuditQuery, EventPage, FeedQuery, Lineage, RunEvents
from quarterdeck.views.counts.series import SeriesAnswer, SeriesQuery
from quarterdeck.views.health import DaemonFacts


class RunnerEntry(Struct, frozen=True, kw_only=True):
    """One machine: `state` is ready, or away while it cannot be reached, `seq_no` the last event that is known here,
    `since` when it came into this state."""

    runner_id: str
    name: str
    version: str
    state: str
    seq_no: int
    since: float


class RunnerBackend(Protocol):
    """The machines that are served."""

    def all(self) -> list[RunnerEntry]: ...


class HealthBackend(Protocol):
    """How the daemon is."""

    @property
    def status(self) -> str:
        """`ok`; `nearly_full` when only decisions are recorded; `read_only` when nothing is, as the log is
        damaged; `not_recording` while it cannot be written."""

    @property
    def trouble(self) -> str | None:
        """The reason why nothing can be recorded; None when all is well."""

    @property
    def settings(self) -> list[EffectiveSetting]:
        """The settings in force, without secrets."""

    def stats(self) -> dict[str, Any]:
        """The numbers of `GET /stats`."""

    def facts(self) -> DaemonFacts:
        """What the daemon knows about itself."""


class FeedBackend(Protocol):
    """The log: its events, and the audit."""

    @property
    def seq_no(self) -> int:
        """The position of the last event."""

    async def can_resume(self, after: int) -> bool:
        """True when every event after this position can still be read."""

    async def events(self, query: FeedQuery) -> EventPage: ...

    async def event(self, name: str) -> tuple[FeedEvent, Lineage] | None:
        """The event with this id or number, with its causes and effects."""

    async def payload(self, event: FeedEvent) -> dict[str, Any] | None:
        """The hook's payload that an event was made from, if it was kept."""

    async def run_events(self, session_id: str, after: int | None, before: int | None, limit: int) -> RunEvents:
        """The events that the runs of a session are made of."""

    async def activity(self, session_id: str) -> dict[str, ActorActivity]:
        """The activity of every actor of a session."""

    async def audit(self, query: AuditQuery) -> list[AuditRow]: ...


class CountBackend(Protocol):
    """The counts over time."""

    async def series(self, query: SeriesQuery) -> SeriesAnswer:
        """The series of a query that fits. Raises `Refused` while the counts cannot be read."""


class SessionBackend(Protocol):
    """Sessions, commands to owned ones, and their terminals."""

    def all(self) -> list[Session]: ...

    def live(self) -> list[Session]: ...

    def get(self, session_id: str) -> Session | None: ...

    async def find(self, session_id: str) -> Session | None:
        """The session; scans for transcripts again when it is newer than the last scan."""

    def resume_command(self, session: Session) -> str | None:
        """The command with which a person continues a session; None for an id that it would read as an option."""

    def capabilities(self, session: Session) -> Capabilities | None:
        """What the session's agent can do; None for an agent that is not known here."""

    def memory(self, session: Session) -> int | None:
        """Memory of the session's agent in bytes; None when unknown."""

    async def panes(self, sessions: Sequence[Session]) -> Mapping[str, str]:
        """Per session id, the command that shows its pane, for sessions that run in the user's own tmux."""

    async def execute(self, command: SessionCommand) -> CommandReply:
        """Run a command to its end and return the outcome."""

    async def view(self, session: Session, cols: int, rows: int, seen: Callable[[bytes], None]) -> ScreenViewer:
        """Open a view of a session's terminal; `seen` receives its output. Raises `Refused` when there is none."""

    async def screen(self, session: Session) -> str: ...


class WorktreeBackend(Protocol):
    """The worktrees of owned sessions. Raises `Refused` when something cannot be done."""

    async def all(self) -> list[Worktree]: ...

    async def diff(self, worktree: Worktree) -> WorktreeDiff: ...

    async def merge(self, worktree: Worktree, by: str) -> None: ...

    async def discard(self, worktree: Worktree, by: str, *, force: bool) -> None: ...


class RequestBackend(Protocol):
    """Requests, their risk, and decisions on them."""

    def pending(self) -> list[Request]: ...

    async def page(self, status: str | None, after: int, limit: int) -> list[Request]: ...

    async def get(self, request_id: str) -> Request | None: ...

    def holder(self, request: Request) -> str:
        """Where the agent is that waits for this request: connected, reconnecting or gone."""

    def risk(self, request: Request) -> Risk:
        """The risk of a request as far as it is known now; `assess` makes it complete."""

    def needs_second_key(self, level: str) -> bool:
        """True if a person must confirm an allow at this level of risk."""
        ...

    async def assess(self, requests: Sequence[Request]) -> None:
        """Compute the full risk of these requests, plug-ins included."""

    async def breakdown(self, request: Request) -> RequestBreakdown:
        """The request broken down: its commands, its diff and its full risk."""

    def agent_suggestions(self, request: Request) -> list[str]:
        """The agent's own rule suggestions, as sentences."""

    async def decide(
        self,
        request_id: str,
        decision: Decision,
        digest: str,
        by: str,
        note: str | None,
        remember: Remember | None = None,
    ) -> CommandReply: ...


class ExplainedUse(Struct, frozen=True, kw_only=True):
    """The verdict of the rules on a tool use, the patterns a rule could be made with, and, where no rule applies, the
    rules of the agent's own settings that allow it, each with its file."""

    explanation: Explanation
    patterns: tuple[str, ...]
    own_allows: tuple[str, ...]


class RuleBackend(Protocol):
    """Rules: made, explained, simulated, suggested."""

    def all(self) -> list[tuple[Rule, RuleHits | None]]:
        """Every rule with its hits, oldest first."""

    async def findings(self) -> list[LintFinding]:
        """Conflicts, and rules that never apply."""

    async def add(self, spec: RuleSpec, by: str) -> CommandReply: ...

    async def add_many(self, specs: Sequence[RuleSpec], by: str, *, is_trial: bool) -> CommandReply:
        """Create all rules that do not exist yet, or none of them. A trial only returns what would be created."""

    async def remove(self, rule_id: str, by: str) -> CommandReply: ...

    async def simulate(self, spec: RuleSpec, before: int | None, limit: int) -> PastPage | CommandReply:
        """The requests before a position that a rule would have decided; a reply when the rule is invalid."""

    async def suggestions(self) -> tuple[list[Suggestion], int]:
        """Rules that past decisions imply, and how many requests were examined."""

    async def explain(
        self,
        request_id: str | None,
        tool_name: str,
        tool_input: dict[str, Any],
        session_id: str | None,
        cwd: str | None,
    ) -> ExplainedUse | None:
        """The verdict of the rules now; None for an unknown request."""


class ProjectBackend(Protocol):
    """The projects of this machine, and the trust in folders."""

    @property
    def progress(self) -> Scan:
        """The progress of the latest scan for projects."""

    async def entries(self) -> list[ProjectEntry]:
        """Every project, ordered by path."""

    async def scan(self, seconds: float, *, refresh: bool) -> Scan:
        """Scan for projects, and wait this many seconds at most for the end. `refresh` asks git about every project,
        changed or not."""

    async def config(self, path: str) -> FolderConfig | None:
        """The hooks, servers and settings that a folder's own files carry; None when there is no such folder."""

    async def trusted_folder(self, path: str) -> str | None:
        """The real path of a folder that is trusted for plug-ins and MCP servers; None for any other."""

    def trust_of(self, path: str) -> str | None:
        """The trust in a folder; None when it was never set for it or a folder above it."""

    async def trust(self, path: str, trust: str, by: str) -> CommandReply: ...


class ExtensionBackend(Protocol):
    """The agent's plugins and MCP servers."""

    @property
    def agent(self) -> Extensions:
        """The plugins and MCP servers themselves. Raises `Refused` when the agent has none."""

    async def record(self, change: PluginChangeData | McpChangeData) -> CommandReply:
        """Record a change to a plugin or an MCP server, done or failed."""


class TokenBackend(Protocol):
    """The created credentials."""

    def all(self) -> list[Token]: ...

    async def create(self, command: CreateToken) -> CommandReply: ...

    async def elevate(self, command: ElevateToken) -> CommandReply: ...

    async def revoke(self, token_id: str, by: str) -> CommandReply: ...


class DeckBackend(Protocol):
    """The key deck."""

    @property
    def layout(self) -> DeckLayout:
        """The layout in force."""

    def now(self) -> float: ...

    def model(self) -> RenderModel:
        """What a deck shows now."""

    def current(self) -> RenderModel:
        """The model for a client that begins to follow it."""

    def away(self) -> tuple[str, ...]:
        """The requests whose agent has not come back after a restart."""

    async def execute(self, command: DeckCommand) -> CommandReply: ...


class Backend(Struct, frozen=True, kw_only=True):
    """Everything that the API serves. An endpoint names the parts that it needs."""

    runner_id: str
    runners: RunnerBackend
    health: HealthBackend
    feed: FeedBackend
    counts: CountBackend
    sessions: SessionBackend
    worktrees: WorktreeBackend
    requests: RequestBackend
    rules: RuleBackend
    projects: ProjectBackend
    extensions: ExtensionBackend
    tokens: TokenBackend
    deck: DeckBackend
