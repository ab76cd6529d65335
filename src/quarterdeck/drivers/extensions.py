"""An agent's plugins and MCP servers, as the API serves them."""

from __future__ import annotations

from typing import Protocol

from quarterdeck.core.workspace.extensions import Marketplace, McpServer, NewMcpServer, Plugin, PluginOffer


class Extensions(Protocol):
    """The plugins and MCP servers of an agent. Each call raises `Refused` with the agent's own error text."""

    async def plugins(self) -> list[Plugin]:
        """The installed plugins with their capabilities."""

    async def offers(self) -> list[PluginOffer]:
        """The plugins that can be installed."""

    async def marketplaces(self) -> list[Marketplace]: ...

    async def change_plugin(self, action: str, name: str, scope: str, project: str | None) -> str:
        """Install, enable, disable, update or uninstall; returns the agent's message."""

    async def change_marketplace(self, action: str, name: str | None) -> str:
        """Add, remove or update a marketplace; without a name all are updated."""

    async def servers(self) -> list[McpServer]:
        """Every configured MCP server with the result of its last check. No server is started."""

    async def add_server(self, server: NewMcpServer, project: str | None) -> str: ...

    async def remove_server(self, name: str, scope: str, project: str | None) -> str: ...

    async def check_servers(self, project: str | None) -> None:
        """Start every server that is configured for a project, or for the user, and remember its health."""
