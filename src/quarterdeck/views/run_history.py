"""The runs of a session, made from its events: each from its start to its end, with its actors, to-dos and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.engine.fold import with_todo
from quarterdeck.core.engine.folds.transcript_folds import with_usage
from quarterdeck.core.model.event_data.session_data import Counters, MessageUsage, RunEndData, SessionUsageData, Usage
from quarterdeck.core.model.events import OWN, FeedEvent, run_number
from quarterdeck.core.model.state import Session, Todo

RUN_KINDS = (
    "run.start",
    "run.end",
    "subagent.start",
    "subagent.stop",
    "todo.add",
    "todo.update",
    "todo.done",
    "session.usage",
)
"""The kinds of events that a run is made of."""

RunStatus = Literal["running", "blocked", "completed", "failed", "aborted"]
STATUSES: tuple[RunStatus, ...] = ("running", "blocked", "completed", "failed", "aborted")


class RunRecord(Struct, frozen=True, kw_only=True):
    """One prompt until its stop. A `blocked` run waits for a decision. `trigger` is what began it, `actors` are the
    agent and its sub-agents, `todos` those that it added, as they are at its end. `usage` is what its messages
    cost; the cost is null when a model has no known price."""

    run_id: str
    session_id: str
    number: int
    seq_no: int
    status: RunStatus
    trigger: str
    prompt: str | None
    started_at: float
    ended_at: float | None = None
    counters: Counters = Counters()
    actors: tuple[str, ...] = ()
    todos: tuple[Todo, ...] = ()
    usage: Usage | None = None


def run_records(events: Iterable[FeedEvent], session: Session | None) -> list[RunRecord]:
    """The runs that start among these events of one session, oldest first. What is read from a transcript belongs to
    the run before it. `session` is its present state: it says what the run that is open does."""
    runs: list[_OpenRun] = []
    for event in events:
        if event.kind == "run.start":
            runs.append(_OpenRun(event))
        elif runs:
            runs[-1].add(event)
    return [run.record(session) for run in runs]


class _OpenRun:
    def __init__(self, start: FeedEvent) -> None:
        self.start = start
        self.end: FeedEvent[RunEndData] | None = None
        self.actors: dict[str, None] = {}
        self.todos: dict[str, Todo] = {}
        self.usage: Usage | None = None
        self.spent: dict[str, MessageUsage] = {}

    def add(self, event: FeedEvent) -> None:
        match event.kind:
            case "run.end":
                self.end = event
            case "session.usage":
                self._spend(event.data)
            case "subagent.start" | "subagent.stop":
                self.actors[f"subagent:{event.data.agent_id}"] = None
            case _:
                self.todos = with_todo(self.todos, event)

    def _spend(self, data: SessionUsageData) -> None:
        for message in data.spent:
            before = self.spent.get(message.message_id)
            self.usage = with_usage(self.usage or Usage(), message, before)
            self.spent[message.message_id] = message

    def record(self, session: Session | None) -> RunRecord:
        data, end = self.start.data, self.end
        current = session.run if session is not None else None
        is_open = end is None and session is not None and current is not None and current.run_id == self.start.run_id
        waits = is_open and session is not None and bool(session.waiting)
        status: RunStatus = "blocked" if waits else "running" if is_open else "aborted"
        record = RunRecord(
            run_id=self.start.run_id,
            session_id=self.start.session_id,
            number=run_number(self.start.run_id),
            seq_no=self.start.seq_no,
            status=status,
            trigger=data.trigger.type,
            prompt=data.trigger.prompt_preview,
            started_at=self.start.at,
            counters=current.counters if is_open and current is not None else Counters(),
            actors=("agent:root", *self.actors),
            todos=tuple(self.todos.values()),
            usage=self.usage,
        )
        if end is None:
            return record
        ended = next((word for word in STATUSES if word == end.data.status), "aborted")
        return replace(record, status=ended, ended_at=end.at, counters=end.data.counters)


class ActorRecord(Struct, frozen=True, kw_only=True):
    """One who acts in a session: `user`, `agent`, `subagent` or `system`. `status` is running or ended, null for a
    person and for the system. The times are those of its first and its last event."""

    actor_id: str
    session_id: str
    kind: str
    display_name: str
    agent_type: str | None
    parent_actor_id: str | None
    status: str | None
    first_at: float
    last_at: float
    events: int
    tool_uses: int
    tool_failures: int
    requests: int


def actor_record(
    actor_id: str, session: Session, kinds: Mapping[str, int], first_at: float, last_at: float
) -> ActorRecord:
    """An actor, from the number of its events by their kinds."""
    known = session.actors.get(actor_id)
    kind = known.kind if known else actor_id.partition(":")[0]
    status = None
    if kind in ("agent", "subagent"):
        status = "ended" if session.ended_at is not None or "subagent.stop" in kinds else "running"
    return ActorRecord(
        actor_id=actor_id,
        session_id=session.session_id,
        kind=kind,
        display_name=known.display_name if known else NAMES.get(actor_id, actor_id),
        agent_type=known.agent_type if known else None,
        parent_actor_id=known.parent_actor_id if known else None,
        status=status,
        first_at=first_at,
        last_at=last_at,
        events=sum(kinds.values()),
        tool_uses=kinds.get("tool.pre", 0),
        tool_failures=kinds.get("tool.failure", 0),
        requests=kinds.get("permission.request", 0) + kinds.get("question.request", 0),
    )


NAMES = {"user": "you", "agent:root": "agent", "system": OWN}
