"""Marketplaces, where Claude Code's plugins come from: listed, added, fetched again, removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar
from urllib.parse import quote

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.tui.dialogs.manage.marketplace import MarketplaceDialog
from quarterdeck.surfaces.tui.dialogs.manage.rules import SureDialog
from quarterdeck.surfaces.tui.screens.busy_table import WorkingPage
from quarterdeck.surfaces.tui.widgets.table import Cell, Grid

Json = dict[str, Any]
PATH = "/plugins/marketplaces"


def market_rows(markets: Iterable[Json]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each marketplace on a row."""
    for market in markets:
        yield market["name"], ((market["name"], "strong"), market["source"], (market["location"] or "", "dim"))


def market_lines(market: Json) -> Iterator[Line]:
    """All that is known of one."""
    yield line((market["name"], "strong"), f"  {market['source']}")
    yield line(("where: ", "dim"), market["location"] or "not known")
    yield line(("o among the plugins shows what it has", "dim"))


class MarketplacesPage(WorkingPage):
    """The marketplaces; what they have is among the offers of the plugins."""

    heading = "Marketplaces"
    columns = ("marketplace", "kind", "where")
    empty = "None yet: + adds one."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "update", "update", tooltip="fetch it again"),
        Binding("U", "update_all", "update all", tooltip="fetch all of them again"),
        Binding("plus", "add", "add", key_display="+"),
        Binding("minus,delete", "remove", "remove", key_display="-", tooltip="remove it, and what came from it"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._markets: dict[str, Json] = {}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._markets) if action in ("update", "update_all", "remove") else True

    def action_reload(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        found = await self.work_on("Reading", "GET", PATH)
        if found is not None:
            self._markets = {market["name"]: market for market in found["marketplaces"]}
            self.fill(market_rows(self._markets.values()))
            self.tell_below([])
            self.refresh_bindings()

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        self.tell_below(market_lines(self._markets[message.key]))

    def action_update(self) -> None:
        if self.table.pointed is not None:
            self._change(f"Updating {self.table.pointed}", "POST", f"{PATH}/update", {"name": self.table.pointed})

    def action_update_all(self) -> None:
        self._change("Updating all", "POST", f"{PATH}/update", {})

    @work(group="act")
    async def action_add(self) -> None:
        told = await self.app.push_screen_wait(MarketplaceDialog())
        if told is not None:
            self.face.say(told["said"] or "Added")
            self.action_reload()

    @work(group="act")
    async def action_remove(self) -> None:
        name = self.table.pointed
        if name is None:
            return
        question = f"Remove the marketplace {name}? What was installed from it goes with it."
        if await self.app.push_screen_wait(SureDialog(question)):
            self._change(f"Removing {name}", "DELETE", f"{PATH}/{quote(name, safe='')}")

    @work(group="change")
    async def _change(self, doing: str, method: str, path: str, body: Json | None = None) -> None:
        """Have Claude Code do it, and show what it said."""
        done = await self.work_on(doing, method, path, body)
        if done is not None:
            self.face.say(done["said"] or f"{doing}: done")
            self.action_reload()
