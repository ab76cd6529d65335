"""What the API shows of sessions, events and requests, in the words every surface reads."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from quarterdeck.api.backend import Desk
from quarterdeck.api.views.rules import RuleView
from quarterdeck.core.engine.fold_transcripts import missing_of
from quarterdeck.core.engine.prompt_queue import waiting_prompts
from quarterdeck.core.model.event_data import Counters, TokenCreateData
from quarterdeck.core.model.events import Cause, FeedEvent
from quarterdeck.core.model.state import Ours, Request, Session, Todo
from quarterdeck.core.risk.assess import Risk
from quarterdeck.core.text.titles import Ui, body_of, title_of, ui_of
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.wire import write_json

LIST_INPUT = 64 * 1024
LIST_HEAD = 4096


class CountersView(Struct, kw_only=True):
    """What happened in a session so far."""

    tool_uses: int
    tool_failures: int
    permission_requests: int
    blocks: int


class UsageView(Struct, kw_only=True):
    """What a session has used, by its transcript. `cost_usd` is null when a model among those used has no known price;
    `reported_cost_usd` is the agent's own figure; `missing` says what could not be read."""

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
    """The command that takes a conversation up again in a terminal, and where to run it."""

    command: str
    cwd: str


class OwnedView(Struct, kw_only=True):
    """A session that Quarterdeck started: `status` is starting, up, ending or down, or moved when the agent goes on as
    `moved_to`. `terminal` is where it can be attached to, `worktree` the project whose worktree it works in."""

    status: str
    started_by: str
    launched_at: float
    terminal: str | None
    worktree: str | None
    shell: bool
    moved_to: str | None


class SessionView(Struct, kw_only=True):
    """One agent conversation. `state_source` says who knows its state: hooks, the process itself, or only a transcript
    that is left of it. `queued` counts prompts that wait for the turns before them. `usage` is null until a transcript
    was read, `owned` for a session somebody else started; `memory_bytes` is told where a session is asked for, and so
    is `where`: the command that shows the pane of the person's own tmux in which it runs."""

    session_id: str
    agent_state: str
    state_source: str
    state_at: float | None
    pid: int | None
    mode: str
    cwd: str
    project_id: str | None
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
    runner_id: str


class EventView(Struct, kw_only=True):
    """What happened. `data` depends on `kind`; `title`, `body` and `ui` say how to show it."""

    seq_no: int
    event_id: str
    seq: int
    run_id: str
    session_id: str
    runner_id: str
    at: float
    kind: str
    level: str
    actor_id: str
    cause: Cause | None
    data: Any
    title: str
    ui: Ui
    body: str | UnsetType = UNSET


class RiskView(Struct, kw_only=True):
    """How much a request can harm: low, medium, high or critical, and why, the worst first."""

    level: str
    reasons: list[str]


class DecisionView(Struct, kw_only=True):
    """How a request ended: what was decided, by whom, and whether the agent did so; which rules decided, and in the
    answer to a decision which rule it became and which other requests that settled."""

    request_id: str
    decision: str
    source: str
    by: str
    at: float | None
    note: str | None
    message: str | None
    reason: str | None
    interrupt: bool
    updated_input: dict[str, Any] | None
    updated_digest: str | None
    answers: dict[str, Any] | None
    notes: dict[str, str] | None
    mode: str | None
    digest: str | None
    status: str
    delivery: str | None
    rule_ids: list[str]
    pattern: str | None
    remembered: RuleView | None = None
    also_decided: list[str] = []


class Shortened(Struct, kw_only=True):
    """What a list says of an input too large for it: its size, its digest and how it begins."""

    bytes: int
    sha256: str
    begins: str


class RequestView(Struct, kw_only=True):
    """What waits, or waited, for a person. A decision names the `digest`. `truncated` stands where a list leaves a
    large `tool_input` out; `GET /requests/{id}` shows it whole. `suggested` are the agent's own `suggestions` as
    sentences, `escalated` the channels that were told of it. Where the session has no terminal it takes no pass."""

    request_id: str
    kind: str
    form: str | None
    session_id: str
    run_id: str
    event_id: str
    runner_id: str
    agent_id: str | None
    agent_type: str | None
    tool_name: str
    tool_input: dict[str, Any]
    truncated: Shortened | None
    tool_use_id: str | None
    digest: str
    risk: RiskView
    suggestions: list[Any]
    suggested: list[str]
    held: bool
    has_terminal: bool
    opened_at: float
    expires_at: float | None
    escalated: list[str]
    escalated_at: float | None
    status: str
    decision: DecisionView | None


_NONE = Counters()


def session_view(
    session: Session, runner_id: str, memory_bytes: int | None = None, where: str | None = None
) -> SessionView:
    """A session as the API shows it."""
    totals, run = session.totals, session.run
    active = run.counters if run else _NONE
    return SessionView(
        session_id=session.session_id,
        agent_state=session.agent_state,
        state_source=session.state_source,
        state_at=session.state_at or None,
        pid=session.process.pid if session.process else session.context.pid or None,
        mode=session.mode,
        cwd=session.context.cwd,
        project_id=project_id_of(session.context.cwd),
        title=session.title,
        model=session.model,
        permission_mode=session.context.permission_mode or None,
        entrypoint=session.context.entrypoint or None,
        tag=session.context.tag or None,
        started_at=session.started_at,
        last_event_at=session.last_event_at,
        ended_at=session.ended_at,
        run_id=run.run_id if run else None,
        run_started_at=run.started_at if run else None,
        runs=session.runs,
        pending=len(session.waiting),
        queued=waiting_prompts(session),
        counters=CountersView(
            tool_uses=totals.tool_uses + active.tool_uses,
            tool_failures=totals.tool_failures + active.tool_failures,
            permission_requests=totals.permission_requests + active.permission_requests,
            blocks=totals.blocks + active.blocks,
        ),
        usage=usage_view(session),
        resume=resume_view(session),
        todos=list(session.todos.values()),
        owned=owned_view(session.ours) if session.ours else None,
        memory_bytes=memory_bytes,
        where=where,
        runner_id=runner_id,
    )


def owned_view(ours: Ours) -> OwnedView:
    return OwnedView(
        status=ours.status,
        started_by=ours.by,
        launched_at=ours.launched_at,
        terminal=ours.terminal,
        worktree=ours.worktree,
        shell=ours.shell,
        moved_to=ours.moved_to,
    )


def usage_view(session: Session) -> UsageView | None:
    """What a session has used; None until a transcript was read."""
    usage, transcript = session.usage, session.transcript
    if usage is None:
        return None
    return UsageView(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cost_usd=None if usage.cost_usd is None else round(usage.cost_usd, 6),
        reported_cost_usd=transcript.reported_cost_usd,
        context_tokens=transcript.context_tokens,
        model=session.model,
        missing=missing_of(transcript),
    )


def resume_view(session: Session) -> ResumeView | None:
    """How to take a conversation up again; None for an id that reads as an option."""
    if session.session_id.startswith("-"):
        return None
    return ResumeView(command=f"claude --resume {session.session_id}", cwd=session.context.cwd)


def event_view(event: FeedEvent) -> EventView:
    """A feed event with what is computed when it is shown."""
    body = body_of(event)
    return EventView(
        seq_no=event.seq_no,
        event_id=event.event_id,
        seq=event.seq,
        run_id=event.run_id,
        session_id=event.session_id,
        runner_id=event.runner_id,
        at=event.at,
        kind=event.kind,
        level=event.level,
        actor_id=event.actor_id,
        cause=event.cause,
        data=replace(event.data, verifier="") if isinstance(event.data, TokenCreateData) else event.data,
        title=title_of(event),
        ui=ui_of(event),
        body=UNSET if body is None else body,
    )


def shortened(tool_input: dict[str, Any]) -> Shortened | None:
    """A large input as lists show it; None for one that they show whole."""
    body = write_json(tool_input)
    if len(body) <= LIST_INPUT:
        return None
    begins = body[:LIST_HEAD].decode(errors="ignore")
    return Shortened(bytes=len(body), sha256=hashlib.sha256(body).hexdigest(), begins=begins)


def risk_view(risk: Risk) -> RiskView:
    """A risk as the API shows it."""
    return RiskView(level=risk.level, reasons=list(risk.reasons))


def request_view(desk: Desk, request: Request, *, whole: bool = False) -> RequestView:
    """A request as the API shows it; in lists a large input is shortened."""
    short = None if whole else shortened(request.tool_input)
    session = desk.session(request.session_id)
    return RequestView(
        request_id=request.request_id,
        kind=request.kind,
        form=request.form,
        session_id=request.session_id,
        run_id=request.run_id,
        event_id=request.event_id,
        runner_id=desk.runner_id,
        agent_id=request.agent_id,
        agent_type=request.agent_type,
        tool_name=request.tool_name,
        tool_input=request.tool_input if short is None else {},
        truncated=short,
        tool_use_id=request.tool_use_id,
        digest=request.digest,
        risk=risk_view(desk.risk(request)),
        suggestions=request.suggestions,
        suggested=desk.suggested(request),
        held=request.held,
        has_terminal=session is None or session.has_terminal,
        opened_at=request.opened_at,
        expires_at=request.expires_at,
        escalated=list(request.escalated),
        escalated_at=request.escalated_at,
        status=request.status,
        decision=decision_view(request),
    )


def decision_view(request: Request) -> DecisionView | None:
    """How a request was decided; None while it waits."""
    data = request.decision
    if data is None:
        return None
    return DecisionView(
        request_id=request.request_id,
        decision="pass" if data.decision_type in ("no_opinion", "ask") else data.decision_type,
        source=data.source,
        by=data.by,
        at=request.decided_at,
        note=data.note,
        message=data.message,
        reason=data.reason,
        interrupt=bool(data.interrupt),
        updated_input=data.updated_input,
        updated_digest=data.updated_digest,
        answers=data.answers,
        notes=data.notes,
        mode=data.mode,
        digest=data.digest,
        status=data.status,
        delivery=request.delivery,
        rule_ids=data.rule_ids,
        pattern=data.pattern,
    )
