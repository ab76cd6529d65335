"""Routes of sessions: start, prompt, interrupt, end, reconfigure, fork and take over."""

from __future__ import annotations

import secrets
import uuid
from typing import Annotated, Any

from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import Backend, ProjectBackend, SessionBackend
from quarterdeck.api.http.attachments import Attachment, blocks
from quarterdeck.api.http.endpoint import Id, endpoint
from quarterdeck.api.http.error_responses import applied, invalid, not_found, refused_as
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.routes.queries import known_session
from quarterdeck.api.views.resources import session_view
from quarterdeck.core.engine.prompt_queue import is_resting, turns_ahead
from quarterdeck.core.engine.session_messages import (
    EndSession,
    InterruptSession,
    ReconfigureSession,
    SendPrompt,
    SessionCommand,
    SessionMode,
    StartSession,
    SwitchMode,
)
from quarterdeck.core.model.decisions import PermissionMode
from quarterdeck.core.model.state import Session
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.session_view import SessionView

Prompt = Annotated[str, Meta(min_length=1, max_length=1_000_000)]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^-\x00-\x1f][^\x00-\x1f]*\Z")]
Path = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]
Size = Annotated[int, Meta(ge=2, le=1000)]
ToolName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,127}\Z")]
MOST_ATTACHED = 20

Attached = Annotated[list[Attachment], Meta(max_length=MOST_ATTACHED)]


class NewSession(Struct, kw_only=True, forbid_unknown_fields=True):
    """A session to start, in a folder or a project. `resume` continues a conversation; with `fork` it gets a new id,
    and `at` is the message to fork from. The default `mode` is that of the session it continues, else sdk. `worktree`
    starts it in a new git worktree, from the branch `base` (default: the one that is checked out). `tools` are the
    agent's own tools that a session over the SDK has (default: all); it can ask you questions in any case."""

    cwd: Path | None = None
    project_id: Id | None = None
    mode: SessionMode | None = None
    prompt: Prompt | None = None
    attachments: Attached = []
    permission_mode: PermissionMode | None = None
    model: Name | None = None
    max_turns: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    tools: Annotated[list[ToolName], Meta(max_length=200)] | None = None
    resume: Id | None = None
    fork: bool = False
    at: Id | None = None
    title: Name | None = None
    cols: Size | None = None
    rows: Size | None = None
    shell: bool = False
    worktree: bool = False
    base: Name | None = None


class NewMessage(Struct, kw_only=True, forbid_unknown_fields=True):
    prompt: Prompt
    attachments: Attached = []


class SentMessage(Struct, kw_only=True):
    """A prompt that was delivered or queued: an SDK session takes one prompt at a time. `ahead` is the number of turns
    before it, including the running one."""

    message_id: str
    session_id: str
    ahead: int


class InterruptedSession(SessionView, kw_only=True):
    """The session. `interrupted` is false when no turn was known to run; the agent is interrupted in any case."""

    interrupted: bool


class NewMode(Struct, kw_only=True, forbid_unknown_fields=True):
    """The mode, model or permission mode to change to."""

    mode: SessionMode | None = None
    model: Name | None = None
    permission_mode: PermissionMode | None = None


class NewFork(Struct, kw_only=True, forbid_unknown_fields=True):
    at: Id | None = None
    mode: SessionMode | None = None
    permission_mode: PermissionMode | None = None
    prompt: Prompt | None = None


class NewTakeover(Struct, kw_only=True, forbid_unknown_fields=True):
    """A takeover. With `fork` the session may still run in its terminal."""

    mode: SessionMode = "sdk"
    permission_mode: PermissionMode | None = None
    fork: bool = False
    prompt: Prompt | None = None


class ScreenView(Struct, kw_only=True):
    """The text on a session's terminal."""

    session_id: str
    text: str


@endpoint("start_session")
async def start_session(backend: Backend, caller: Caller, *, data: JSONBody[NewSession]) -> SessionView:
    """Start or resume a session. Its project must be trusted."""
    return await _start(backend, caller, data)


@endpoint("send_message")
async def send_message(
    sessions: SessionBackend, caller: Caller, *, session_id: FromPath[str], data: JSONBody[NewMessage]
) -> SentMessage:
    """Send a prompt to an owned session, or to an observed one in a pane of your own tmux."""
    send = SendPrompt(
        session_id=session_id,
        message_id=f"m{secrets.token_hex(8)}",
        prompt=data.prompt,
        attachments=blocks(data.attachments),
        by=caller.name,
        at=0.0,
    )
    applied(await sessions.execute(send))
    ahead = turns_ahead(known_session(sessions, session_id), send.message_id)
    return struct_of(SentMessage, send, ahead=ahead)


@endpoint("interrupt_session")
async def interrupt(backend: Backend, caller: Caller, *, session_id: FromPath[str]) -> InterruptedSession:
    """Interrupt the turn of an owned session, or of an observed one in a pane of your own tmux."""
    before = backend.sessions.get(session_id)
    after = await _execute(backend, InterruptSession(session_id=session_id, by=caller.name, at=0.0))
    return struct_of(InterruptedSession, after, interrupted=before is not None and not is_resting(before))


@endpoint("end_session")
async def end(backend: Backend, caller: Caller, *, session_id: FromPath[str]) -> SessionView:
    """End a session, with every process it started. An observed one gets SIGTERM."""
    return await _execute(backend, EndSession(session_id=session_id, by=caller.name, at=0.0))


@endpoint("change_mode")
async def change_mode(
    backend: Backend, caller: Caller, *, session_id: FromPath[str], data: JSONBody[NewMode]
) -> SessionView:
    """Change the mode of an owned session, or its model or permission mode."""
    named: dict[str, Any] = {"session_id": session_id, "by": caller.name, "at": 0.0}
    if data.mode is None and data.model is None and data.permission_mode is None:
        raise invalid("mode", "send mode, model or permission_mode")
    if data.mode is None:
        change = ReconfigureSession(**named, model=data.model, permission_mode=data.permission_mode)
        return await _execute(backend, change)
    if data.model or data.permission_mode:
        raise invalid("mode", "change either the mode, or the model and permission_mode")
    return await _execute(backend, SwitchMode(**named, mode=data.mode))


@endpoint("fork_session")
async def fork(
    backend: Backend, caller: Caller, *, session_id: FromPath[str], data: JSONBody[NewFork | None] = None
) -> SessionView:
    """Continue a conversation under a new id; the original stays as it is."""
    body = data or NewFork()
    return await _continue(backend, caller, session_id, body, fork=True, at=body.at, mode=body.mode)


@endpoint("takeover_session")
async def takeover(
    backend: Backend, caller: Caller, *, session_id: FromPath[str], data: JSONBody[NewTakeover | None] = None
) -> SessionView:
    """Take over a session that ended in your terminal, or of which only the transcript is left."""
    body = data or NewTakeover()
    return await _continue(backend, caller, session_id, body, fork=body.fork, mode=body.mode)


@endpoint("get_screen")
async def get_screen(sessions: SessionBackend, *, session_id: FromPath[str]) -> ScreenView:
    """Show the text on the terminal of an owned session."""
    with refused_as("no_terminal"):
        return ScreenView(session_id=session_id, text=await sessions.screen(known_session(sessions, session_id)))


async def _continue(
    backend: Backend, caller: Caller, session_id: str, body: NewFork | NewTakeover, **more: Any
) -> SessionView:
    new = NewSession(resume=session_id, permission_mode=body.permission_mode, prompt=body.prompt, **more)
    return await _start(backend, caller, new)


async def _start(backend: Backend, caller: Caller, body: NewSession) -> SessionView:
    known = await _found(backend.sessions, body.resume) if body.resume else None
    for field, needed in (("fork", "resume"), ("at", "fork"), ("base", "worktree")):
        if getattr(body, field) and not getattr(body, needed):
            raise invalid(field, f"needs {needed}")
    if body.worktree and body.resume:
        raise invalid("worktree", "not with resume; a conversation continues in its own folder")
    start = struct_of(
        StartSession,
        body,
        session_id=body.resume if body.resume and not body.fork else str(uuid.uuid4()),
        mode=body.mode or (known.mode if known is not None and known.owned else "sdk"),
        cwd=await _folder(backend.projects, body, known),
        by=caller.name,
        at=0.0,
        agent=known.agent if known is not None else "",
        attachments=blocks(body.attachments),
        tools=None if body.tools is None else tuple(body.tools),
        fork_at=body.at,
        worktree=known.owned.worktree if known is not None and known.owned else None,
        base=(body.base or "") if body.worktree else None,
    )
    return await _execute(backend, start)


async def _execute(backend: Backend, command: SessionCommand) -> SessionView:
    """Run a command and return the session afterwards."""
    applied(await backend.sessions.execute(command))
    return session_view(known_session(backend.sessions, command.session_id), backend)


async def _found(sessions: SessionBackend, session_id: str) -> Session:
    return await sessions.find(session_id) or known_session(sessions, session_id)


async def _folder(projects: ProjectBackend, body: NewSession, known: Session | None) -> str:
    if body.cwd is not None and body.project_id is not None:
        raise invalid("project_id", "send either cwd or project_id")
    if body.cwd is not None:
        return body.cwd
    if body.project_id is not None:
        for entry in await projects.entries():
            if project_id_of(entry.project.path) == body.project_id:
                return entry.project.path
        raise not_found("project", body.project_id, "qd projects")
    if known is not None and known.context.cwd:
        return known.context.cwd
    raise invalid("cwd", "send cwd or project_id")
