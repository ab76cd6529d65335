"""MCP servers as every surface sees them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.views.resources.runner_resource import Resource


class ServerView(Resource, kw_only=True):
    """An MCP server. `status` is `unchecked` until it was checked, then connected, failed, pending, needs_auth,
    disabled or unknown; `config` shows no values of variables or headers; `tools` is null while they are unknown;
    `login` is the command that signs in to it, if it requires that."""

    name: str
    transport: str
    scope: str
    project: str | None
    status: str
    last_error: str | None
    checked_at: float | None
    config: dict[str, Any]
    tools: list[str] | None
    login: str | None


class ServerList(Struct, kw_only=True):
    mcp: list[ServerView]
    next: None = None
