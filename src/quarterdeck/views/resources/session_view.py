"""A session as every surface sees it."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from quarterdeck.core.engine.prompt_queue import waiting_prompts
from quarterdeck.core.model.event_data.session_data import Counters
from quarterdeck.core.model.state import Capabilities, Session, Todo
from quarterdeck.core.text.session_summary import missing_notes
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.views.possible_actions import SessionActionView, session_actions
from quarterdeck.views.projection import struct_of
from quarterdeck.views.session_label import state_word

_NONE = Counters()


class CountersView(Struct, kw_only=True):
    """Counts for a session so far."""

    tool_uses: int
    tool_failures: int
    permission_requests: int
    blocks: int


class UsageView(Struct, kw_only=True):
    """Tokens and cost of a session, read from its transcript. `cost_usd` is null when a model used has no known price;
    `reported_cost_usd` is the agent's own number; `missing` names what could not be read."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float | None
    reported_cost_usd: float | None
    context_tokens: int | None
    model: str | None
    missing: list[str]


class ResumeView(Struct, kw_only=True):
    """The command that resumes a conversation in a terminal, and the folder to run it in."""

    command: str
    cwd: str


class OwnedView(Struct, kw_only=True):
    """A session that Quarterdeck started. `status` is starting, up, ending, down, or moved when it continues as
    `moved_to`. `terminal` is the command that attaches to it, `worktree` the project whose worktree it works in."""

    status: str
    started_by: str
    launched_at: float
    terminal: str | None
    worktree: str | None
    shell: bool
    moved_to: str | None


class SessionView(Struct, kw_only=True):
    """One agent conversation. `state_source` is the source of its state: hooks, the process itself, or only its
    transcript. `last_error` says why the last run failed, null when it did not or another has begun, `retrying` why the
    agent waits before it tries again. `queued` counts prompts that wait for earlier turns. `usage` is null until a
    transcript was read, `owned` is null for a session that Quarterdeck did not start. Only GET of sessions sets
    `memory_bytes` and `where`: the command that shows its pane when it runs in your own tmux. `label` and `glyph` are
    the word and the sign for its state, `actions` what a person can do with it, each with the reason when it is not
    possible now."""

    session_id: str
    agent_state: str
    state_source: str
    state_at: float | None
    last_error: str | None
    retrying: str | None
    pid: int | None
    mode: str
    cwd: str
    project_id: str | None
    agent: str
    title: str
    model: str | None
    permission_mode: str | None
    entrypoint: str | None
    tag: str | None
    started_at: float
    last_event_at: float
    ended_at: float | None
    run_id: str | None
    run_started_at: float | None
    runs: int
    pending: int
    queued: int
    counters: CountersView
    usage: UsageView | None
    resume: ResumeView | None
    todos: list[Todo]
    owned: OwnedView | None
    memory_bytes: int | None
    where: str | None
    label: str
    glyph: str
    actions: list[SessionActionView]
    runner_id: str
    runner_name: str | UnsetType = UNSET


class SessionList(Struct, kw_only=True):
    sessions: list[SessionView]
    next: str | None


class StopResult(Struct, kw_only=True):
    """One session: whether it was stopped, and if not, why. `agent_state` is its state before."""

    session_id: str
    mode: str | None
    title: str
    cwd: str
    agent_state: str | None
    ok: bool
    error: dict[str, Any] | None = None


class StopResults(Struct, kw_only=True):
    sessions: list[StopResult]


def session_view(
    session: Session,
    *,
    runner_id: str,
    can: Capabilities | None = None,
    resume: str | None = None,
    memory_bytes: int | None = None,
    where: str | None = None,
) -> SessionView:
    """A session with its counters, which include the current run. `can` is what its agent can do, `resume` the command
    that continues it, `where` the command that shows its pane."""
    totals, run = session.totals, session.run
    active = run.counters if run else _NONE
    label = state_word(session.agent_state, session.last_error, session.retrying)
    counted = {name: getattr(totals, name) + getattr(active, name) for name in CountersView.__struct_fields__}
    return struct_of(
        SessionView,
        session,
        state_at=session.state_at or None,
        pid=session.process.pid if session.process else session.context.pid or None,
        cwd=session.context.cwd,
        project_id=project_id_of(session.context.cwd),
        permission_mode=session.context.permission_mode or None,
        entrypoint=session.context.entrypoint or None,
        tag=session.context.tag or None,
        run_id=run.run_id if run else None,
        run_started_at=run.started_at if run else None,
        pending=len(session.waiting),
        queued=waiting_prompts(session),
        counters=CountersView(**counted),
        usage=usage_view(session),
        resume=ResumeView(command=resume, cwd=session.context.cwd) if resume else None,
        todos=list(session.todos.values()),
        owned=struct_of(OwnedView, session.owned, started_by=session.owned.by) if session.owned else None,
        memory_bytes=memory_bytes,
        where=where,
        label=label.word,
        glyph=label.glyph,
        actions=session_actions(session, can, has_pane=where is not None),
        runner_id=runner_id,
    )


def usage_view(session: Session) -> UsageView | None:
    """The usage of a session; None until a transcript was read."""
    usage, transcript = session.usage, session.transcript
    if usage is None:
        return None
    return struct_of(
        UsageView,
        usage,
        cost_usd=None if usage.cost_usd is None else round(usage.cost_usd, 6),
        reported_cost_usd=transcript.reported_cost_usd,
        context_tokens=transcript.context_tokens,
        model=session.model,
        missing=missing_notes(transcript),
    )
