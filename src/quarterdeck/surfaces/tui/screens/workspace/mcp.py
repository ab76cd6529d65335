"""MCP servers of Claude Code: listed without starting any, tried on request, added and removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.text.labels import ago, project_name
from quarterdeck.surfaces.tui.dialogs.manage.mcp_server import ServerDialog
from quarterdeck.surfaces.tui.dialogs.manage.rules import SureDialog
from quarterdeck.surfaces.tui.screens.busy_table import WorkingPage
from quarterdeck.surfaces.tui.widgets.table import Cell, Grid

Json = dict[str, Any]
STATUS = {
    "connected": ("✓ connected", "good"),
    "failed": ("✕ failed", "blocked"),
    "needs_auth": ("? sign in", "asks"),
    "disabled": ("– disabled", "dim"),
    "pending": ("· pending", "dim"),
    "unchecked": ("· not tried", "dim"),
}


def server_key(server: Json) -> str:
    """The user and each project may have a server of one name."""
    return f"{server['name']} {server['scope']} {server['project'] or ''}"


def target_of(config: Json) -> str:
    """What a server runs, or where it is."""
    return " ".join([config["command"], *config.get("args", ())]) if "command" in config else config.get("url", "")


def server_rows(servers: Iterable[Json], now: float) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each server on a row."""
    for server in servers:
        cells: tuple[Cell, ...] = (
            STATUS.get(server["status"], (f"· {server['status']}", "dim")),
            (server["name"], "strong"),
            server["transport"],
            f"{server['scope']} {project_name(server['project'])}" if server["project"] else server["scope"],
            ago(server["checked_at"], now) if server["checked_at"] else "never",
            (target_of(server["config"]), "dim"),
        )
        yield server_key(server), cells


def server_lines(server: Json) -> Iterator[Line]:
    """All that is known of one, without any secret."""
    yield line((server["name"], "strong"), f"  {target_of(server['config'])}")
    for name in ("env", "headers"):
        if server["config"].get(name):
            yield line((f"{name}: ", "dim"), ", ".join(server["config"][name]))
    if server["project"]:
        yield line(("project: ", "dim"), server["project"])
    if server["last_error"]:
        yield line((f"! {server['last_error']}", "warn"))
    if server["login"]:
        yield line(("to sign in, in a terminal: ", "dim"), server["login"])


class McpPage(WorkingPage):
    """The servers; `v` tries them, which starts them."""

    heading = "MCP servers"
    columns = ("status", "name", "transport", "scope", "tried", "runs")
    empty = "None configured: + adds one."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "check", "try them", tooltip="start the servers of the user, or of this one's project, and see"),
        Binding("plus", "add", "add", key_display="+"),
        Binding("minus,delete", "remove", "remove", key_display="-"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._servers: dict[str, Json] = {}

    @property
    def _pointed(self) -> Json | None:
        return self._servers.get(self.table.pointed or "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._servers) if action in ("check", "remove") else True

    def action_reload(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        found = await self.work_on("Reading", "GET", "/mcp")
        if found is not None:
            self._take(found["mcp"])

    def _take(self, servers: list[Json]) -> None:
        self._servers = {server_key(one): one for one in servers}
        self.fill(server_rows(self._servers.values(), self.face.clock()))
        self.tell_below([])
        self.refresh_bindings()

    @work(group="act")
    async def action_check(self) -> None:
        """Start every server the user has, and those of the pointed one's project; how each did is kept."""
        project = (self._pointed or {}).get("project")
        body = {"project": project} if project else {}
        if await self.work_on("Trying the servers", "POST", "/mcp/check", body) is not None:
            self.action_reload()

    @work(group="act")
    async def action_add(self) -> None:
        told = await self.app.push_screen_wait(ServerDialog())
        if told is not None:
            self.face.say(told["said"] or "Added")
            self.action_reload()

    @work(group="act")
    async def action_remove(self) -> None:
        server = self._pointed
        if server is None:
            return
        if not await self.app.push_screen_wait(SureDialog(f"Remove the MCP server {server['name']}?")):
            return
        whose = {"scope": server["scope"], **({"project": server["project"]} if server["project"] else {})}
        path = f"/mcp/{quote(server['name'], safe='')}?{urlencode(whose)}"
        done = await self.work_on(f"Removing {server['name']}", "DELETE", path)
        if done is not None:
            self.face.say(done["said"] or f"Removed {server['name']}")
            self.action_reload()

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        if self._pointed is not None:
            self.tell_below(server_lines(self._pointed))
