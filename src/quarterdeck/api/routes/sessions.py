"""Routes of sessions of ours: start one, write to it, stop it, let it go on elsewhere."""

from __future__ import annotations

import secrets
import uuid
from typing import Annotated, Any, Literal

from litestar import Request, get, post
from litestar.datastructures import State as AppState
from litestar.params import FromPath, JSONBody
from msgspec import Meta, Struct
from msgspec.structs import asdict

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.principal import by
from quarterdeck.api.routes.attachments import Attachment, blocks
from quarterdeck.api.views.resources import SessionView, session_view
from quarterdeck.core.engine.messages import Reply
from quarterdeck.core.engine.prompt_queue import ahead_of, rests
from quarterdeck.core.engine.session_messages import Change, End, Interrupt, Order, Send, Start, Switch
from quarterdeck.core.model.payload import ID
from quarterdeck.core.model.state import Session
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.errors import Refused

Mode = Literal["sdk", "pty", "tmux"]
PermissionMode = Literal["default", "acceptEdits", "plan", "dontAsk", "auto"]
"""bypassPermissions is not among them: what it lets run nobody is asked about."""

Prompt = Annotated[str, Meta(min_length=1, max_length=1_000_000)]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^-\x00-\x1f][^\x00-\x1f]*\Z")]
Id = Annotated[str, Meta(pattern=rf"^{ID.pattern}\Z")]
Path = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^/[^\0]*\Z")]
Size = Annotated[int, Meta(ge=2, le=1000)]
MOST_ATTACHED = 20

STATUS = {
    "not_found": 404,
    "invalid": 422,
    "untrusted_project": 403,
    "too_many_sessions": 429,
    "not_recorded": 503,
    "failed": 502,
}
"""How an order that was not carried out is answered; any other is a conflict with what is."""


Attached = Annotated[list[Attachment], Meta(max_length=MOST_ATTACHED)]


class NewSession(Struct, kw_only=True, forbid_unknown_fields=True):
    """A session to start, in a folder or a project. `resume` goes on with a conversation, with `fork` under an id of
    its own, `at` from one of its messages. `worktree` has it
    work in a git worktree of its own, from the branch `base` or else the one that is checked out."""

    cwd: Path | None = None
    project_id: Id | None = None
    mode: Mode = "sdk"
    prompt: Prompt | None = None
    attachments: Attached = []
    permission_mode: PermissionMode | None = None
    model: Name | None = None
    max_turns: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    resume: Id | None = None
    fork: bool = False
    at: Id | None = None
    title: Name | None = None
    cols: Size | None = None
    rows: Size | None = None
    shell: bool = False
    worktree: bool = False
    base: Name | None = None


class Message(Struct, kw_only=True, forbid_unknown_fields=True):
    prompt: Prompt
    attachments: Attached = []


class Sent(Struct, kw_only=True):
    """The agent has it, or has it next: an SDK session takes one prompt after another. `ahead` is how many turns come
    before it, the running one among them."""

    message_id: str
    session_id: str
    ahead: int


class Interrupted(SessionView, kw_only=True):
    """The session, and whether anything was known to run: the agent is told in any case."""

    interrupted: bool


class Elsewhere(Struct, kw_only=True, forbid_unknown_fields=True):
    """Another mode to run in, or another model or permission mode to run with."""

    mode: Mode | None = None
    model: Name | None = None
    permission_mode: PermissionMode | None = None


class Fork(Struct, kw_only=True, forbid_unknown_fields=True):
    at: Id | None = None
    mode: Mode | None = None
    permission_mode: PermissionMode | None = None
    prompt: Prompt | None = None


class Takeover(Struct, kw_only=True, forbid_unknown_fields=True):
    """With `fork` it may still run where it was."""

    mode: Mode = "sdk"
    permission_mode: PermissionMode | None = None
    fork: bool = False
    prompt: Prompt | None = None


CONTROL = {"scope": "control"}


@post("/sessions", status_code=201, opt=CONTROL)
async def start_session(state: AppState, request: Request[Any, Any, Any], data: JSONBody[NewSession]) -> SessionView:
    """Start a session, or go on with one. Only in a trusted project."""
    return await start_as(state.desk, data, by(request))


@post("/sessions/{session_id:str}/messages", status_code=202, opt={"scope": "prompt"})
async def send_message(
    state: AppState, request: Request[Any, Any, Any], session_id: FromPath[str], data: JSONBody[Message]
) -> Sent:
    """Write to a session of ours."""
    return await send_as(state.desk, session_id, data, by(request))


@post("/sessions/{session_id:str}/interrupt", status_code=202, opt=CONTROL)
async def interrupt(state: AppState, request: Request[Any, Any, Any], session_id: FromPath[str]) -> Interrupted:
    """Make a session of ours stop what it does."""
    return await interrupt_as(state.desk, session_id, by(request))


@post("/sessions/{session_id:str}/end", status_code=202, opt=CONTROL)
async def end(state: AppState, request: Request[Any, Any, Any], session_id: FromPath[str]) -> SessionView:
    """End a session of ours, with everything it started."""
    return await order_as(state.desk, End(session_id=session_id, by=by(request), at=0.0))


@post("/sessions/{session_id:str}/mode", status_code=202, opt=CONTROL)
async def change_mode(
    state: AppState, request: Request[Any, Any, Any], session_id: FromPath[str], data: JSONBody[Elsewhere]
) -> SessionView:
    """Let a session of ours go on in another mode, or with another model or permission mode."""
    return await change_as(state.desk, session_id, data, by(request))


@post("/sessions/{session_id:str}/fork", status_code=202, opt=CONTROL)
async def fork(
    state: AppState, request: Request[Any, Any, Any], session_id: FromPath[str], data: JSONBody[Fork | None] = None
) -> SessionView:
    """Go on with a conversation under a new id; the old one stays as it is."""
    return await fork_as(state.desk, session_id, data or Fork(), by(request))


@post("/sessions/{session_id:str}/takeover", status_code=202, opt=CONTROL)
async def takeover(
    state: AppState, request: Request[Any, Any, Any], session_id: FromPath[str], data: JSONBody[Takeover | None] = None
) -> SessionView:
    """Make a session of ours of one that ran in a terminal, or that only a transcript is left of."""
    return await takeover_as(state.desk, session_id, data or Takeover(), by(request))


class Screen(Struct, kw_only=True):
    """What stands on a session's terminal."""

    session_id: str
    text: str


@get("/sessions/{session_id:str}/screen", opt={"scope": "observe"})
async def get_screen(state: AppState, session_id: FromPath[str]) -> Screen:
    """The text on the terminal of a session of ours."""
    desk: Desk = state.desk
    try:
        return Screen(session_id=session_id, text=await desk.crew.screen(_known(desk, session_id)))
    except Refused as error:
        raise ApiError(409, "no_terminal", str(error)) from None


async def start_as(desk: Desk, body: NewSession, name: str) -> SessionView:
    """Start a session in somebody's name."""
    known = await _found(desk, body.resume) if body.resume else None
    if body.fork and not body.resume:
        raise ApiError(422, "invalid", "fork: goes with resume", field="fork")
    if body.at and not body.fork:
        raise ApiError(422, "invalid", "at: goes with fork", field="at")
    if body.base and not body.worktree:
        raise ApiError(422, "invalid", "base: goes with worktree", field="base")
    if body.worktree and body.resume:
        raise ApiError(422, "invalid", "worktree: a conversation goes on where it was", field="worktree")
    ours = known.ours if known is not None else None
    start = Start(
        session_id=body.resume if body.resume and not body.fork else str(uuid.uuid4()),
        mode=body.mode,
        cwd=await _folder(desk, body, known),
        by=name,
        at=0.0,
        prompt=body.prompt,
        attachments=blocks(body.attachments),
        permission_mode=body.permission_mode,
        model=body.model,
        max_turns=body.max_turns,
        resume=body.resume,
        fork=body.fork,
        fork_at=body.at,
        title=body.title,
        cols=body.cols,
        rows=body.rows,
        shell=body.shell,
        worktree=ours.worktree if ours else None,
        base=(body.base or "") if body.worktree else None,
    )
    return await order_as(desk, start)


async def send_as(desk: Desk, session_id: str, body: Message, name: str) -> Sent:
    """Write to a session in somebody's name."""
    send = Send(
        session_id=session_id,
        message_id=f"m{secrets.token_hex(8)}",
        prompt=body.prompt,
        attachments=blocks(body.attachments),
        by=name,
        at=0.0,
    )
    _applied(await desk.crew.order(send))
    ahead = ahead_of(_known(desk, session_id), send.message_id)
    return Sent(message_id=send.message_id, session_id=session_id, ahead=ahead)


async def interrupt_as(desk: Desk, session_id: str, name: str) -> Interrupted:
    """Interrupt a session in somebody's name."""
    before = desk.session(session_id)
    found = await order_as(desk, Interrupt(session_id=session_id, by=name, at=0.0))
    return Interrupted(**asdict(found), interrupted=before is not None and not rests(before))


async def change_as(desk: Desk, session_id: str, body: Elsewhere, name: str) -> SessionView:
    """Another mode, model or permission mode, in somebody's name."""
    if body.mode is None and body.model is None and body.permission_mode is None:
        raise ApiError(422, "invalid", "mode: give mode, model or permission_mode", field="mode")
    if body.mode is not None and (body.model or body.permission_mode):
        raise ApiError(422, "invalid", "mode: one thing at a time", field="mode")
    if body.mode is not None:
        return await order_as(desk, Switch(session_id=session_id, mode=body.mode, by=name, at=0.0))
    change = Change(session_id=session_id, by=name, at=0.0, model=body.model, permission_mode=body.permission_mode)
    return await order_as(desk, change)


async def fork_as(desk: Desk, session_id: str, body: Fork, name: str) -> SessionView:
    """A fork in somebody's name; as the session runs, or else through the SDK."""
    known = await _found(desk, session_id)
    mode: Any = body.mode or (known.mode if known.mode != "observed" else "sdk")
    wanted = NewSession(
        resume=session_id,
        fork=True,
        at=body.at,
        mode=mode,
        permission_mode=body.permission_mode,
        prompt=body.prompt,
    )
    return await start_as(desk, wanted, name)


async def takeover_as(desk: Desk, session_id: str, body: Takeover, name: str) -> SessionView:
    """A takeover in somebody's name."""
    wanted = NewSession(
        resume=session_id,
        fork=body.fork,
        mode=body.mode,
        permission_mode=body.permission_mode,
        prompt=body.prompt,
    )
    return await start_as(desk, wanted, name)


async def order_as(desk: Desk, order: Order) -> SessionView:
    """Have it done, and the session as it is then."""
    _applied(await desk.crew.order(order))
    return session_view(_known(desk, order.session_id), desk.runner_id)


def _applied(reply: Reply) -> None:
    if reply.outcome != "applied":
        more = {"field": reply.message.partition(":")[0]} if reply.outcome == "invalid" else {}
        raise ApiError(STATUS.get(reply.outcome, 409), reply.outcome, reply.message, **more)


def _known(desk: Desk, session_id: str) -> Session:
    session = desk.session(session_id)
    if session is None:
        raise ApiError(404, "not_found", f"no such session: {session_id}; see: qd sessions")
    return session


async def _found(desk: Desk, session_id: str) -> Session:
    return await desk.find_session(session_id) or _known(desk, session_id)


async def _folder(desk: Desk, body: NewSession, known: Session | None) -> str:
    if body.cwd is not None and body.project_id is not None:
        raise ApiError(422, "invalid", "project_id: give cwd or project_id", field="project_id")
    if body.cwd is not None:
        return body.cwd
    if body.project_id is not None:
        for listed in await desk.projects.listed():
            if project_id_of(listed.project.path) == body.project_id:
                return listed.project.path
        raise ApiError(404, "not_found", f"no such project: {body.project_id}; see: qd projects")
    if known is not None and known.context.cwd:
        return known.context.cwd
    raise ApiError(422, "invalid", "cwd: give cwd or project_id", field="cwd")


SESSION_ROUTES = [start_session, send_message, interrupt, end, change_mode, fork, takeover, get_screen]
