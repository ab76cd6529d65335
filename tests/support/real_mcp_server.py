"""A real MCP server over stdio, by the mcp package, with one tool."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer

server = MCPServer("lab")


@server.tool()
def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


if __name__ == "__main__":
    server.run("stdio")
