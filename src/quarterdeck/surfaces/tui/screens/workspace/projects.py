"""The projects of this machine: what git says of each, whether it is trusted, its sessions and what they cost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, ClassVar
from urllib.parse import urlencode

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.styled_text import line
from quarterdeck.surfaces.tui.dialogs.manage.rules import SureDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.screens.busy_table import WorkingPage
from quarterdeck.surfaces.tui.screens.workspace.project_lines import Place, place_lines, place_rows, places
from quarterdeck.surfaces.tui.widgets.table import Grid

Json = dict[str, Any]
LOOK_SECONDS = 0.2


class ProjectsPage(WorkingPage):
    """Enter shows what is known of a project; `v` has the daemon look for projects again."""

    heading = "Projects"
    columns = ("project", "waits", "trust", "branch", "live", "cost", "used", "folder")
    empty = "None yet: name folders to look in with projects.roots, or start Claude Code in one."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "start", "start", tooltip="start a session in it"),
        Binding("t", "trust", "trust", tooltip="trust it; shows first what it brings"),
        Binding("minus,delete", "untrust", "untrust", key_display="-", tooltip="trust it no more"),
        Binding("f", "feed", "its feed", tooltip="the feed of its latest session"),
        Binding("v", "scan", "look again", tooltip="look for projects again, and ask git about each"),
        Binding("x", "stop", "close", tooltip="wait no longer for the look; close what is shown below"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, Place] = {}
        self._looking = False

    @property
    def _pointed(self) -> Place | None:
        return self._places.get(self.table.pointed or "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self._looking or self.detail.display
        if action == "scan":
            return not self._looking
        if action not in ("start", "trust", "untrust", "feed"):
            return True
        return bool(self._places) and self._pointed is not None and action in self._pointed.takes

    def action_reload(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        """What the daemon knows; the first time it looks for them, which takes its while."""
        found = await self.work_on("Reading", "GET", "/projects")
        if found is not None:
            self._take(found["projects"], found["scan"]["notes"])

    def _take(self, projects: Iterable[Json], notes: list[str]) -> None:
        self._places = {one.path: one for one in places(projects, self.face.model.sessions.values())}
        self.fill(place_rows(self._places.values(), self.face.clock()))
        self.tell_below([line(("! ", "warn"), words) for words in notes])

    @work(exclusive=True, group="scan")
    async def action_scan(self) -> None:
        """Have the daemon look, and say how far it is; x waits no longer."""
        talk = self.face.talk
        self._looking = True
        self.refresh_bindings()
        try:
            told = await talk.slowly("POST", "/projects/scan?wait=0&anew=true")
            while told["state"] == "running":
                self.name_it(f"looking … {told['done']:,} of {told['total']:,}; x waits no longer")
                await asyncio.sleep(LOOK_SECONDS)
                told = await talk.get("/projects/scan")
        except QuarterdeckError as error:
            self.trouble(str(error))
            return
        finally:
            self._looking = False
        self.action_reload()

    def action_stop(self) -> None:
        if self._looking:
            self.workers.cancel_group(self, "scan")
            self._looking = False
            self.face.say("Not waited for: the daemon goes on looking", "warning")
            self.action_reload()
        self.tell_below([])

    @work(group="act")
    async def action_trust(self) -> None:
        """After a look at everything that the folder brings."""
        place = self._pointed
        if place is None:
            return
        brings = await self.work_on("Reading", "GET", f"/projects/brings?{urlencode({'path': place.path})}")
        if brings is None or not await self.app.push_screen_wait(TrustDialog(brings)):
            return
        await self._order("trust", brings["path"], f"Trusted: {brings['path']}")

    @work(group="act")
    async def action_untrust(self) -> None:
        place = self._pointed
        if place is None:
            return
        question = f"Trust {place.path} no more? What its own rules allow is asked again."
        if await self.app.push_screen_wait(SureDialog(question)):
            await self._order("untrust", place.path, f"Trusted no more: {place.path}")

    async def _order(self, order: str, path: str, done: str) -> None:
        if await self.work_on("Telling the daemon", "POST", f"/projects/{order}", {"path": path}) is not None:
            self.face.say(done)
            self.action_reload()

    @work(group="act")
    async def action_start(self) -> None:
        place = self._pointed
        if place is not None and await self.face.steering.start(place.path):
            self.dismiss(None)

    def action_feed(self) -> None:
        place = self._pointed
        if place is not None and place.sessions:
            self.dismiss(None)
            self.face.bridge.look_at(place.sessions[0]["session_id"])

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        if message.key in self._places:
            self.tell_below(place_lines(self._places[message.key], self.face.clock()))
