"""Sessions over the Claude Agent SDK: the only module that imports it, and only when the first one is launched."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from quarterdeck.agents.claude.sdk import arguments, write_permission
from quarterdeck.core.orders import Send, Start
from quarterdeck.errors import Refused
from quarterdeck.runner.launching import Asked, Ear, Kit, Running
from quarterdeck.runner.sdk_pipe import Pipe
from quarterdeck.runner.sdk_session import Session

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient, PermissionResult, ToolPermissionContext

MISSING = "the Claude Agent SDK is not installed; run `pip install quarterdeck[sdk]`"
SOURCES = ("user", "project", "local")


class SdkWay:
    """Runs sessions through the SDK's client. They end with us, and can be resumed.

    `tools` limits the agent's own tools, None leaves all; it never says what may run without being asked for."""

    def __init__(self, ear: Ear, *, sources: Sequence[str] = SOURCES, tools: Sequence[str] | None = None) -> None:
        self._ear, self._sources, self._tools = ear, tuple(sources), tools
        self._sessions: dict[str, Session] = {}
        self._starting: dict[str, asyncio.Task[Running]] = {}

    async def launch(self, start: Start, kit: Kit) -> Running:
        if start.session_id in self._sessions or start.session_id in self._starting:
            raise Refused(f"{start.session_id} runs already; send it a prompt or end it first")
        if start.fork_at and not start.fork:
            raise Refused("fork_at: only a fork can begin at an earlier point; ask for a fork")
        starting = self._starting[start.session_id] = asyncio.create_task(self._open(start, kit))
        try:
            return await starting
        finally:
            del self._starting[start.session_id]

    async def _open(self, start: Start, kit: Kit) -> Running:
        sdk = await _sdk()
        session = Session(start.session_id, self._ear, self._sessions)
        flags = arguments(start, settings=kit.hooks, sources=self._sources, tools=self._tools)
        environment = {**kit.environment, **_environment(sdk), "PWD": start.cwd}
        pipe = Pipe([str(kit.claude), *flags], start.cwd, environment, session.hear)
        client = _client(sdk, pipe, session, self._ear)
        try:
            await client.connect()
        except Exception as error:
            raise Refused(f"claude did not start: {session.trouble or pipe.last_words or error}") from None
        if start.prompt is not None or start.attachments:
            session.send(_first(start))
        session.run(pipe, client)
        return Running(session_id=start.session_id, process=session.process)

    async def send(self, send: Send) -> None:
        self._session(send.session_id).send(send)

    async def interrupt(self, session_id: str) -> None:
        await self._session(session_id).interrupt()

    async def change(self, session_id: str, model: str | None, permission_mode: str | None) -> None:
        await self._session(session_id).change(model, permission_mode)

    async def end(self, session_id: str) -> None:
        await self._session(session_id).finish("ended")

    async def adopt(self, expected: Sequence[str]) -> list[Running]:
        """None: their agents end with us. Whoever was at work is resumed."""
        return []

    async def close(self) -> None:
        starting = list(self._starting.values())
        for task in starting:
            task.cancel()
        ends = [session.finish("stopped") for session in self._sessions.values()]
        await asyncio.gather(*ends, *starting, return_exceptions=True)

    def _session(self, session_id: str) -> Session:
        found = self._sessions.get(session_id)
        if found is None:
            raise Refused(f"{session_id} does not run here; resume it, or wait until it has started")
        return found


async def _sdk() -> Any:
    """The SDK; it takes a while to read."""
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
            suggestions=tuple(suggestion.to_dict() for suggestion in context.suggestions),
            title=context.title,
            reason=context.decision_reason,
            blocked_path=context.blocked_path,
        )
        return _result(sdk, write_permission(name, given, await ear.ask(asked)))

    options = sdk.ClaudeAgentOptions(can_use_tool=can_use_tool)
    return cast("ClaudeSDKClient", sdk.ClaudeSDKClient(options, transport=pipe))


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
        updated_permissions=[sdk.PermissionUpdate.from_dict(change) for change in changes] if changes else None,
    )
    return allowed
