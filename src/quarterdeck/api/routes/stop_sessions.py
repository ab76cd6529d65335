"""Routes that stop several sessions at once, or all: each has its own result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

from litestar.params import JSONBody
from msgspec import Meta, Struct

from quarterdeck.api.backend import SessionBackend
from quarterdeck.api.http.endpoint import Id, endpoint
from quarterdeck.api.http.error_responses import ApiError, applied, invalid
from quarterdeck.api.http.principal import Caller
from quarterdeck.core.engine.prompt_queue import is_resting
from quarterdeck.core.engine.session_messages import EndSession, InterruptSession
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.state import Session
from quarterdeck.views.resources.session_view import StopResult, StopResults

MOST_NAMED = 1000


class SessionsToStop(Struct, kw_only=True, forbid_unknown_fields=True):
    """The sessions, by id, or `all`. With `dry_run` nothing is stopped: the answer names what would be."""

    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=MOST_NAMED)] | None = None
    all: bool = False
    dry_run: bool = False


@endpoint("interrupt_sessions")
async def interrupt_sessions(
    sessions: SessionBackend, caller: Caller, *, data: JSONBody[SessionsToStop]
) -> StopResults:
    """Interrupt the turns of these sessions. `all` means every session that is at work."""
    return await _stop(sessions, data, lambda id: InterruptSession(session_id=id, by=caller.name, at=0.0), is_at_work)


@endpoint("end_sessions")
async def end_sessions(sessions: SessionBackend, caller: Caller, *, data: JSONBody[SessionsToStop]) -> StopResults:
    """End these sessions. `all` means every session that has not ended."""
    return await _stop(sessions, data, lambda id: EndSession(session_id=id, by=caller.name, at=0.0), is_running)


async def _stop(
    sessions: SessionBackend,
    data: SessionsToStop,
    command: Callable[[str], InterruptSession | EndSession],
    is_meant: Callable[[Session], bool],
) -> StopResults:
    if data.all == (data.session_ids is not None):
        raise invalid("session_ids", "send either session_ids or all")
    named = data.session_ids if data.session_ids is not None else [s.session_id for s in sessions.live() if is_meant(s)]
    results = [_result(sessions, session_id) for session_id in dict.fromkeys(named)]
    if not data.dry_run:
        await asyncio.gather(*(_stop_one(sessions, result, command(result.session_id)) for result in results))
    return StopResults(sessions=results)


def is_at_work(session: Session) -> bool:
    """True for a session with a turn that can be interrupted."""
    return session.agent_state is not AgentState.UNKNOWN and is_running(session) and not is_resting(session)


def is_running(session: Session) -> bool:
    """True for a session with a process: an owned one that runs, or an observed one whose process is known."""
    return session.runs_here or (session.owned is None and session.process is not None)


def _result(sessions: SessionBackend, session_id: str) -> StopResult:
    session = sessions.get(session_id)
    if session is None:
        return StopResult(session_id=session_id, mode=None, title="", cwd="", agent_state=None, ok=True)
    return StopResult(
        session_id=session_id,
        mode=session.mode,
        title=session.title,
        cwd=session.context.cwd,
        agent_state=session.agent_state,
        ok=True,
    )


async def _stop_one(sessions: SessionBackend, result: StopResult, command: InterruptSession | EndSession) -> None:
    try:
        applied(await sessions.execute(command))
    except ApiError as error:
        result.ok, result.error = False, error.body["error"]
