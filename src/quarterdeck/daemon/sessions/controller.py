"""The sessions: carries out the effects that concern them, and reports what happens to owned ones."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, assert_never

import structlog
from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.engine.session_identity import current_session
from quarterdeck.core.engine.session_messages import (
    OBSERVED,
    AgentEffect,
    AgentExited,
    AgentStarted,
    CommandFailed,
    DeliverPrompt,
    EndAgent,
    InterruptAgent,
    Launch,
    PromptDelivered,
    ReconfigureAgent,
    SessionEffect,
    SessionReport,
    StartSession,
)
from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.core.model.payload import sha256_of
from quarterdeck.core.model.state import ProcessId, Session
from quarterdeck.daemon.ingest.intake import HookCaller, HookIntake
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.loop.queued_input import Envelope
from quarterdeck.daemon.loop.waiters import HookPending
from quarterdeck.daemon.sessions.permission_query import event_of
from quarterdeck.errors import BadInput, QuarterdeckError, Refused
from quarterdeck.sessions.launcher import (
    Launcher,
    LaunchSpec,
    ObservedAgents,
    PermissionQuery,
    ScreenViewer,
    TerminalLauncher,
)
from quarterdeck.system.process_table import runs
from quarterdeck.wire import write_json

DID_NOT_START = "did not start"
GONE_AFTER_RESTART = "was gone after a restart"
STOPPING = "Quarterdeck is stopping; try again after the next start"
# An SDK agent has two of them to end by itself, and is then killed.
CLOSE_SECONDS = 5.0
POLL_SECONDS = 0.05
# A tmux server that does not answer is asked again.
ADOPT_SECONDS = 5.0
GONE_SECONDS = 10.0

logger = structlog.get_logger("sessions")


class CommandFailure(Struct, frozen=True):
    """The reason why a command was not carried out: an error kind of the API, and a message."""

    kind: str
    message: str


class SessionController:
    """Has one launcher for each mode. The effects of one session are carried out in order, and each only once."""

    def __init__(
        self,
        loop: Loop,
        intake: HookIntake,
        launch_spec: Callable[[StartSession], Awaitable[LaunchSpec]],
        observed: ObservedAgents,
    ) -> None:
        self._observed = observed
        self._loop = loop
        self._intake = intake
        self._launch_spec = launch_spec
        self._launchers: Mapping[str, Launcher] = {}
        self._locks: dict[str, _Locks] = {}
        self._tasks: dict[str, asyncio.Task[CommandFailure | None]] = {}
        self._expected: dict[str, list[str]] = {}
        self._adopted: dict[str, asyncio.Event] = {}
        self.on_stream: Callable[[str, str, Any], None] = lambda session_id, kind, data: None

    def register_launchers(self, launchers: Mapping[str, Launcher]) -> None:
        """Run sessions with these launchers from now on. Terminals started before a restart may still run."""
        self._launchers = launchers
        sessions = self._loop.state.sessions.values()
        self._expected = {
            mode: [_handle(session) for session in sessions if _runs_in_mode(session, mode)] for mode in launchers
        }
        self._adopted = {mode: asyncio.Event() for mode in self._expected}

    def perform(self, effect: SessionEffect) -> None:
        """Begin to carry out an effect; `wait_for` gives its outcome."""
        name, handle = _task_name(effect)
        task = asyncio.create_task(self._perform(effect, handle))
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name, None) if self._tasks.get(name) is task else None)

    async def wait_for(self, name: str) -> CommandFailure | None:
        """Wait until the effect of this name is carried out. Gives the failure, or None."""
        task = self._tasks.get(name)
        try:
            return await asyncio.shield(task) if task is not None else None
        except asyncio.CancelledError:
            if task is None or not task.cancelled():
                raise
            return CommandFailure("failed", STOPPING)

    async def _perform(self, effect: SessionEffect, handle: str) -> CommandFailure | None:
        locks = self._locks.setdefault(handle, _Locks())
        try:
            if isinstance(effect, EndAgent) and effect.mode != OBSERVED:
                await self._cancel_start(self._launcher(effect.mode), handle, locks)
            await self._wait_for_adoption(effect)
            async with locks.of(effect):
                if isinstance(effect, EndAgent) and locks.is_over:
                    return None
                await self._carry_out(effect, handle)
        except QuarterdeckError as error:
            is_choosy = isinstance(effect, DeliverPrompt) or _is_observed(effect)
            failure = CommandFailure("not_taken" if is_choosy else "failed", str(error))
        except Exception as error:
            logger.exception("a session command failed", command=type(effect).__name__, session_id=handle)
            failure = CommandFailure("failed", f"{type(error).__name__}; see the daemon's log")
        else:
            return None
        locks.is_over = locks.is_over or isinstance(effect, Launch)
        self._failed(effect, handle, failure.message)
        return failure

    async def _command_observed(self, effect: AgentEffect) -> None:
        match effect:
            case DeliverPrompt(send=send):
                await self._observed.send(send)
            case InterruptAgent(handle=session_id):
                await self._observed.interrupt(session_id)
            case EndAgent(handle=session_id, process=ProcessId() as process):
                await self._observed.end(session_id, process)
            case _:
                raise Refused(f"{effect.handle} runs in its own terminal; use that terminal")

    async def _wait_for_adoption(self, effect: SessionEffect) -> None:
        """Wait until the terminals from before a restart are found, so that no effect misses its session."""
        adopted = self._adopted.get(effect.start.mode if isinstance(effect, Launch) else effect.mode)
        if adopted is not None:
            await adopted.wait()

    async def _cancel_start(self, launcher: Launcher, handle: str, locks: _Locks) -> None:
        """Cancel a start that is no longer needed, instead of waiting for it to finish."""
        while locks.is_starting:
            await launcher.cancel_launch(handle)
            await asyncio.sleep(POLL_SECONDS)

    def _failed(self, effect: SessionEffect, handle: str, error: str) -> None:
        message_id = effect.send.message_id if isinstance(effect, DeliverPrompt) else None
        command = _COMMAND_NAMES[type(effect)]
        self.report(
            CommandFailed(session_id=handle, command=command, error=error, message_id=message_id, at=time.time())
        )
        if isinstance(effect, Launch):
            self.report(AgentExited(session_id=handle, at=time.time(), reason=DID_NOT_START, last_words=error))

    async def _carry_out(self, effect: SessionEffect, handle: str) -> None:
        match effect:
            case AgentEffect(mode=mode) if mode == OBSERVED:
                await self._command_observed(effect)
            case Launch(start=start, after=after):
                launcher = self._launcher(start.mode)
                if after is not None:
                    await _wait_for_exit(after)
                running = await launcher.launch(start, await self._launch_spec(start))
                self.report(
                    AgentStarted(session_id=handle, at=time.time(), process=running.process, terminal=running.terminal)
                )
            case DeliverPrompt(send=send, mode=mode):
                if await self._launcher(mode).send(replace(send, session_id=handle)):
                    self.report(PromptDelivered(session_id=handle, at=time.time(), message_id=send.message_id))
            case InterruptAgent(mode=mode):
                await self._launcher(mode).interrupt(handle)
            case EndAgent(mode=mode):
                await self._launcher(mode).end(handle)
            case ReconfigureAgent(mode=mode, model=model, permission_mode=permission_mode):
                await self._launcher(mode).reconfigure(handle, model, permission_mode)
            case _:
                assert_never(effect)

    def _launcher(self, mode: str) -> Launcher:
        launcher = self._launchers.get(mode)
        if launcher is None:
            raise Refused(f"sessions of mode {mode} cannot be run here")
        return launcher

    def report(self, report: SessionReport) -> None:
        """Submit a report about an owned session."""
        if isinstance(report, AgentExited):
            self._locks.pop(report.session_id, None)
        self._loop.submit(report)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        """Pass on output that is not part of the feed."""
        session = current_session(self._loop.state, session_id)
        self.on_stream(session.session_id if session else session_id, kind, data)

    async def ask_permission(self, query: PermissionQuery) -> Decision:
        """Open a request, as a permission hook would."""
        session = current_session(self._loop.state, query.session_id)
        event_id, envelope = self._identity(query)
        caller = HookCaller(
            waiter="sdk",
            reconnects=envelope is not None,
            agent=query.agent,
            entrypoint=query.entrypoint,
            tag=query.session_id,
        )
        try:
            event = event_of(query, session, event_id)
            call = self._intake.receive_event(
                event, len(write_json(event.payload)), caller, envelope, time.perf_counter()
            )
        except BadInput as error:
            return NoOpinion(reason=str(error))
        if call is None:
            return NoOpinion()
        answer = await call.answer
        if isinstance(answer, HookPending):
            held = answer.answer
            try:
                answer = await held
            except asyncio.CancelledError:
                self._intake.leave(event_id, held)
                raise
        return answer.decision

    def _identity(self, query: PermissionQuery) -> tuple[str, Envelope | None]:
        """The id of a query's request. A query with an id of its own comes again after a restart: it is an envelope,
        like those of the socket's clients."""
        if not query.query_id:
            return self._intake.new_id(), None
        name = sha256_of([query.session_id, query.query_id]).hex()[:16]
        return f"sdk-{name}", Envelope(f"sdk-{name}", sha256_of([query.tool_name, query.tool_input]))

    async def adopt(self) -> None:
        """After a restart: find the terminals that went on running, and report those that did not. Effects wait for
        this."""
        await asyncio.gather(*map(self._adopt, self._expected))

    async def _adopt(self, mode: str) -> None:
        """Try until the launcher answers: a terminal it could not ask about may still run."""
        expected = self._expected[mode]
        while True:
            try:
                found = await self._launchers[mode].adopt(expected)
                break
            except Exception:
                logger.exception("sessions could not be found again", mode=mode)
            finally:
                self._adopted[mode].set()
            if not expected:
                return
            await asyncio.sleep(ADOPT_SECONDS)
        at = time.time()
        for one in found:
            self.report(
                AgentStarted(
                    session_id=one.session_id,
                    at=at,
                    process=one.process,
                    terminal=one.terminal,
                    recovered=True,
                    queued=one.queued,
                )
            )
        for handle in set(expected) - {one.session_id for one in found}:
            self.report(AgentExited(session_id=handle, at=at, reason=GONE_AFTER_RESTART, is_lost=True))

    async def view(self, session: Session, cols: int, rows: int, seen: Callable[[bytes], None]) -> ScreenViewer:
        """Attach a viewer to the terminal of a session."""
        return await self._terminal(session).view(_handle(session), cols, rows, seen)

    async def screen(self, session: Session) -> str:
        """The text on the screen of a session."""
        return await self._terminal(session).screen(_handle(session))

    def _terminal(self, session: Session) -> TerminalLauncher:
        launcher = self._launchers.get(session.mode)
        if not session.runs_here or launcher is None or not isinstance(launcher, TerminalLauncher):
            raise Refused(f"{session.session_id} does not run in a terminal of Quarterdeck; see its feed")
        return launcher

    async def close(self, *, restarts: bool) -> None:
        """Stop: sessions that only the daemon can reach end, unless it `restarts`, and are recorded as ended."""
        starts = {name: task for name, task in self._tasks.items() if name.startswith("start ")}
        for name, task in list(self._tasks.items()):
            if name not in starts:
                task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                closing = (launcher.close(restarts=restarts) for launcher in self._launchers.values())
                await asyncio.gather(*closing, *starts.values(), return_exceptions=True)
        for task in starts.values():
            task.cancel()


class _Locks:
    """The order of effects in one session: nothing before its start, and one prompt after another. An end or an
    interrupt waits for no prompt. `is_over`: it did not start."""

    def __init__(self) -> None:
        self._starting = asyncio.Lock()  # there is no agent to send to, or to end, before it has started
        self._sending = asyncio.Lock()  # two prompts at once would be typed into each other
        self.is_over = False

    @property
    def is_starting(self) -> bool:
        return self._starting.locked()

    @contextlib.asynccontextmanager
    async def of(self, effect: SessionEffect) -> AsyncIterator[None]:
        if isinstance(effect, Launch):
            async with self._starting:
                yield
            return
        async with self._starting:
            pass
        async with self._sending if isinstance(effect, DeliverPrompt) else contextlib.nullcontext():
            yield


_COMMAND_NAMES: Mapping[type[SessionEffect], str] = {
    Launch: "start",
    DeliverPrompt: "send",
    InterruptAgent: "interrupt",
    EndAgent: "end",
    ReconfigureAgent: "change",
}


def _task_name(effect: SessionEffect) -> tuple[str, str]:
    """The name of an effect's task, and the handle of its session."""
    match effect:
        case Launch(start=start):
            return f"start {start.session_id}", start.session_id
        case DeliverPrompt(send=send, handle=handle):
            return f"send {send.message_id}", handle
        case _:
            return f"{_COMMAND_NAMES[type(effect)]} {effect.handle}", effect.handle


async def _wait_for_exit(process: ProcessId) -> None:
    """Wait for the exit of a process that was sent its end: only one process may write to a conversation."""
    for _ in range(int(GONE_SECONDS / POLL_SECONDS)):
        if not runs(process):
            return
        await asyncio.sleep(POLL_SECONDS)
    raise Refused(f"the session still runs as process {process.pid}; end that process, then resume the session")


def _runs_in_mode(session: Session, mode: str) -> bool:
    return session.runs_here and session.mode == mode


def _is_observed(effect: SessionEffect) -> bool:
    return isinstance(effect, AgentEffect) and effect.mode == OBSERVED


def _handle(session: Session) -> str:
    return session.owned.handle if session.owned else session.session_id
