"""Claude Code's plugins: what is installed and what could be, changed by its own command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.tui.dialogs.manage.rules import SureDialog
from quarterdeck.surfaces.tui.screens.busy_table import WorkingPage
from quarterdeck.surfaces.tui.screens.workspace.marketplaces import MarketplacesPage
from quarterdeck.surfaces.tui.widgets.table import Cell, Grid

Json = dict[str, Any]
DOING = {
    "install": "Installing",
    "enable": "Enabling",
    "disable": "Disabling",
    "update": "Updating",
    "uninstall": "Uninstalling",
}


def plugin_key(plugin: Json) -> str:
    """One plugin may be installed for the user and for several projects."""
    return f"{plugin['plugin_id']} {plugin['scope']} {plugin['project'] or ''}"


def plugin_rows(plugins: Iterable[Json]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each installed plugin on a row."""
    for plugin in plugins:
        on = plugin["enabled"]
        cells: tuple[Cell, ...] = (
            ("✓ on" if on else "– off", "good" if on else "dim"),
            (plugin["name"], "strong"),
            plugin["marketplace"] or "",
            plugin["version"] or "",
            plugin["scope"],
            ", ".join(plugin["capabilities"]),
            (f"! {plugin['errors'][0]}", "warn") if plugin["errors"] else (plugin["project"] or "", "dim"),
        )
        yield plugin_key(plugin), cells


def offer_rows(offers: Iterable[Json]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each plugin that could be installed on a row."""
    for offer in offers:
        cells: tuple[Cell, ...] = (
            ("+", "dim"),
            (offer["name"], "strong"),
            offer["marketplace"] or "",
            offer["version"] or "",
            "",
            "",
            (offer["description"], "dim"),
        )
        yield offer["plugin_id"], cells


def plugin_lines(plugin: Json) -> Iterator[Line]:
    """All that is known of one."""
    yield line((plugin["plugin_id"], "strong"), (f"  {plugin['version'] or ''}", "dim"))
    where = f" in {plugin['project']}" if plugin["project"] else ""
    yield line(f"scope {plugin['scope']}{where} · brings {', '.join(plugin['capabilities']) or 'nothing known'}")
    for error in plugin["errors"]:
        yield line((f"! {error}", "warn"))


class PluginsPage(WorkingPage):
    """Installed plugins; `o` shows what the marketplaces have."""

    heading = "Plugins"
    columns = ("", "plugin", "marketplace", "version", "scope", "brings", "")
    empty = "None installed: o shows what could be."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", key_display="esc", tooltip="from what could be installed; then back"),
        Binding("space", "turn", "on/off", tooltip="enable or disable it"),
        Binding("u", "change('update')", "update"),
        Binding("minus,delete", "uninstall", "uninstall", key_display="-"),
        Binding("o", "offers", "offers", tooltip="what could be installed"),
        Binding("plus", "install", "install", key_display="+"),
        Binding("m", "marketplaces", "marketplaces", tooltip="where plugins come from"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._plugins: dict[str, Json] = {}
        self._offers: dict[str, Json] = {}
        self._shows_offers = False

    @property
    def _pointed(self) -> Json | None:
        return self._plugins.get(self.table.pointed or "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("turn", "change", "uninstall"):
            return bool(self._plugins)
        if action == "install":
            return bool(self._offers)
        return not self._shows_offers if action == "offers" else True

    def action_reload(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        found = await self.work_on("Reading", "GET", "/plugins")
        if found is not None:
            self._offers, self._shows_offers = {}, False
            self._plugins = {plugin_key(one): one for one in found["plugins"]}
            self.fill(plugin_rows(self._plugins.values()))
            self.tell_below([])
            self.refresh_bindings()

    @work(exclusive=True, group="read")
    async def action_offers(self) -> None:
        """What the marketplaces have."""
        found = await self.work_on("Asking the marketplaces", "GET", "/plugins/available")
        if found is not None:
            self._plugins, self._shows_offers = {}, True
            self._offers = {one["plugin_id"]: one for one in found["available"]}
            self.fill(offer_rows(self._offers.values()))
            words = "to install; + or enter installs" if self._offers else "Nothing more to install; esc goes back"
            self.name_it(f"{self.table.count} {words}" if self._offers else words)
            self.tell_below([])
            self.refresh_bindings()

    @work(group="act")
    async def action_marketplaces(self) -> None:
        """Where plugins come from; what was changed there is read when one comes back."""
        await self.app.push_screen_wait(MarketplacesPage())
        self.action_reload()

    def action_leave(self) -> None:
        if self._shows_offers:
            self.action_reload()
        else:
            self.app.pop_screen()

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        if self._offers:
            self.action_install()
        elif self._pointed is not None:
            self.tell_below(plugin_lines(self._pointed))

    def action_turn(self) -> None:
        if self._pointed is not None:
            self.action_change("disable" if self._pointed["enabled"] else "enable")

    def action_change(self, action: str) -> None:
        if self._pointed is not None:
            self._change(action, self._pointed)

    @work(group="act")
    async def action_uninstall(self) -> None:
        plugin = self._pointed
        if plugin is None:
            return
        if await self.app.push_screen_wait(SureDialog(f"Uninstall {plugin['plugin_id']}?")):
            self._change("uninstall", plugin)

    @work(group="act")
    async def action_install(self) -> None:
        offer = self._offers.get(self.table.pointed or "")
        if offer is None:
            return
        question = f"Install {offer['plugin_id']} for you? What it brings runs in every new session."
        if await self.app.push_screen_wait(SureDialog(question)):
            self._change("install", {**offer, "scope": "user", "project": None})

    @work(group="change")
    async def _change(self, action: str, plugin: Json) -> None:
        """Have Claude Code do it, and show what it said."""
        body = {"name": plugin["plugin_id"], "scope": plugin["scope"] or "user"}
        if plugin["project"]:
            body["project"] = plugin["project"]
        done = await self.work_on(f"{DOING[action]} {plugin['name']}", "POST", f"/plugins/{action}", body)
        if done is not None:
            self.face.say(done["said"] or f"{action}: {plugin['name']}")
            self.action_reload()
