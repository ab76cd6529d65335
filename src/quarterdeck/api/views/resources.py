"""Sessions, events, requests and decisions as the API returns them."""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from quarterdeck.api.backend import Backend, SessionBackend
from quarterdeck.api.views.projection import struct_of
from quarterdeck.api.views.rules import RuleView
from quarterdeck.core.engine.prompt_queue import waiting_prompts
from quarterdeck.core.model.event_data.admin_data import TokenCreateData
from quarterdeck.core.model.event_data.session_data import Counters
from quarterdeck.core.model.events import Cause, FeedEvent
from quarterdeck.core.model.state import Request, Session, Todo
from quarterdeck.core.text.session_summary import missing_notes
from quarterdeck.core.text.titles import UiHints, body_of, title_of, ui_of
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.views.allowed_decisions import decisions_for, hidden_parts
from quarterdeck.views.possible_actions import SessionActionView, session_actions
from quarterdeck.views.request_outcome import outcome
from quarterdeck.views.session_label import state_word
from quarterdeck.wire import write_json

LIST_INPUT = 64 * 1024
LIST_HEAD = 4096


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
    transcript. `last_error` says why the last run failed, null when it did not or another has begun. `queued` counts
    prompts that wait for earlier turns. `usage` is null until a transcript was read, `owned` is null for a session that
    Quarterdeck did not start. Only GET of sessions sets `memory_bytes` and `where`: the command that shows its pane
    when it runs in your own tmux. `label` and `glyph` are the word and the sign for its state, `actions` what a person
    can do with it, each with the reason when it is not possible now."""

    session_id: str
    agent_state: str
    state_source: str
    state_at: float | None
    last_error: str | None
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


class EventView(Struct, kw_only=True):
    """One event of the feed. `data` depends on `kind`; `title`, `body` and `ui` are for display."""

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
    ui: UiHints
    body: str | UnsetType = UNSET


class RiskView(Struct, kw_only=True):
    """The risk of a request: low, medium, high or critical, with the reasons, worst first."""

    level: str
    reasons: list[str]


class DecisionView(Struct, kw_only=True):
    """The end of a request: the decision, who made it, and whether the agent received it. `rule_ids` are the rules that
    decided. Only the response to a decision sets `remembered`, the rule it created, and `also_decided`, the other
    requests that this rule decided."""

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


class TruncatedInput(Struct, kw_only=True):
    """Stands in for an input too large for a list: its size, its digest and its beginning."""

    bytes: int
    sha256: str
    begins: str


class RequestView(Struct, kw_only=True):
    """A request for a decision. A decision must send the `digest`. Lists leave out a large `tool_input` and set
    `truncated`; `GET /requests/{id}` returns it whole. `suggested` are the agent's own `suggestions` as sentences,
    `escalated` the channels that were notified. Without a terminal (`has_terminal`) a request cannot be passed.
    `holder` says where the agent is that waits for the answer: connected, reconnecting after a restart of the daemon (a
    decision is refused until it is back), or gone. `decisions` are those that fit, `hides` what must be expanded before
    an allow, `outcome` the sentence to show, to which a surface adds the time."""

    request_id: str
    kind: str
    form: str | None
    session_id: str
    run_id: str
    event_id: str
    runner_id: str
    agent_id: str | None
    agent_type: str | None
    agent: str
    tool_name: str
    tool_kind: str
    tool_input: dict[str, Any]
    truncated: TruncatedInput | None
    tool_use_id: str | None
    digest: str
    risk: RiskView
    needs_second_key: bool
    suggestions: list[Any]
    suggested: list[str]
    held: bool
    holder: str
    has_terminal: bool
    opened_at: float
    expires_at: float | None
    escalated: list[str]
    escalated_at: float | None
    status: str
    decisions: list[str]
    outcome: str
    hides: list[str]
    decision: DecisionView | None


R = TypeVar("R", bound=RequestView)
_NONE = Counters()


def session_view(
    session: Session, backend: Backend, memory_bytes: int | None = None, where: str | None = None
) -> SessionView:
    """A session with its memory use and terminal; counters include the current run."""
    totals, run = session.totals, session.run
    active = run.counters if run else _NONE
    label = state_word(session.agent_state, session.last_error)
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
        resume=resume_view(session, backend.sessions),
        todos=list(session.todos.values()),
        owned=struct_of(OwnedView, session.owned, started_by=session.owned.by) if session.owned else None,
        memory_bytes=memory_bytes,
        where=where,
        label=label.word,
        glyph=label.glyph,
        actions=session_actions(session, backend.sessions.capabilities(session), has_pane=where is not None),
        runner_id=backend.runner_id,
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


def resume_view(session: Session, sessions: SessionBackend) -> ResumeView | None:
    command = sessions.resume_command(session)
    return ResumeView(command=command, cwd=session.context.cwd) if command else None


def event_view(event: FeedEvent) -> EventView:
    """A feed event with its display texts, which are computed on read."""
    body = body_of(event)
    return struct_of(
        EventView,
        event,
        data=replace(event.data, verifier="") if isinstance(event.data, TokenCreateData) else event.data,
        title=title_of(event),
        ui=ui_of(event),
        body=UNSET if body is None else body,
    )


def shortened(tool_input: dict[str, Any]) -> TruncatedInput | None:
    """The stand-in for a large input in lists; None for one that lists show whole."""
    body = write_json(tool_input)
    if len(body) <= LIST_INPUT:
        return None
    begins = body[:LIST_HEAD].decode(errors="ignore")
    return TruncatedInput(bytes=len(body), sha256=hashlib.sha256(body).hexdigest(), begins=begins)


def request_view(backend: Backend, request: Request) -> RequestView:
    """A request with its decision and risk, as in lists: a large input is shortened."""
    short = shortened(request.tool_input)
    tool_input = request.tool_input if short is None else {}
    hides = hidden_parts(request.tool_input, short.bytes if short else None)
    return whole_request_view(RequestView, backend, request, tool_input=tool_input, truncated=short, hides=hides)


def whole_request_view(shape: type[R], backend: Backend, request: Request, **more: Any) -> R:
    """A request with its whole input, and with the other fields of a larger view."""
    session = backend.sessions.get(request.session_id)
    has_terminal = session is None or session.has_terminal
    risk = backend.requests.risk(request)
    known = {
        "runner_id": backend.runner_id,
        "truncated": None,
        "risk": struct_of(RiskView, risk),
        "needs_second_key": backend.requests.needs_second_key(risk.level),
        "suggested": backend.requests.agent_suggestions(request),
        "holder": backend.requests.holder(request),
        "has_terminal": has_terminal,
        "decisions": decisions_for(request, has_terminal=has_terminal),
        "outcome": outcome(request),
        "decision": decision_view(request),
    }
    if "hides" not in more:
        known["hides"] = hidden_parts(request.tool_input)
    return struct_of(shape, request, **known | more)


def decision_view(request: Request) -> DecisionView | None:
    """The decision on a request; None while it is pending."""
    data = request.decision
    if data is None:
        return None
    return struct_of(
        DecisionView,
        data,
        request_id=request.request_id,
        decision="pass" if data.decision_type in ("no_opinion", "ask") else data.decision_type,
        at=request.decided_at,
        interrupt=bool(data.interrupt),
        delivery=request.delivery,
    )
