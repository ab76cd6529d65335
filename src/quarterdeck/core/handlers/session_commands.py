"""Commands to sessions: which are allowed when, and one writer for each conversation. An observed session takes a
prompt, an interrupt and its end; whether its terminal is fit for that is known only at the terminal.

A refusal names the session with its whole id, and the next command with the beginning of it, as a person types it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from quarterdeck.core.engine.input_bases import SignedSessionInput
from quarterdeck.core.engine.prompt_queue import has_conversation, is_resting
from quarterdeck.core.engine.session_identity import current_session
from quarterdeck.core.engine.session_messages import (
    MODES,
    OBSERVED,
    DeliverPrompt,
    DiscardWorktree,
    EndAgent,
    EndSession,
    InterruptAgent,
    InterruptSession,
    ReconfigureAgent,
    ReconfigureSession,
    SendPrompt,
    StartSession,
    SwitchMode,
)
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.session_lifecycle import WORKING_STATES, end_agent, launch, with_conversation
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.event_data.owned_session_data import (
    SessionChangeData,
    SessionCloseData,
    SessionSendData,
)
from quarterdeck.core.model.event_data.session_data import SessionInterruptData
from quarterdeck.core.model.events import USER
from quarterdeck.core.model.runtime_event import FIRST_AGENT
from quarterdeck.core.model.state import Ownership, Session
from quarterdeck.core.model.tool_use import is_within
from quarterdeck.core.workspace.folder_trust import is_trusted

C = TypeVar("C", bound=SignedSessionInput)


class CommandRefusal(Exception):
    """A command that is not possible now: the error kind of the API, and a message with the next step."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def _replied(handle: Callable[[Step, C], None]) -> Callable[[Step, C], None]:
    """A handler that also replies: the command was applied, or why it was refused."""

    def handler(step: Step, command: C) -> None:
        try:
            handle(step, command)
        except CommandRefusal as refusal:
            step.reply(command.session_id, refusal.kind, str(refusal))
        else:
            step.reply(command.session_id, "applied")

    return handler


@_replied
def start_session(step: Step, start: StartSession) -> None:
    if start.mode not in MODES:
        raise CommandRefusal("invalid", f"mode: one of {', '.join(MODES)}")
    if start.shell and start.mode == "sdk":
        raise CommandRefusal("invalid", "shell: needs a terminal, mode pty or tmux")
    if not start.shell:
        _check_modes(step, start.agent or FIRST_AGENT, start.mode, start.permission_mode)
    if start.resume:
        _check_continues(step, start.agent or FIRST_AGENT, forks=start.fork)
    project = start.worktree or start.cwd
    if not is_trusted(step.draft.trust, project, "sessions"):
        raise CommandRefusal("untrusted_project", f"{project} is not trusted; first: qd projects trust {project}")
    if start.discarding:
        raise CommandRefusal("invalid", f"cwd: {start.cwd} is being discarded")
    running = sum(1 for s in step.draft.sessions.values() if s.runs_here)
    if running >= step.draft.state.settings.max_sessions:
        raise CommandRefusal(
            "too_many_sessions", f"{running} owned sessions are running; end one, or raise sdk.max_sessions"
        )
    if start.resume and not start.fork:
        _check_resume(step, start)
    elif _known_session(step, start.session_id):
        raise CommandRefusal("already_exists", f"{start.session_id} exists; resume or fork it")
    launch(step, _with_conversation(step, start))


def _check_modes(step: Step, agent: str, mode: str, permission_mode: str | None = None) -> None:
    """Refuse a mode that the agent does not have: it may take any word, and then be in none of its modes."""
    can = step.draft.state.settings.capabilities.get(agent)
    if can is None:
        return
    if mode not in can.modes:
        raise CommandRefusal("invalid", f"mode: {can.label} runs in {', '.join(can.modes)}")
    if permission_mode not in (None, *can.permission_modes):
        raise CommandRefusal("invalid", f"permission_mode: {can.label} has {', '.join(can.permission_modes)}")


def _check_continues(step: Step, agent: str, *, forks: bool = False) -> None:
    """Refuse to continue a conversation of an agent that cannot, before its process is ended for that."""
    can = step.draft.state.settings.capabilities.get(agent)
    if can is not None and not (can.forks if forks else can.resumes):
        verb = "fork" if forks else "continue"
        raise CommandRefusal("not_possible", f"{can.label} cannot {verb} a conversation")


def _known_session(step: Step, session_id: str) -> Session | None:
    return step.draft.sessions.get(session_id) or step.draft.ended.get(session_id)


def _with_conversation(step: Step, start: StartSession) -> StartSession:
    """The start with a conversation that the agent has kept: a session that never got a prompt has none."""
    before = _known_session(step, start.resume or "")
    if before is None or before.owned is None or has_conversation(before):
        return start
    if not start.fork:
        return with_conversation(start, before, before.owned)
    if before.owned.forked_from is None:
        raise CommandRefusal("not_possible", f"{start.resume} got no prompt yet, so there is nothing to fork: qd run")
    return replace(start, resume=before.owned.forked_from, fork_at=start.fork_at or before.owned.fork_at)


def _check_resume(step: Step, start: StartSession) -> None:
    """Refuse to resume a conversation that another process may be writing: it can only be forked."""
    resumed = start.resume or ""
    before = step.draft.sessions.get(resumed)
    if before is not None and before.runs_here:
        raise CommandRefusal("session_runs", f"{start.resume} already runs here; to prompt it: qd send {resumed[:8]}")
    instead = f"end it there, or: qd fork {resumed[:8]}"
    if start.runs_as is not None:
        raise CommandRefusal("session_runs", f"{start.resume} runs as process {start.runs_as}; {instead}")
    successor = current_session(step.draft.state, start.session_id)
    if successor is not None and successor.runs_here and successor.session_id != start.session_id:
        raise CommandRefusal(
            "session_runs", f"{start.resume} continues as {successor.session_id}; end that first, or fork it"
        )
    if before is not None and (before.process is not None or before.agent_state is not AgentState.UNKNOWN):
        where = f"as process {before.process.pid}" if before.process else "in a terminal"
        raise CommandRefusal("session_runs", f"{start.resume} still runs {where}; {instead}")


@_replied
def discard_worktree(step: Step, command: DiscardWorktree) -> None:
    """Refuse to remove a worktree in which a session runs: its own, under whatever id, or another one, as a fork."""
    own = current_session(step.draft.state, command.session_id)
    for session in step.draft.sessions.values():
        if session.runs_here and (session is own or is_within(session.context.cwd, command.path)):
            message = f"{session.session_id} still runs there; first: qd end {session.session_id[:8]}"
            raise CommandRefusal("session_runs", message)


def _running_session(step: Step, session_id: str) -> tuple[Session, Ownership]:
    session = _known_session(step, session_id)
    if session is None:
        raise CommandRefusal("not_found", f"no such session: {session_id}")
    owned = session.owned
    if owned is None:
        takeover = f"qd takeover {session_id[:8]} once it has ended there"
        raise CommandRefusal(
            "not_owned", f"{session_id} runs in its own terminal; use qd fork {session_id[:8]}, or {takeover}"
        )
    if owned.status == "moved":
        raise CommandRefusal("not_running", f"{session_id} continues as {owned.moved_to}")
    if not owned.runs:
        raise CommandRefusal("not_running", f"{session_id} has ended; to continue it: qd resume {session_id[:8]}")
    if owned.status == "ending":
        raise CommandRefusal("not_running", f"{session_id} is ending")
    return session, owned


def _commanded_session(step: Step, session_id: str) -> tuple[Session, str]:
    """A session that takes commands, and its handle: a running owned one, or an observed one that has not ended."""
    session = _known_session(step, session_id)
    if session is None or session.owned is not None:
        session, owned = _running_session(step, session_id)
        return session, owned.handle
    if session.ended_at is not None:
        raise CommandRefusal("not_running", f"{session_id} has ended; to continue it: qd resume {session_id[:8]}")
    return session, session_id


@_replied
def send_prompt(step: Step, send: SendPrompt) -> None:
    deliver_prompt(step, send)


def deliver_prompt(step: Step, send: SendPrompt) -> None:
    """Deliver a prompt to the step's session; `CommandRefusal` when it does not take one now."""
    session, handle = _commanded_session(step, send.session_id)
    if session.mode == OBSERVED and send.attachments:
        raise CommandRefusal("not_possible", "a prompt to an observed session takes no attachments; name their paths")
    if session.mode != "sdk" and session.waiting:
        raise CommandRefusal("dialog_open", f"{send.session_id} waits for a decision; first: qd requests")
    data = SessionSendData(
        message_id=send.message_id, prompt=send.prompt, by=send.by, attachments=len(send.attachments)
    )
    step.emit("session.send", data, actor=USER)
    step.effects.append(DeliverPrompt(send=send, mode=session.mode, handle=handle))


@_replied
def interrupt_session(step: Step, command: InterruptSession) -> None:
    interrupt_turn(step, command)


def interrupt_turn(step: Step, command: InterruptSession) -> None:
    """Interrupt the running turn of the step's session; `CommandRefusal` when there is none."""
    session, handle = _commanded_session(step, command.session_id)
    idle = is_resting(session)
    if session.mode == OBSERVED and session.waiting:
        raise CommandRefusal("dialog_open", f"{command.session_id} waits for a decision; first: qd requests")
    if session.mode == OBSERVED and idle:
        raise CommandRefusal("not_busy", f"{command.session_id} is not at work: nothing to interrupt")
    data = SessionInterruptData(by=command.by, idle=idle)
    step.emit("session.interrupt", data, actor=USER, level="info" if idle else "warn")
    step.effects.append(InterruptAgent(mode=session.mode, handle=handle))


@_replied
def end_session(step: Step, command: EndSession) -> None:
    session, handle = _commanded_session(step, command.session_id)
    if session.owned is not None:
        end_agent(step, session, session.owned, command.by)
        return
    if session.process is None:
        raise CommandRefusal(
            "not_possible", f"the process of {command.session_id} is not known; end it in its terminal"
        )
    step.emit("session.close", SessionCloseData(by=command.by), actor=USER)
    step.effects.append(EndAgent(mode=session.mode, handle=handle, process=session.process))


@_replied
def reconfigure_session(step: Step, command: ReconfigureSession) -> None:
    session, owned = _running_session(step, command.session_id)
    if session.mode != "sdk":
        raise CommandRefusal(
            "not_possible", f"a {session.mode} session changes this at its own prompt: /model, shift+tab"
        )
    model, permission_mode = command.model, command.permission_mode
    _check_modes(step, session.agent, session.mode, permission_mode)
    data = SessionChangeData(by=command.by, model=model, permission_mode=permission_mode)
    step.emit("session.change", data, actor=USER)
    step.effects.append(ReconfigureAgent(mode="sdk", handle=owned.handle, model=model, permission_mode=permission_mode))


@_replied
def switch_mode(step: Step, command: SwitchMode) -> None:
    session, owned = _running_session(step, command.session_id)
    if command.mode not in MODES:
        raise CommandRefusal("invalid", f"mode: one of {', '.join(MODES)}")
    _check_modes(step, session.agent, command.mode)
    _check_continues(step, session.agent)
    if command.mode == session.mode:
        raise CommandRefusal("invalid", f"mode: is already {command.mode}; choose another")
    if owned.shell:
        raise CommandRefusal("not_possible", "a shell cannot continue in another mode")
    if session.agent_state in WORKING_STATES or session.agent_state is AgentState.SENT:
        raise CommandRefusal(
            "session_busy", f"{command.session_id} is at work; first: qd interrupt {command.session_id[:8]}"
        )
    end_agent(step, session, owned, command.by, next_mode=command.mode)
