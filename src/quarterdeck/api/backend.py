"""What the API asks of whoever it serves: a daemon, or a hub."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from quarterdeck.core.engine.messages import CreateToken, Remember, Reply
from quarterdeck.core.engine.session_messages import Order
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.event_data import McpChangeData, PluginChangeData
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Hits, Request, Session, Token
from quarterdeck.core.risk.assess import Risk
from quarterdeck.core.risk.breakdown import Insight
from quarterdeck.core.rules.file_format import RuleWanted
from quarterdeck.core.rules.lint import Finding
from quarterdeck.core.rules.rulebook import Explanation
from quarterdeck.core.rules.simulation import PastPage
from quarterdeck.core.rules.suggestions import Suggestion
from quarterdeck.core.text.audit_row import AuditRow
from quarterdeck.core.workspace.extensions import Marketplace, NewServer, Offer, Plugin, Server
from quarterdeck.core.workspace.project_config import Looked
from quarterdeck.core.workspace.projects import Listed, Scan
from quarterdeck.core.workspace.worktrees import Difference, Worktree
from quarterdeck.store.reader import AuditQuery, FeedQuery, Page


class ProjectShelf(Protocol):
    """The projects of whoever is served."""

    @property
    def progress(self) -> Scan:
        """How far the latest look for projects has come."""
        ...

    async def listed(self) -> list[Listed]:
        """Every project, in order of their paths."""
        ...

    async def scan(self, seconds: float, *, anew: bool) -> Scan:
        """Look for projects, and wait so long for the end of it."""
        ...


class Extensions(Protocol):
    """The agent's plugins and MCP servers. Each call raises Refused with the words of who refused."""

    async def plugins(self) -> list[Plugin]: ...

    async def offers(self) -> list[Offer]: ...

    async def marketplaces(self) -> list[Marketplace]: ...

    async def change_plugin(self, action: str, name: str, scope: str, project: str | None) -> str: ...

    async def change_marketplace(self, action: str, name: str | None) -> str: ...

    async def servers(self) -> list[Server]: ...

    async def add_server(self, server: NewServer, project: str | None) -> str: ...

    async def remove_server(self, name: str, scope: str, project: str | None) -> str: ...

    async def check_servers(self, project: str | None) -> None: ...


class Viewer(Protocol):
    """One who looks at a terminal. After `pause` nothing more is shown until `resume`, and then the screen as it is."""

    async def write(self, data: bytes) -> None: ...

    async def resize(self, cols: int, rows: int) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    async def close(self) -> None: ...


class SessionDesk(Protocol):
    """The sessions that whoever is served runs."""

    async def order(self, order: Order) -> Reply:
        """Have it done, and how that ended."""
        ...

    async def view(self, session: Session, cols: int, rows: int, seen: Callable[[bytes], None]) -> Viewer:
        """Look at a session's terminal; Refused when it has none."""
        ...

    async def screen(self, session: Session) -> str: ...

    async def worktrees(self) -> list[Worktree]: ...

    async def difference(self, session_id: str) -> Difference: ...

    async def merge(self, session_id: str, by: str) -> Worktree: ...

    async def discard(self, session_id: str, by: str, *, force: bool) -> Worktree: ...


class Desk(Protocol):
    """Reads views, takes decisions."""

    @property
    def runner_id(self) -> str: ...

    @property
    def trouble(self) -> str | None:
        """Why nothing can be recorded, if so."""
        ...

    @property
    def health(self) -> str:
        """`ok`; `nearly_full` when only decisions are recorded; `read_only` when nothing is, as the log is
        damaged; `not_recording` while it cannot be written."""
        ...

    def stats(self) -> dict[str, Any]:
        """How it does: the figures of `GET /stats`."""
        ...

    @property
    def seq_no(self) -> int:
        """The position of the last event."""
        ...

    async def can_resume(self, after: int) -> bool:
        """Whether everything after this position is still there."""
        ...

    @property
    def projects(self) -> ProjectShelf: ...

    @property
    def extensions(self) -> Extensions: ...

    @property
    def crew(self) -> SessionDesk: ...

    def sessions(self) -> list[Session]: ...

    def live_sessions(self) -> list[Session]: ...

    def pending(self) -> list[Request]: ...

    def session(self, session_id: str) -> Session | None: ...

    async def find_session(self, session_id: str) -> Session | None:
        """The same, though it may be younger than the last look at what is there."""
        ...

    def memory(self, session: Session) -> int | None:
        """How many bytes of memory its agent has, where that is known."""
        ...

    async def panes(self, sessions: Sequence[Session]) -> Mapping[str, str]:
        """The commands that show those of these sessions which run in the person's own tmux."""
        ...

    async def feed(self, query: FeedQuery) -> Page: ...

    async def audit(self, query: AuditQuery) -> list[AuditRow]: ...

    async def requests(self, status: str | None, after: int, limit: int) -> list[Request]: ...

    async def request(self, request_id: str) -> Request | None: ...

    def risk(self, request: Request) -> Risk:
        """How much a request can harm, as far as it is known now."""
        ...

    async def judge(self, requests: Sequence[Request]) -> None:
        """See to it that the risk of these is wholly known."""
        ...

    async def insight(self, request: Request) -> Insight:
        """What a look into a request gives."""
        ...

    def suggested(self, request: Request) -> list[str]:
        """What the agent itself suggests, as sentences."""
        ...

    def tokens(self) -> list[Token]: ...

    async def create_token(self, command: CreateToken) -> Reply: ...

    async def revoke_token(self, token_id: str, by: str) -> Reply: ...

    async def decide(
        self,
        request_id: str,
        decision: Decision,
        digest: str,
        by: str,
        note: str | None,
        remember: Remember | None = None,
    ) -> Reply: ...

    def rules(self) -> list[tuple[Rule, Hits | None]]:
        """Every rule with its hits, the oldest first."""
        ...

    async def rule_findings(self) -> list[Finding]:
        """What is odd about the rules."""
        ...

    async def add_rule(self, wanted: RuleWanted, by: str) -> Reply: ...

    async def add_rules(self, wanted: Sequence[RuleWanted], by: str, *, is_trial: bool) -> Reply:
        """Make all of them that do not stand yet, or none; of a trial only what would come of it."""
        ...

    async def remove_rule(self, rule_id: str, by: str) -> Reply: ...

    async def trusted_folder(self, path: str) -> str | None:
        """The real path of a folder that is trusted in full; None for any other."""
        ...

    async def brings(self, path: str) -> Looked | None:
        """What a folder brings; None when there is none."""
        ...

    def trust_in(self, path: str) -> str | None:
        """How far a folder is trusted; None when nobody has said."""
        ...

    async def record_change(self, change: PluginChangeData | McpChangeData) -> Reply:
        """Put on record what was done to a plugin or an MCP server, or failed."""
        ...

    async def trust_project(self, path: str, trust: str, by: str) -> Reply: ...

    async def simulate(self, wanted: RuleWanted, before: int | None, limit: int) -> PastPage | Reply:
        """What a rule would have decided of the requests before a position, or why it is no rule."""
        ...

    async def suggestions(self) -> tuple[list[Suggestion], int]:
        """Rules that decisions imply, and how many requests were looked at."""
        ...

    async def explain(
        self,
        request_id: str | None,
        tool_name: str,
        tool_input: dict[str, Any],
        session_id: str | None,
        cwd: str | None,
    ) -> tuple[Explanation, tuple[str, ...]] | None:
        """What the rules say now, and the patterns that could be remembered."""
        ...
