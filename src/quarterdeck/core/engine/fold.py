"""How one feed event changes the state. Restart is this fold over the log, so nothing else may change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.draft import Draft
from quarterdeck.core.engine.fold_requests import DESK, confirm, confirm_interrupts, counted, sent_about
from quarterdeck.core.engine.fold_sessions import OURS, heard
from quarterdeck.core.engine.fold_transcripts import beginning, unrolled, used
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.agent_state import SAYS_STATE, WAITING, AgentState, state_after, state_of_process
from quarterdeck.core.model.events import OWN, ROOT, USER, FeedEvent, run_number
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Actor, OpenTool, ProcessId, Run, Session, State, Todo, Token

PREVIEW = 120
MAX_OPEN_TOOLS = 1000

Change = dict[str, Any]


def fold(state: State, events: Iterable[FeedEvent]) -> State:
    """The state after these events."""
    draft = Draft(state)
    for event in events:
        apply(draft, event)
    return draft.done()


def apply(draft: Draft, event: FeedEvent) -> None:
    """Write one event into the draft."""
    if event.session_id == OWN:
        _apply_own(draft, event)
        return
    session = draft.session(event.session_id, event.at)
    run = session.run
    now = state_after(event.kind, session.agent_state)
    change: Change = {"last_event_at": event.at, "agent_state": now}
    if event.kind in SAYS_STATE:
        change |= {"state_source": "hooks", "state_at": event.at, "heard_at": event.at}
    if event.context is not None:
        change["context"] = merged(session.context, event.context)
    if run is not None and run.run_id == event.run_id:
        change["run"] = replace(run, seq=event.seq)
    elif event.run_id.endswith(":R0"):
        change["seq_outside"] = event.seq
    elif event.run_id == session.last_run_id:
        change["last_run_seq"] = event.seq
    kind = _KINDS.get(event.kind)
    if kind is not None:
        kind(draft, session, event, change)
    waiting = change.get("waiting", session.waiting)
    if waiting and change["agent_state"] is not AgentState.ENDED:
        change["agent_state"] = _while_waiting(waiting, change["agent_state"])
    if change["agent_state"] is not session.agent_state:
        change["state_at"] = event.at
    draft.seq_no = event.seq_no
    draft.put_session(replace(session, **change))


def _apply_own(draft: Draft, event: FeedEvent) -> None:
    """What concerns the runner itself."""
    draft.seq_no, draft.own_seq = event.seq_no, event.seq
    match event.data:
        case d.TokenCreateData() as made:
            draft.tokens = {
                **draft.tokens,
                made.token_id: Token(
                    token_id=made.token_id,
                    name=made.name,
                    scopes=tuple(made.scopes),
                    verifier=made.verifier,
                    created_at=event.at,
                    created_by=made.by,
                    kind=made.kind,
                    expires_at=made.expires_at,
                ),
            }
        case d.TokenRevokeData(token_id=token_id):
            draft.tokens = {k: t for k, t in draft.tokens.items() if k != token_id}
        case d.RuleAddData() as added:
            draft.rules = {**draft.rules, added.rule_id: _rule(added, event.at)}
        case d.RuleRemoveData(rule_id=rule_id):
            draft.rules = {k: r for k, r in draft.rules.items() if k != rule_id}
            draft.rule_hits = {k: h for k, h in draft.rule_hits.items() if k != rule_id}
        case d.ProjectTrustData(path=path, trust=trust):
            draft.trust = {**draft.trust, path: trust}
        case d.SettingChangeData(key=key, new=new):
            rest = {k: v for k, v in draft.changed_settings.items() if k != key}
            draft.changed_settings = rest if new is None else {**rest, key: new}
        case _:
            pass


def _rule(data: d.RuleAddData, at: float) -> Rule:
    return Rule(
        rule_id=data.rule_id,
        effect=data.effect,
        pattern=data.pattern,
        scope=data.scope,
        created_at=at,
        created_by=data.by,
        scope_id=data.scope_id,
        scope_path=data.scope_path,
        expires_at=data.expires_at,
        note=data.note,
    )


def merged(old: Context, new: Context) -> Context:
    """The old context with every field the new one names."""
    return Context(
        cwd=new.cwd or old.cwd,
        transcript_path=new.transcript_path or old.transcript_path,
        permission_mode=new.permission_mode or old.permission_mode,
        entrypoint=new.entrypoint or old.entrypoint,
        pid=new.pid or old.pid,
        tag=new.tag or old.tag,
    )


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
    data: d.SessionStartData = event.data
    change |= {"ended_at": None, "source": data.source, "model": data.model or session.model}
    forked_at = session.transcript.forked_at or (event.at if data.source == "fork" else 0.0)
    if session.transcript.summed_up or forked_at != session.transcript.forked_at:
        change["transcript"] = replace(session.transcript, summed_up=False, forked_at=forked_at)
    if data.session_title:
        change["title"] = data.session_title
    if data.source != "compact":
        process = session.process if session.runs_here else None
        change |= {"agent_state": AgentState.IDLE, "process": process, "background": 0}


def _session_end(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.SessionEndData = event.data
    change |= {"ended_at": event.at, "run": None, "open_tools": {}, "waiting": {}, "sent": {}}
    change["state_source"] = data.source
    draft.forget_requests(session.session_id)
    if data.reason != "clear":
        change["agent_state"] = AgentState.ENDED
    elif session.agent_state in WAITING or session.agent_state is AgentState.RUNNING:
        change["agent_state"] = AgentState.SETTLED


def _session_state(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.SessionStateData = event.data
    if data.pid is not None and data.start is not None:
        change["process"] = ProcessId(data.pid, data.start)
    said = state_of_process(data.status, data.waiting_for)
    if said is not None:
        change |= {"agent_state": said, "state_source": "process", "state_at": event.at}


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
    if session.ended_at is not None:
        change |= {"ended_at": None, "agent_state": AgentState.RUNNING, "state_source": "hooks"}


def _run_end(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    run: Run | None = change.get("run", session.run)
    if run is not None:
        change["totals"] = _sum(session.totals, run.counters)
    if event.data.status == "aborted":
        confirm_interrupts(draft, session)
    change |= {"run": None, "open_tools": {}, "sent": {}, "last_run_id": event.run_id, "last_run_seq": event.seq}
    draft.forget_requests(session.session_id)


def _sum(a: d.Counters, b: d.Counters) -> d.Counters:
    return d.Counters(
        tool_uses=a.tool_uses + b.tool_uses,
        tool_failures=a.tool_failures + b.tool_failures,
        permission_requests=a.permission_requests + b.permission_requests,
        blocks=a.blocks + b.blocks,
    )


def _user_prompt(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    change["background"] = 0
    if session.ours is not None and event.actor_id == USER:
        change["ours"] = heard(session.ours)
    if not session.title and event.actor_id == USER:
        change["title"] = preview(event.data.prompt)


def _tool_pre(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.ToolPreData = event.data
    counted(change, session, tool_uses=1)
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
        key = sent_about(draft, session, data.tool_use_id, data.tool_name, data.tool_input)
        confirm(draft, session, key, change, ran=True)


def _tool_failure(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    counted(change, session, tool_failures=1)
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
    data: d.SubagentStartData = event.data
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
    change["context"] = merged(change.get("context", session.context), Context(cwd=event.data.new_cwd))


def _todo_add(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.TodoAddData = event.data
    change["todos"] = {**session.todos, data.todo_id: Todo(todo_id=data.todo_id, text=data.text)}


def _todo_update(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.TodoUpdateData = event.data
    todo = session.todos.get(data.todo_id)
    if todo is not None:
        patched = replace(todo, **{k: str(v) for k, v in data.patch.items() if k in ("text", "status")})
        change["todos"] = {**session.todos, data.todo_id: patched}


def _todo_done(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    todo = session.todos.get(event.data.todo_id)
    if todo is not None:
        change["todos"] = {**session.todos, todo.todo_id: replace(todo, status="done")}


def _message(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.MessageData = event.data
    if event.actor_id == ROOT:
        change |= {"last_text": beginning(data.text), "last_text_at": data.said_at or event.at}


def _session_usage(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: d.SessionUsageData = event.data
    transcript = unrolled(session.transcript, data)
    change |= {"transcript": transcript, "usage": used(transcript)}
    if data.title and (data.titled_by_user or not session.transcript.named):
        change["title"] = preview(data.title)
    if data.spent and not data.agent_id:
        change["model"] = data.spent[-1].model or session.model


def _session_summary(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    change["transcript"] = replace(session.transcript, summed_up=session.ended_at is not None)


_KINDS: dict[str, Callable[[Draft, Session, FeedEvent, Change], None]] = {
    "session.start": _session_start,
    "session.end": _session_end,
    "session.state": _session_state,
    "session.usage": _session_usage,
    "session.summary": _session_summary,
    "message.assistant": _message,
    "run.start": _run_start,
    "run.end": _run_end,
    "user.prompt": _user_prompt,
    "tool.pre": _tool_pre,
    "tool.post": _tool_post,
    "tool.failure": _tool_failure,
    "tool.batch": _tool_batch,
    "subagent.start": _subagent_start,
    "notification": _notification,
    "cwd.changed": _cwd_changed,
    "todo.add": _todo_add,
    "todo.update": _todo_update,
    "todo.done": _todo_done,
    **DESK,
    **OURS,
}
