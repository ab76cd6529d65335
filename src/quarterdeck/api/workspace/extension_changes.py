"""Having the agent change a plugin or an MCP server: done, put on record with its end, and only then answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.errors import ApiError
from quarterdeck.core.model.event_data import McpChangeData, PluginChangeData
from quarterdeck.core.workspace.extensions import told_without
from quarterdeck.errors import QuarterdeckError


class Changed(Struct, kw_only=True):
    """Done, and what Claude Code said."""

    said: str
    ok: bool = True


async def changed(
    desk: Desk, change: PluginChangeData | McpChangeData, do: Callable[[], Awaitable[str]], secrets: Iterable[str] = ()
) -> Changed:
    """Do it and record how it ended; what cannot be recorded is not done. What Claude Code refused is told in its own
    words, and recorded without `secrets`."""
    if desk.trouble is not None:
        raise ApiError(503, "not_recorded", f"nothing can be recorded, so nothing is changed: {desk.trouble}")
    try:
        said = await do()
    except QuarterdeckError as error:
        await desk.record_change(replace(change, outcome="failed", error=told_without(str(error), secrets)))
        raise ApiError(409, "claude_refused", str(error)) from None
    reply = await desk.record_change(change)
    if reply.outcome != "applied":
        raise ApiError(503, reply.outcome, f"it was done, but is not on record: {reply.message}")
    return Changed(said=said)
