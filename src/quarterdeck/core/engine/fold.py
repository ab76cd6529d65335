"""The change of the state by one feed event. A restart folds the log again, so nothing else may change the state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.draft import Draft
from quarterdeck.core.engine.folds.deck_folds import deck_after
from quarterdeck.core.engine.folds.request_folds import (
    REQUEST_FOLDS,
    confirm,
    confirm_interrupts,
    raise_counters,
    sent_key,
)
from quarterdeck.core.engine.folds.session_folds import OWNED_SESSION_FOLDS, without_delivered
from quarterdeck.core.engine.folds.transcript_folds import shortened, usage_and_cost, with_part
from quarterdeck.core.model.agent_state import SILENT, STATE_KINDS, WAITING, AgentState, state_after, state_of_process
from quarterdeck.core.model.event_data.admin_data import (
    ProjectTrustData,
    RuleAddData,
    RuleRemoveData,
    SettingChangeData,
    TokenCreateData,
    TokenElevateData,
    TokenRevokeData,
)
from quarterdeck.core.model.event_data.session_data import (
    Counters,
    MessageData,
    SessionEndData,
    SessionStartData,
    SessionStateData,
    SessionUsageData,
)
from quarterdeck.core.model.event_data.tool_data import (
    SubagentStartData,
    TodoAddData,
    TodoDoneData,
    TodoUpdateData,
    ToolPreData,
)
from quarterdeck.core.model.events import OWN, ROOT, USER, FeedEvent, run_number
from quarterdeck.core.model.payload import shared_fields
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Actor, OpenTool, ProcessId, Run, Session, State, Todo, Token

PREVIEW = 120
"""Characters of a title: a list shows one line of it, and every snapshot holds it."""

MAX_OPEN_TOOLS = 1000
"""Calls whose end is never reported would pile up in a long session; the oldest are forgotten."""

Change = dict[str, Any]


def fold(state: State, events: Iterable[FeedEvent]) -> State:
    """The state after these events."""
    draft = Draft(state)
    for event in events:
        apply(draft, event)
    return draft.finish()


def apply(draft: Draft, event: FeedEvent) -> None:
    """Write one event into the draft."""
    if event.session_id == OWN:
        _apply_own(draft, event)
        return
    session = draft.session(event.session_id, event.at)
    run = session.run
    now = state_after(event.kind, session.agent_state)
    change: Change = {"last_event_at": event.at, "agent_state": now}
    if event.kind in STATE_KINDS:
        change |= {"state_source": "hooks", "state_at": event.at, "hook_state_at": event.at}
    if event.cause is not None and event.cause.hook_request_id is not None:
        change["hook_at"] = event.at
    if event.context is not None:
        change["context"] = session.context.merged(event.context)
    if run is not None and run.run_id == event.run_id:
        change["run"] = replace(run, seq=event.seq)
    elif event.run_id.endswith(":R0"):
        change["seq_outside"] = event.seq
    elif event.run_id == session.last_run_id:
        change["last_run_seq"] = event.seq
    if session.retrying is not None:  # whatever comes next says more
        change["retrying"] = None
    fold_event = _FOLDS.get(event.kind)  # many kinds only move the numbers above
    if fold_event is not None:
        fold_event(draft, session, event, change)
    # Last, since a fold may open or close a request: while one waits, that is the state, whatever else is reported.
    waiting = change.get("waiting", session.waiting)
    if waiting and change["agent_state"] is not AgentState.ENDED:
        change["agent_state"] = _while_waiting(waiting, change["agent_state"])
    if change["agent_state"] is not session.agent_state:
        change["state_at"] = event.at
    draft.seq_no = event.seq_no
    draft.put_session(replace(session, **change))


def _apply_own(draft: Draft, event: FeedEvent) -> None:
    """Apply an event about the runner itself."""
    draft.seq_no, draft.own_seq = event.seq_no, event.seq
    match event.data:
        case TokenCreateData() as made:
            fields = shared_fields(made, Token) | {"scopes": tuple(made.scopes)}
            token = Token(created_at=event.at, created_by=made.by, **fields)
            draft.tokens = {**draft.tokens, token.token_id: token}
        case TokenElevateData(token_id=token_id, scopes=scopes, until=until) if token_id in draft.tokens:
            elevated = replace(draft.tokens[token_id], extra_scopes=tuple(scopes), extra_until=until)
            draft.tokens = {**draft.tokens, token_id: elevated}
        case TokenRevokeData(token_id=token_id):
            draft.tokens = {k: t for k, t in draft.tokens.items() if k != token_id}
        case RuleAddData() as added:
            rule = Rule(created_at=event.at, created_by=added.by, **shared_fields(added, Rule))
            draft.rules = {**draft.rules, rule.rule_id: rule}
        case RuleRemoveData(rule_id=rule_id):
            draft.rules = {k: r for k, r in draft.rules.items() if k != rule_id}
            draft.rule_hits = {k: h for k, h in draft.rule_hits.items() if k != rule_id}
        case ProjectTrustData(path=path, trust=trust):
            draft.trust = {**draft.trust, path: trust}
        case SettingChangeData(key=key, new=new):
            rest = {k: v for k, v in draft.changed_settings.items() if k != key}
            draft.changed_settings = rest if new is None else {**rest, key: new}
        case _:
            draft.deck = deck_after(draft.deck, event)


def _while_waiting(waiting: dict[str, str], now: AgentState) -> AgentState:
    kinds = waiting.values()
    if "permission" in kinds:
        return AgentState.WAITING_PERMISSION
    return AgentState.WAITING_INPUT if "question" in kinds else now


def preview(text: str) -> str:
    """The first line, short enough for a list."""
    line = text.strip().split("\n", 1)[0].strip()
    return line if len(line) <= PREVIEW else line[: PREVIEW - 1] + "…"


def _session_start(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionStartData = event.data
    change |= {"ended_at": None, "source": data.source, "model": data.model or session.model}
    forked_at = session.transcript.forked_at or (event.at if data.source == "fork" else 0.0)
    if session.transcript.is_summarized or forked_at != session.transcript.forked_at:
        change["transcript"] = replace(session.transcript, is_summarized=False, forked_at=forked_at)
    if data.session_title:
        change["title"] = data.session_title
    if data.source != "compact":
        process = session.process if session.runs_here else None
        change |= {"agent_state": AgentState.IDLE, "process": process, "background": 0}


def _session_end(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionEndData = event.data
    change |= {"ended_at": event.at, "run": None, "open_tools": {}, "waiting": {}, "sent": {}}
    change |= {"state_source": data.source, "hooks_lost_at": event.at}
    draft.forget_requests(session.session_id)
    if data.reason != "clear":
        change["agent_state"] = AgentState.ENDED
    elif session.agent_state in WAITING or session.agent_state is AgentState.RUNNING:
        change["agent_state"] = AgentState.SETTLED


def _session_state(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionStateData = event.data
    if data.pid is not None and data.start is not None:
        process = change["process"] = ProcessId(data.pid, data.start)
        if session.process not in (None, process):
            change["hooks_lost_at"] = event.at
    if data.status == SILENT:
        change["hooks_lost_at"] = event.at
    state = state_of_process(data.status, data.waiting_for)
    if state is not None:
        change |= {"agent_state": state, "state_source": "process", "state_at": event.at}


def _run_start(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    trigger = event.data.trigger
    change["runs"] = run_number(event.run_id)
    change["run"] = Run(
        run_id=event.run_id,
        started_at=event.at,
        trigger=trigger.type,
        prompt_preview=trigger.prompt_preview,
        seq=event.seq,
    )
    change["todos"] = {k: t for k, t in session.todos.items() if t.status != "done"}
    change["background"] = 0
    if trigger.type != "resume":  # nothing was said to the agent yet
        change["last_error"] = None
    if session.ended_at is not None:
        change |= {"ended_at": None, "agent_state": AgentState.RUNNING, "state_source": "hooks"}


def _run_end(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    run: Run | None = change.get("run", session.run)
    if run is not None:
        change["totals"] = _added(session.totals, run.counters)
    if event.data.status == "aborted":
        confirm_interrupts(draft, session)
    change |= {"run": None, "open_tools": {}, "sent": {}, "last_run_id": event.run_id, "last_run_seq": event.seq}
    draft.forget_requests(session.session_id)


def _added(a: Counters, b: Counters) -> Counters:
    return Counters(**{name: getattr(a, name) + getattr(b, name) for name in Counters.__struct_fields__})


def _stop_failure(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    """Keep the reason of the failure; one that the agent's SDK has reported already says more."""
    change["last_error"] = session.last_error or event.data.failure


def _user_prompt(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    change["background"] = 0
    if session.owned is not None and event.actor_id == USER:
        change["owned"] = without_delivered(session.owned)
    if not session.title and event.actor_id == USER:
        change["title"] = preview(event.data.prompt)


def _tool_pre(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: ToolPreData = event.data
    raise_counters(change, session, tool_uses=1)
    if data.tool_use_id:
        tools = session.open_tools.copy()
        if len(tools) >= MAX_OPEN_TOOLS:
            del tools[next(iter(tools))]
        tools[data.tool_use_id] = OpenTool(
            event_id=event.event_id,
            tool_name=data.tool_name,
            tool_input=data.tool_input,
            agent_id=event.actor_id.partition(":")[2] if event.actor_id.startswith("subagent:") else None,
        )
        change["open_tools"] = tools


def _tool_post(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data = event.data
    if session.open_tools:
        _close_tool(session, data.tool_use_id, change)
    if session.sent:
        key = sent_key(draft, session, data.tool_use_id, data.tool_name, data.tool_input)
        confirm(draft, session, key, change, ran=True)


def _tool_failure(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    raise_counters(change, session, tool_failures=1)
    _tool_post(draft, session, event, change)


def _tool_batch(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    for call in event.data.tool_calls:
        _close_tool(session, call.tool_use_id, change)
        confirm(draft, session, call.tool_use_id, change, ran=False)


def _close_tool(session: Session, tool_use_id: str | None, change: Change) -> None:
    tools = change.get("open_tools", session.open_tools)
    if tool_use_id in tools:
        change["open_tools"] = {k: t for k, t in tools.items() if k != tool_use_id}


def _notification(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    if event.data.notification_type == "idle_prompt" and session.agent_state is not AgentState.ENDED:
        change |= {"agent_state": AgentState.IDLE, "state_source": "hooks"}


def _subagent_start(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SubagentStartData = event.data
    actor_id = f"subagent:{data.agent_id}"
    actor = Actor(
        actor_id=actor_id,
        kind="subagent",
        display_name=data.agent_type or data.agent_id,
        agent_type=data.agent_type,
        parent_actor_id="agent:root",
    )
    change["actors"] = {**session.actors, actor_id: actor}
    run: Run | None = change.get("run", session.run)
    if run is not None and data.agent_id not in run.subagent_ids:
        change["run"] = replace(run, subagent_ids=(*run.subagent_ids, data.agent_id))


def _cwd_changed(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    change["context"] = change.get("context", session.context).merged(Context(cwd=event.data.new_cwd))


def _todo(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    change["todos"] = with_todo(session.todos, event)


def with_todo(todos: dict[str, Todo], event: FeedEvent) -> dict[str, Todo]:
    """The to-dos after an event about one of them."""
    todo = todos.get(event.data.todo_id)
    match event.data:
        case TodoAddData() as data:
            return {**todos, data.todo_id: Todo(**shared_fields(data, Todo))}
        case TodoUpdateData(patch=patch) if todo is not None:
            changed = {k: str(v) for k, v in patch.items() if k in ("text", "status")}
            return {**todos, todo.todo_id: replace(todo, **changed)}
        case TodoDoneData() if todo is not None:
            return {**todos, todo.todo_id: replace(todo, status="done")}
        case _:
            return todos


def _message(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: MessageData = event.data
    if event.actor_id == ROOT:
        change |= {"last_text": shortened(data.text), "last_text_at": data.said_at or event.at}


def _session_usage(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionUsageData = event.data
    transcript = with_part(session.transcript, data)
    change |= {"transcript": transcript, "usage": usage_and_cost(transcript)}
    if data.title and (data.titled_by_user or not session.transcript.named):
        change["title"] = preview(data.title)
    if data.spent and not data.agent_id:
        change["model"] = data.spent[-1].model or session.model


def _session_summary(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    change["transcript"] = replace(session.transcript, is_summarized=session.ended_at is not None)


_FOLDS: dict[str, Callable[[Draft, Session, FeedEvent, Change], None]] = {
    "session.start": _session_start,
    "session.end": _session_end,
    "session.state": _session_state,
    "session.usage": _session_usage,
    "session.summary": _session_summary,
    "message.assistant": _message,
    "run.start": _run_start,
    "run.end": _run_end,
    "stop.failure": _stop_failure,
    "user.prompt": _user_prompt,
    "tool.pre": _tool_pre,
    "tool.post": _tool_post,
    "tool.failure": _tool_failure,
    "tool.batch": _tool_batch,
    "subagent.start": _subagent_start,
    "notification": _notification,
    "cwd.changed": _cwd_changed,
    "todo.add": _todo,
    "todo.update": _todo,
    "todo.done": _todo,
    **REQUEST_FOLDS,
    **OWNED_SESSION_FOLDS,
}
