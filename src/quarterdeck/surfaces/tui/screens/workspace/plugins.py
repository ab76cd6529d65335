"""The plugins page: Claude Code's installed and available plugins, changed by its own command line."""

from __future__ import annotations

from typing import Any

from textual import work
from textual.binding import Binding

from quarterdeck.surfaces.terminal.lines.extension_lines import offer_rows, plugin_lines, plugin_rows
from quarterdeck.surfaces.tui.screens.table_screen import OffersPage
from quarterdeck.surfaces.tui.screens.workspace.marketplaces import MarketplacesPage

Json = dict[str, Any]
ACTIVITIES = {
    "install": "Installing",
    "enable": "Enabling",
    "disable": "Disabling",
    "update": "Updating",
    "uninstall": "Uninstalling",
}


class PluginsPage(OffersPage):
    """The installed plugins. `o` shows the plugins of the marketplaces."""

    heading = "Plugins"
    columns = ("", "plugin", "marketplace", "version", "scope", "contains", "")
    empty = "None installed: o shows what you can install."
    row_actions = ("turn", "update", "uninstall")
    offer_actions = ("install",)
    BINDINGS = [
        Binding("escape,q", "leave", "back", key_display="esc", tooltip="back"),
        Binding("space", "turn", "on/off", tooltip="enable or disable it"),
        Binding("u", "update", "update"),
        Binding("minus,delete", "uninstall", "uninstall", key_display="-"),
        Binding("o", "offers", "available", tooltip="plugins you can install"),
        Binding("plus", "install", "install", key_display="+"),
        Binding("m", "marketplaces", "marketplaces", tooltip="where plugins come from"),
    ]

    async def read(self) -> None:
        if (reply := await self.call_daemon("Reading", "GET", "/plugins")) is not None:
            self.shows_offers = False
            self.fill(reply["plugins"], plugin_rows(reply["plugins"]), ())

    @work(exclusive=True, group="read")
    async def action_offers(self) -> None:
        """Show the plugins of the marketplaces."""
        reply = await self.call_daemon("Asking the marketplaces", "GET", "/plugins/available")
        if reply is not None:
            offers = reply["available"]
            self.shows_offers = True
            self.fill(offers, offer_rows(offers), ())
            words = f"{len(offers)} to install; + or enter installs"
            self.set_subtitle(words if offers else "Nothing more to install; esc goes back")

    @work(group="act")
    async def action_marketplaces(self) -> None:
        """Open the marketplaces page; read the plugins again when it closes."""
        await self.app.push_screen_wait(MarketplacesPage())
        self.action_reload()

    def choose(self, item: Json) -> None:
        if self.shows_offers:
            self.action_install()
        else:
            self.show_details(plugin_lines(item))

    @work(group="act")
    async def action_turn(self) -> None:
        await self._change("disable" if self.highlighted["enabled"] else "enable", self.highlighted)

    @work(group="act")
    async def action_update(self) -> None:
        await self._change("update", self.highlighted)

    @work(group="act")
    async def action_uninstall(self) -> None:
        plugin = self.highlighted
        if await self.tui.is_sure(f"Uninstall {plugin['plugin_id']}?"):
            await self._change("uninstall", plugin)

    @work(group="act")
    async def action_install(self) -> None:
        offer = self.highlighted
        question = f"Install {offer['plugin_id']} for you? Everything in it runs in every new session."
        if await self.tui.is_sure(question):
            await self._change("install", {**offer, "scope": "user", "project": None})

    async def _change(self, action: str, plugin: Json) -> None:
        """Have Claude Code do it, and show its output."""
        body = {"name": plugin["plugin_id"], "scope": plugin["scope"] or "user"}
        if plugin["project"]:
            body["project"] = plugin["project"]
        name = plugin["name"]
        await self.change(f"{ACTIVITIES[action]} {name}", "POST", f"/plugins/{action}", body, done=f"{action}: {name}")
