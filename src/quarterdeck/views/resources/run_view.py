"""The runs and the actors of a session as every surface sees them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from quarterdeck.core.model.event_data.session_data import Usage
from quarterdeck.core.model.state import Todo
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.runner_resource import Resource
from quarterdeck.views.resources.session_view import CountersView
from quarterdeck.views.run_history import RunRecord


class UsageCount(Struct, kw_only=True):
    """Tokens and what they cost; `cost_usd` is null when a model has no known price."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None


class PastRunView(Resource, kw_only=True):
    """One prompt until its stop. `status` is running, blocked (it waits for a decision), completed, failed or aborted;
    `trigger` is what began it. `actors` are the agent and its sub-agents, `todos` those that the run added. `usage` is
    null until a transcript was read."""

    run_id: str
    session_id: str
    number: int
    seq_no: int
    status: Literal["running", "blocked", "completed", "failed", "aborted"]
    trigger: str
    prompt: str | None
    started_at: float
    ended_at: float | None
    counters: CountersView
    actors: list[str]
    todos: list[Todo]
    usage: UsageCount | None


class RunList(Struct, kw_only=True):
    runs: list[PastRunView]
    next: int | None
    previous: int | None


class ActorView(Resource, kw_only=True):
    """Who acts in a session: the user, the agent, a sub-agent or the system. `status` is running or ended, and null for
    the user and the system. The times are those of its first and its last event."""

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


class ActorList(Struct, kw_only=True):
    actors: list[ActorView]
    next: None = None


def run_view(run: RunRecord) -> PastRunView:
    """A run with its actors, its to-dos and its usage."""
    return struct_of(
        PastRunView,
        run,
        counters=struct_of(CountersView, run.counters),
        actors=list(run.actors),
        todos=list(run.todos),
        usage=None if run.usage is None else _usage(run.usage),
    )


def _usage(usage: Usage) -> UsageCount:
    cost = None if usage.cost_usd is None else round(usage.cost_usd, 6)
    return struct_of(UsageCount, usage, cost_usd=cost)
