"""Changes to plugins and MCP servers: made by the agent's CLI, recorded with their outcome, and only then answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.api.backend import ExtensionBackend, HealthBackend
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.core.model.event_data.admin_data import McpChangeData, PluginChangeData
from quarterdeck.core.workspace.extensions import redact_output
from quarterdeck.drivers.extensions import Extensions
from quarterdeck.errors import QuarterdeckError


class ExtensionResult(Struct, kw_only=True):
    """The output of Claude Code after a change. `said` is its text."""

    said: str
    ok: bool = True


async def apply_change(
    extensions: ExtensionBackend,
    health: HealthBackend,
    change: PluginChangeData | McpChangeData,
    do: Callable[[Extensions], Awaitable[str]],
    secrets: Iterable[str] = (),
) -> ExtensionResult:
    """Make a change and record its outcome. Nothing is changed while nothing can be recorded. An error of Claude Code
    is returned word for word, and recorded without `secrets`."""
    if health.trouble is not None:
        raise ApiError(503, "not_recorded", f"nothing can be recorded, so nothing is changed: {health.trouble}")
    try:
        output = await do(extensions.agent)
    except QuarterdeckError as error:
        await extensions.record(replace(change, outcome="failed", error=redact_output(str(error), secrets)))
        raise ApiError(409, "claude_refused", str(error)) from None
    reply = await extensions.record(change)
    if reply.outcome != "applied":
        raise ApiError(503, reply.outcome, f"the change was made, but could not be recorded: {reply.message}")
    return ExtensionResult(said=output)
