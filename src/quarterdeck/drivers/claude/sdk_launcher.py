"""Sessions over the Claude Agent SDK: the only module that imports it, and only when the first one is launched."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from quarterdeck.agents.claude.sdk_messages import arguments, other_way, plain_change, write_permission
from quarterdeck.core.engine.session_messages import Send, Start
from quarterdeck.drivers.claude.sdk_session import Session
from quarterdeck.drivers.claude.sdk_transport import Pipe
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import Asked, Ear, Kit, Running

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient, PermissionResult, ToolPermissionContext

MISSING = f"the Claude Agent SDK is not installed; run: {sys.executable} -m pip install claude-agent-sdk"
STOPS = "Quarterdeck stops; start the session again when it is back"
GIVEN_UP = "it was ended before it had started"
SOURCES = ("user", "project", "local")


class SdkWay:
    """Runs sessions through the SDK's client. They end with us, and can be resumed.

    `tools` limits the agent's own tools, None leaves all; it never says what may run without being asked for."""

    def __init__(self, ear: Ear, *, sources: Sequence[str] = SOURCES, tools: Sequence[str] | None = None) -> None:
        self._ear, self._sources, self._tools = ear, tuple(sources), tools
        self._sessions: dict[str, Session] = {}
        self._starting: dict[str, Pipe] = {}
        self._given_up: set[str] = set()
        self._closed = False

    async def launch(self, start: Start, kit: Kit) -> Running:
        sdk = await _sdk()
        self._check(start)
        try:
            session, pipe, client = await self._connect(sdk, start, kit)
        except Refused as refused:
            other = other_way(start, str(refused)) if start.unsure else None
            if other is None:
                raise
            session, pipe, client = await self._connect(sdk, other, kit)
        if self._closed:
            await client.disconnect()
            raise Refused(STOPS)
        if start.prompt is not None or start.attachments:
            session.send(_first(start))
        session.run(pipe, client)
        return Running(session_id=start.session_id, process=session.process)

    async def _connect(self, sdk: Any, start: Start, kit: Kit) -> tuple[Session, Pipe, ClaudeSDKClient]:
        """An agent that waits for its first prompt."""
        session = Session(start.session_id, self._ear, self._sessions)
        pipe = self._pipe(sdk, session, start, kit)
        client = _client(sdk, pipe, session, self._ear)
        self._starting[start.session_id] = pipe
        try:
            await client.connect()
        except BaseException as error:
            await pipe.close()
            if not isinstance(error, Exception):
                raise
            said = f"claude did not start: {session.trouble or pipe.last_words or error}"
            raise Refused(STOPS if self._closed else GIVEN_UP if start.session_id in self._given_up else said) from None
        finally:
            self._given_up.discard(start.session_id)
            del self._starting[start.session_id]
        return session, pipe, client

    def _check(self, start: Start) -> None:
        if self._closed:
            raise Refused(STOPS)
        if start.session_id in self._sessions or start.session_id in self._starting:
            raise Refused(f"{start.session_id} runs already; send it a prompt or end it first")
        if start.fork_at and not start.fork:
            raise Refused("fork_at: only a fork can begin at an earlier point; ask for a fork")

    def _pipe(self, sdk: Any, session: Session, start: Start, kit: Kit) -> Pipe:
        flags = arguments(start, settings=kit.hooks, sources=self._sources, tools=self._tools)
        environment = {**kit.environment, **_environment(sdk), "PWD": start.cwd}
        return Pipe([str(kit.claude), *flags], start.cwd, environment, session.hear)

    async def send(self, send: Send) -> bool:
        self._session(send.session_id).send(send)
        return False

    async def interrupt(self, session_id: str) -> None:
        await self._session(session_id).interrupt()

    async def change(self, session_id: str, model: str | None, permission_mode: str | None) -> None:
        await self._session(session_id).change(model, permission_mode)

    async def give_up(self, session_id: str) -> None:
        pipe = self._starting.get(session_id)
        if pipe is not None:
            self._given_up.add(session_id)
            await pipe.close()

    async def end(self, session_id: str) -> None:
        await self._session(session_id).finish("ended")

    async def adopt(self, expected: Sequence[str]) -> list[Running]:
        """None: their agents end with us. Whoever was at work is resumed."""
        return []

    async def close(self) -> None:
        self._closed = True
        ends = [session.finish("stopped") for session in self._sessions.values()]
        await asyncio.gather(*ends, *(pipe.close() for pipe in self._starting.values()))

    def _session(self, session_id: str) -> Session:
        found = self._sessions.get(session_id)
        if found is None:
            raise Refused(f"{session_id} does not run here; resume it, or wait until it has started")
        return found


def is_installed() -> bool:
    """Whether there is an SDK to run sessions through."""
    return importlib.util.find_spec("claude_agent_sdk") is not None


async def _sdk() -> Any:
    """The SDK; it takes a while to read. Ends are told by us, so it shall not log each as an error."""
    logging.getLogger("claude_agent_sdk").setLevel(logging.CRITICAL)
    try:
        return await asyncio.to_thread(importlib.import_module, "claude_agent_sdk")
    except ImportError:
        raise Refused(MISSING) from None


def _environment(sdk: Any) -> dict[str, str]:
    """What the SDK sets for an agent of its own."""
    return {"CLAUDE_CODE_ENTRYPOINT": "sdk-py", "CLAUDE_AGENT_SDK_VERSION": sdk.__version__}


def _first(start: Start) -> Send:
    return Send(
        session_id=start.session_id,
        message_id="",
        prompt=start.prompt or "",
        by=start.by,
        at=start.at,
        attachments=start.attachments,
    )


def _client(sdk: Any, pipe: Pipe, session: Session, ear: Ear) -> ClaudeSDKClient:
    """The client, which asks us before a tool runs that is not allowed already."""

    async def can_use_tool(name: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
        asked = Asked(
            session_id=session.session_id,
            tool_name=name,
            tool_input=given,
            tool_use_id=context.tool_use_id,
            agent_id=context.agent_id,
            suggestions=tuple(plain_change(suggestion.to_dict()) for suggestion in context.suggestions),
            title=context.title,
            reason=context.decision_reason,
            blocked_path=context.blocked_path,
        )
        return _result(sdk, write_permission(name, given, await ear.ask(asked)))

    options = sdk.ClaudeAgentOptions(can_use_tool=can_use_tool)
    return cast("ClaudeSDKClient", sdk.ClaudeSDKClient(options, transport=pipe))


class _Change:
    """A change of permissions as we spell it."""

    def __init__(self, change: dict[str, Any]) -> None:
        self._change = change

    def to_dict(self) -> dict[str, Any]:
        return self._change


def _result(sdk: Any, answer: dict[str, Any]) -> PermissionResult:
    """An answer as the SDK takes it."""
    if answer["behavior"] == "deny":
        denied: PermissionResult = sdk.PermissionResultDeny(
            message=answer["message"], interrupt=answer.get("interrupt", False)
        )
        return denied
    changes = answer.get("updatedPermissions")
    allowed: PermissionResult = sdk.PermissionResultAllow(
        updated_input=answer.get("updatedInput"),
        updated_permissions=[_Change(change) for change in changes] if changes else None,
    )
    return allowed
