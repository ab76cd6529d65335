"""The MCP servers page: list Claude Code's servers without starting any, try them, add and remove them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

from textual import work
from textual.binding import Binding

from quarterdeck.surfaces.terminal.lines.extension_lines import server_lines, server_rows
from quarterdeck.surfaces.terminal.styled_text import StyledLine
from quarterdeck.surfaces.tui.dialogs.manage.mcp_server import McpServerDialog
from quarterdeck.surfaces.tui.screens.table_screen import TablePage


class McpPage(TablePage):
    """The servers. `v` tries them, which starts them."""

    heading = "MCP servers"
    columns = ("status", "name", "transport", "scope", "tried", "runs")
    empty = "None configured: + adds one."
    row_actions = ("check", "remove")
    BINDINGS = [
        Binding(
            "v",
            "check",
            "check",
            tooltip="check the servers: start the user's, or this project's, and show their status",
        ),
        Binding("plus", "add", "add", key_display="+"),
        Binding("minus,delete", "remove", "remove", key_display="-"),
    ]

    async def read(self) -> None:
        if (reply := await self.call_daemon("Reading", "GET", "/mcp")) is not None:
            self.fill(reply["mcp"], server_rows(reply["mcp"], self.tui.clock()), ())

    def lines(self, item: dict[str, Any]) -> Iterable[StyledLine]:
        return server_lines(item)

    @work(group="act")
    async def action_check(self) -> None:
        """Start every server of the user, and those of the highlighted one's project; the daemon keeps the results."""
        project = self.highlighted["project"]
        body = {"project": project} if project else {}
        if await self.call_daemon("Trying the servers", "POST", "/mcp/check", body) is not None:
            self.action_reload()

    @work(group="act")
    async def action_add(self) -> None:
        await self.add_with(McpServerDialog())

    @work(group="act")
    async def action_remove(self) -> None:
        server = self.highlighted
        name = server["name"]
        if await self.tui.is_sure(f"Remove the MCP server {name}?"):
            query = {"scope": server["scope"], **({"project": server["project"]} if server["project"] else {})}
            path = f"/mcp/{quote(name, safe='')}?{urlencode(query)}"
            await self.change(f"Removing {name}", "DELETE", path, done=f"Removed {name}")
