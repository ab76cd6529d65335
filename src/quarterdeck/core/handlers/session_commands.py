"""Orders to sessions of ours: who may have one where, and one writer for each."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from quarterdeck.core.engine.messages import Reply
from quarterdeck.core.engine.prompt_queue import rests
from quarterdeck.core.engine.session_identity import current
from quarterdeck.core.engine.session_messages import (
    MODES,
    Adjust,
    Change,
    Deliver,
    End,
    Halt,
    Interrupt,
    Order,
    Send,
    Start,
    Switch,
)
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.session_lifecycle import AT_WORK, close, launch
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model import session_event_data as o
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.events import USER
from quarterdeck.core.model.state import Ours, Session
from quarterdeck.core.workspace.projects import is_trusted


class Refusal(Struct, frozen=True):
    """An error kind of the API, and what to do about it."""

    kind: str
    message: str


def carry_out(step: Step, order: Order) -> None:
    """Record the order and have it done, or say why not."""
    match order:
        case Start():
            refusal = _start(step, order)
        case Send():
            refusal = _send(step, order)
        case Interrupt():
            refusal = _interrupt(step, order)
        case End():
            refusal = _end(step, order)
        case Change():
            refusal = _change(step, order)
        case Switch():
            refusal = _switch(step, order)
        case _:
            assert_never(order)
    said = refusal or Refusal("applied", "")
    step.effects.append(Reply(request_id=order.session_id, outcome=said.kind, message=said.message))


def _start(step: Step, start: Start) -> Refusal | None:
    refusal = _cannot_start(step, start)
    if refusal is None:
        launch(step, start)
    return refusal


def _cannot_start(step: Step, start: Start) -> Refusal | None:
    if start.mode not in MODES:
        return Refusal("invalid", f"mode: one of {', '.join(MODES)}")
    if start.shell and start.mode == "sdk":
        return Refusal("invalid", "shell: needs a terminal, mode pty or tmux")
    project = start.worktree or start.cwd
    if not is_trusted(step.draft.trust, project):
        return Refusal("untrusted_project", f"{project} is not trusted; first: qd projects trust {project}")
    running = sum(1 for s in step.draft.sessions.values() if s.runs_here)
    if running >= step.draft.state.settings.max_sessions:
        return Refusal("too_many_sessions", f"{running} sessions of ours run; end one, or raise sdk.max_sessions")
    return _cannot_go_on(step, start) if start.resume else _is_taken(step, start)


def _is_taken(step: Step, start: Start) -> Refusal | None:
    known = start.session_id in step.draft.sessions or start.session_id in step.draft.ended
    return Refusal("already_exists", f"{start.session_id} exists; resume or fork it") if known else None


def _cannot_go_on(step: Step, start: Start) -> Refusal | None:
    """One writer per session: a conversation that somebody else may be writing can only be forked."""
    if start.fork:
        return _is_taken(step, start)
    before = step.draft.sessions.get(start.resume or "")
    if before is not None and before.runs_here:
        return Refusal("session_runs", f"{start.resume} already runs here ({before.mode})")
    instead = f"end it there, or: qd fork {start.resume}"
    if start.runs_as is not None:
        return Refusal("session_runs", f"{start.resume} runs as process {start.runs_as}; {instead}")
    goes_on = current(step.draft.state, start.session_id)
    if goes_on is not None and goes_on.runs_here and goes_on.session_id != start.session_id:
        return Refusal("session_runs", f"{start.resume} goes on as {goes_on.session_id}; end that first, or fork it")
    if before is None:
        return None
    if before.process is not None or before.agent_state is not AgentState.UNKNOWN:
        where = f"as process {before.process.pid}" if before.process else "in a terminal"
        return Refusal("session_runs", f"{start.resume} still runs {where}; {instead}")
    return None


class Running(Struct, frozen=True):
    """A session of ours that runs."""

    session: Session
    ours: Ours


def _running(step: Step, session_id: str) -> Running | Refusal:
    session = step.draft.sessions.get(session_id) or step.draft.ended.get(session_id)
    if session is None:
        return Refusal("not_found", f"no such session: {session_id}")
    if session.ours is None:
        takeover = f"qd takeover {session_id} once it has ended there"
        return Refusal("not_ours", f"{session_id} is at a terminal of its own; qd fork {session_id}, or {takeover}")
    if session.ours.status == "moved":
        return Refusal("not_running", f"{session_id} goes on as {session.ours.moved_to}")
    if not session.ours.runs:
        return Refusal("not_running", f"{session_id} has ended; to go on: qd resume {session_id}")
    if session.ours.status == "ending":
        return Refusal("not_running", f"{session_id} is ending")
    return Running(session, session.ours)


def _send(step: Step, send: Send) -> Refusal | None:
    found = _running(step, send.session_id)
    if isinstance(found, Refusal):
        return found
    if found.session.mode != "sdk" and found.session.waiting:
        return Refusal("dialog_open", f"{send.session_id} waits for a decision; first: qd requests")
    data = o.SessionSendData(
        message_id=send.message_id, prompt=send.prompt, by=send.by, attachments=len(send.attachments)
    )
    step.emit("session.send", data, actor=USER)
    step.effects.append(Deliver(send=send, mode=found.session.mode, handle=found.ours.handle))
    return None


def _interrupt(step: Step, order: Interrupt) -> Refusal | None:
    found = _running(step, order.session_id)
    if isinstance(found, Refusal):
        return found
    idle = rests(found.session)
    data = d.SessionInterruptData(by=order.by, idle=idle)
    step.emit("session.interrupt", data, actor=USER, level="info" if idle else "warn")
    step.effects.append(Halt(mode=found.session.mode, handle=found.ours.handle))
    return None


def _end(step: Step, order: End) -> Refusal | None:
    found = _running(step, order.session_id)
    if isinstance(found, Refusal):
        return found
    close(step, found.session, found.ours, order.by)
    return None


def _change(step: Step, order: Change) -> Refusal | None:
    found = _running(step, order.session_id)
    if isinstance(found, Refusal):
        return found
    if found.session.mode != "sdk":
        return Refusal(
            "not_possible", f"a {found.session.mode} session changes this at its own prompt: /model, shift+tab"
        )
    data = o.SessionChangeData(by=order.by, model=order.model, permission_mode=order.permission_mode)
    step.emit("session.change", data, actor=USER)
    step.effects.append(
        Adjust(mode="sdk", handle=found.ours.handle, model=order.model, permission_mode=order.permission_mode)
    )
    return None


def _switch(step: Step, order: Switch) -> Refusal | None:
    found = _running(step, order.session_id)
    if isinstance(found, Refusal):
        return found
    if order.mode not in MODES:
        return Refusal("invalid", f"mode: one of {', '.join(MODES)}")
    if order.mode == found.session.mode:
        return Refusal("invalid", f"mode: it is {order.mode} already")
    if found.ours.shell:
        return Refusal("not_possible", "a shell cannot go on elsewhere")
    if found.session.agent_state in AT_WORK or found.session.agent_state is AgentState.SENT:
        return Refusal("session_busy", f"{order.session_id} is at work; first: qd interrupt {order.session_id}")
    close(step, found.session, found.ours, order.by, next_mode=order.mode)
    return None
