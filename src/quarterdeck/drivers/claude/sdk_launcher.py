"""Sessions over the Claude Agent SDK. The only module that imports the SDK, and only for the first launch."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import structlog

from quarterdeck.agents.claude.agent import CLAUDE
from quarterdeck.agents.claude.sdk_messages import (
    NO_ANSWER,
    alternative_start,
    arguments,
    plain_change,
    write_permission,
)
from quarterdeck.core.engine.session_messages import SendPrompt, StartSession
from quarterdeck.drivers.claude.sdk_session import SdkSession
from quarterdeck.drivers.claude.sdk_transport import SdkTransport
from quarterdeck.errors import Refused
from quarterdeck.sessions.host_program import HOSTS, HostPrograms
from quarterdeck.sessions.launcher import LaunchSpec, PermissionQuery, RunningAgent, SessionListener
from quarterdeck.sessions.pty.host_registry import HostRecord, read_records, remove_files, runs, short_name
from quarterdeck.sessions.pty.start import start_host

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient, PermissionResult, ToolPermissionContext

    Connected = tuple[SdkSession, SdkTransport, ClaudeSDKClient]

MISSING = f"the Claude Agent SDK is not installed; run: {sys.executable} -m pip install claude-agent-sdk"
STOPPING = "Quarterdeck is stopping; start the session again when it runs"
CANCELLED = "the session was ended before it had started"
ENTRYPOINT = "sdk-py"
SOURCES = ("user", "project", "local")
APPROVAL_SECONDS = 86_400.0
HOST_LATER_SECONDS = 20.0
"""The host denies a request this long after the daemon would have: the daemon, if there is one, is first."""
GRACE_SECONDS = 3600.0
"""How long a host keeps the last messages of an agent that has ended, for the next daemon."""

SDK_HOSTS = HostPrograms(Path(__file__).with_name("sdk_host"), HOSTS)

logger = structlog.get_logger("sessions")


class SdkLauncher:
    """Runs sessions through the SDK's client. Each agent is kept by a host of its own, so that it outlives the daemon;
    the records of the hosts are in `folder`, as of all hosts.

    `tools` limits the agent's own tools where a start names none, None leaves all; it never allows a tool to run
    without permission. A permission request that no daemon has answered `approval_seconds` after it was made is denied
    by the host."""

    def __init__(
        self,
        listener: SessionListener,
        folder: Path,
        *,
        sources: Sequence[str] = SOURCES,
        tools: Sequence[str] | None = None,
        approval_seconds: float = APPROVAL_SECONDS,
    ) -> None:
        self._listener, self._sources, self._tools = listener, tuple(sources), tools
        self._folder, self._wait_seconds = folder / "sdk", approval_seconds + HOST_LATER_SECONDS
        self._sessions: dict[str, SdkSession] = {}
        self._starting: dict[str, SdkTransport] = {}
        self._cancelled: set[str] = set()
        self._closed = False

    async def launch(self, start: StartSession, spec: LaunchSpec) -> RunningAgent:
        sdk = await _sdk()
        self._check(start)
        try:
            session, pipe, client = await self._start(sdk, start, spec)
        except Refused as refused:
            other = alternative_start(start, str(refused)) if start.unsure else None
            if other is None:
                raise
            session, pipe, client = await self._start(sdk, other, spec)
        if self._closed:
            await client.disconnect()
            raise Refused(STOPPING)
        running = session.run(pipe, client)
        if start.prompt is not None or start.attachments:
            await session.send(_first(start))
        return running

    async def _start(self, sdk: Any, start: StartSession, spec: LaunchSpec) -> Connected:
        """An agent that waits for its first prompt."""
        session = SdkSession(start.session_id, self._listener, self._sessions)
        settings = self._host_settings(sdk, start, spec)
        environment = {**spec.environment, **_environment(sdk), "PWD": start.cwd}
        pipe = self._pipe(session, lambda: start_host(settings, environment, programs=SDK_HOSTS, what="session"))
        self._starting[start.session_id] = pipe
        try:
            return await self._connect(sdk, session, pipe)
        except BaseException as error:
            await pipe.close()
            if not isinstance(error, Exception):
                raise
            if self._closed:
                raise Refused(STOPPING) from None
            if start.session_id in self._cancelled:
                raise Refused(CANCELLED) from None
            if isinstance(error, Refused):
                raise
            reason = session.start_error or pipe.last_words or error
            raise Refused(f"claude did not start: {reason}") from None
        finally:
            self._cancelled.discard(start.session_id)
            del self._starting[start.session_id]

    async def _connect(self, sdk: Any, session: SdkSession, pipe: SdkTransport) -> Connected:
        client = _client(sdk, pipe, session, self._listener)
        await client.connect()
        return session, pipe, client

    def _pipe(self, session: SdkSession, open_host: Callable[[], HostRecord]) -> SdkTransport:
        return SdkTransport(open_host, self._folder, session.receive, session.sent)

    def _check(self, start: StartSession) -> None:
        if self._closed:
            raise Refused(STOPPING)
        if start.session_id in self._sessions or start.session_id in self._starting:
            raise Refused(f"{start.session_id} is already running; send it a prompt, or end it first")
        if start.fork_at and not start.fork:
            raise Refused("fork_at: only a fork can begin at an earlier point; fork the session")

    def _host_settings(self, sdk: Any, start: StartSession, spec: LaunchSpec) -> dict[str, Any]:
        """The settings that the host reads on its stdin."""
        tools = self._tools if start.tools is None else start.tools
        flags = arguments(start, settings=spec.hooks, sources=self._sources, tools=tools)
        return {
            "session_id": start.session_id,
            "started_at": start.at,
            "name": short_name(start.session_id),
            "folder": str(self._folder),
            "argv": [str(spec.program), *flags],
            "cwd": start.cwd,
            "wait_seconds": self._wait_seconds,
            "denial": NO_ANSWER,
            "grace_seconds": GRACE_SECONDS,
        }

    async def send(self, send: SendPrompt) -> bool:
        await self._session(send.session_id).send(send)
        return False

    async def interrupt(self, session_id: str) -> None:
        await self._session(session_id).interrupt()

    async def reconfigure(self, session_id: str, model: str | None, permission_mode: str | None) -> None:
        await self._session(session_id).reconfigure(model, permission_mode)

    async def cancel_launch(self, session_id: str) -> None:
        pipe = self._starting.get(session_id)
        if pipe is not None:
            self._cancelled.add(session_id)
            await pipe.close()

    async def end(self, session_id: str) -> None:
        await self._session(session_id).end("ended")

    async def adopt(self, expected: Sequence[str]) -> list[RunningAgent]:
        """The sessions whose hosts run. A host that no session expects is ended: nothing else could reach its agent."""
        records = await asyncio.to_thread(lambda: list(read_records(self._folder)))
        found = await asyncio.gather(*(self._adopt(record, record.session_id in expected) for record in records))
        return [running for running in found if running is not None]

    async def _adopt(self, record: HostRecord, is_expected: bool) -> RunningAgent | None:
        if record.session_id in self._sessions:
            return None
        if not runs(record.host):
            remove_files(self._folder, record.name)
            return None
        session = SdkSession(record.session_id, self._listener, self._sessions, early=None)
        pipe = self._pipe(session, lambda: record)
        if not is_expected:
            with contextlib.suppress(Refused):
                await pipe.connect()
            await pipe.close()
            return None
        try:
            connected = await self._connect(await _sdk(), session, pipe)
        except Exception as error:
            logger.warning("a session over the SDK was not found again", session_id=record.session_id, error=str(error))
            await pipe.close()
            return None
        return session.run(*connected[1:])

    async def close(self, *, restarts: bool = False) -> None:
        self._closed = True
        sessions = list(self._sessions.values())
        ends = (session.detach() if restarts else session.end("stopped") for session in sessions)
        await asyncio.gather(*ends, *(pipe.close() for pipe in self._starting.values()))

    def _session(self, session_id: str) -> SdkSession:
        found = self._sessions.get(session_id)
        if found is None:
            raise Refused(f"{session_id} is not running; resume it, or wait until it has started")
        return found


def is_installed() -> bool:
    """True if the SDK is installed."""
    return importlib.util.find_spec("claude_agent_sdk") is not None


async def _sdk() -> Any:
    """Import the SDK, in a thread because it takes a while. It must not log the end of each agent as an error: the
    session reports it."""
    logging.getLogger("claude_agent_sdk").setLevel(logging.CRITICAL)
    try:
        return await asyncio.to_thread(importlib.import_module, "claude_agent_sdk")
    except ImportError:
        raise Refused(MISSING) from None


def _environment(sdk: Any) -> dict[str, str]:
    """The environment variables that the SDK sets for its own agents."""
    return {"CLAUDE_CODE_ENTRYPOINT": ENTRYPOINT, "CLAUDE_AGENT_SDK_VERSION": sdk.__version__}


def _first(start: StartSession) -> SendPrompt:
    return SendPrompt(
        session_id=start.session_id,
        message_id="",
        prompt=start.prompt or "",
        by=start.by,
        at=start.at,
        attachments=start.attachments,
    )


def _client(sdk: Any, pipe: SdkTransport, session: SdkSession, listener: SessionListener) -> ClaudeSDKClient:
    """The SDK's client; it asks the listener before a tool runs that is not allowed already."""

    async def can_use_tool(name: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
        query = PermissionQuery(
            agent=CLAUDE.name,
            entrypoint=ENTRYPOINT,
            session_id=session.session_id,
            query_id=pipe.query_ids.get(context.tool_use_id or "", ""),
            tool_name=name,
            tool_input=tool_input,
            tool_use_id=context.tool_use_id,
            agent_id=context.agent_id,
            suggestions=tuple(plain_change(suggestion.to_dict()) for suggestion in context.suggestions),
            title=context.title,
            reason=context.decision_reason,
            blocked_path=context.blocked_path,
        )
        return _result(sdk, write_permission(name, tool_input, await listener.ask_permission(query)))

    options = sdk.ClaudeAgentOptions(can_use_tool=can_use_tool)
    return cast("ClaudeSDKClient", sdk.ClaudeSDKClient(options, transport=pipe))


class _PermissionUpdate:
    """A change of permissions in the daemon's spelling, for the SDK to send on as it is."""

    def __init__(self, change: dict[str, Any]) -> None:
        self._change = change

    def to_dict(self) -> dict[str, Any]:
        return self._change


def _result(sdk: Any, answer: dict[str, Any]) -> PermissionResult:
    """An answer as an SDK object."""
    if answer["behavior"] == "deny":
        denied: PermissionResult = sdk.PermissionResultDeny(
            message=answer["message"], interrupt=answer.get("interrupt", False)
        )
        return denied
    changes = answer.get("updatedPermissions")
    allowed: PermissionResult = sdk.PermissionResultAllow(
        updated_input=answer.get("updatedInput"),
        updated_permissions=[_PermissionUpdate(change) for change in changes] if changes else None,
    )
    return allowed
