"""The marketplaces page: list, add, update and remove the sources of Claude Code's plugins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from textual import work
from textual.binding import Binding

from quarterdeck.surfaces.terminal.lines.extension_lines import market_lines, market_rows
from quarterdeck.surfaces.terminal.styled_text import StyledLine
from quarterdeck.surfaces.tui.dialogs.manage.marketplace import MarketplaceDialog
from quarterdeck.surfaces.tui.screens.table_screen import TablePage

PATH = "/plugins/marketplaces"


class MarketplacesPage(TablePage):
    """The marketplaces. Their plugins are shown among the offers of the plugins page."""

    heading = "Marketplaces"
    columns = ("marketplace", "kind", "where")
    empty = "None yet: + adds one."
    row_actions = ("update", "update_all", "remove")
    BINDINGS = [
        Binding("u", "update", "update", tooltip="fetch it again"),
        Binding("U", "update_all", "update all", tooltip="fetch all of them again"),
        Binding("plus", "add", "add", key_display="+"),
        Binding("minus,delete", "remove", "remove", key_display="-", tooltip="remove it, and what came from it"),
    ]

    async def read(self) -> None:
        if (reply := await self.call_daemon("Reading", "GET", PATH)) is not None:
            self.fill(reply["marketplaces"], market_rows(reply["marketplaces"]), ())

    def lines(self, item: dict[str, Any]) -> Iterable[StyledLine]:
        return market_lines(item)

    @work(group="act")
    async def action_update(self) -> None:
        name = self.table.highlighted_key
        await self.change(f"Updating {name}", "POST", f"{PATH}/update", {"name": name})

    @work(group="act")
    async def action_update_all(self) -> None:
        await self.change("Updating all", "POST", f"{PATH}/update", {})

    @work(group="act")
    async def action_add(self) -> None:
        await self.add_with(MarketplaceDialog())

    @work(group="act")
    async def action_remove(self) -> None:
        name = str(self.table.highlighted_key)
        if await self.tui.is_sure(f"Remove the marketplace {name}? What was installed from it goes with it."):
            await self.change(f"Removing {name}", "DELETE", f"{PATH}/{quote(name, safe='')}")
