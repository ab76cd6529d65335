"""The projects page: each project of this machine with its git state, trust, sessions and cost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from urllib.parse import urlencode

from textual import work
from textual.binding import Binding

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.view_reader import read_views
from quarterdeck.surfaces.terminal.lines.project_lines import ProjectPlace, place_lines, place_rows, project_places
from quarterdeck.surfaces.terminal.styled_text import StyledLine, line
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.screens.table_screen import TablePage
from quarterdeck.views.workspace.project_view import ProjectView

POLL_SECONDS = 0.2


class ProjectsPage(TablePage):
    """The projects. Enter shows all of one; `v` has the daemon scan for projects again."""

    heading = "Projects"
    columns = ("project", "waits", "trust", "branch", "live", "cost", "used", "folder")
    empty = "None yet: name folders to look in with projects.roots, or start Claude Code in one."
    row_actions = ("start", "trust", "untrust", "feed")
    BINDINGS = [
        Binding("s", "start", "start", tooltip="start a session in it"),
        Binding("t", "trust", "trust", tooltip="show its project config, then ask to trust it"),
        Binding("minus,delete", "untrust", "untrust", key_display="-", tooltip="stop trusting it"),
        Binding("f", "feed", "its feed", tooltip="the feed of its latest session"),
        Binding("v", "scan", "look again", tooltip="look for projects again, and ask git about each"),
        Binding("x", "stop", "close", tooltip="stop waiting for the scan; close the details below"),
    ]
    _is_scanning = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self._is_scanning or self.detail.display
        if action == "scan":
            return not self._is_scanning
        return action not in self.row_actions or (self.highlighted is not None and action in self.highlighted.actions)

    async def read(self) -> None:
        """Read the projects. The first time the daemon scans for them, which takes a while."""
        if (reply := await self.call_daemon("Reading", "GET", "/projects")) is not None:
            places = project_places(read_views(ProjectView, reply["projects"]), self.tui.model.sessions.values())
            notes = [line(("! ", "warn"), words) for words in reply["scan"]["notes"]]
            self.fill(places, place_rows(places, self.tui.clock()), notes)

    @work(exclusive=True, group="scan")
    async def action_scan(self) -> None:
        """Have the daemon scan for projects and show its progress; x stops waiting."""
        daemon = self.tui.daemon
        self._is_scanning = True
        self.refresh_bindings()
        try:
            scan = await daemon.long_call("POST", "/projects/scan?wait=0&anew=true")
            while scan["state"] == "running":
                self.set_subtitle(f"looking … {scan['done']:,} of {scan['total']:,}; x stops waiting")
                await asyncio.sleep(POLL_SECONDS)
                scan = await daemon.get("/projects/scan")
        except QuarterdeckError as error:
            self.show_error(str(error))
            return
        finally:
            self._is_scanning = False
        self.action_reload()

    def action_stop(self) -> None:
        if self._is_scanning:
            self.workers.cancel_group(self, "scan")
            self._is_scanning = False
            self.tui.say("The scan goes on in the background", "warning")
            self.action_reload()
        self.show_details([])

    @work(group="act")
    async def action_trust(self) -> None:
        """Trust the project, after the person has seen all of its project config."""
        query = urlencode({"path": self.highlighted.path})
        project_config = await self.call_daemon("Reading", "GET", f"/projects/brings?{query}")
        if project_config is None:
            return
        if await self.app.push_screen_wait(TrustDialog(project_config)):
            path = project_config["path"]
            await self.change("Saving", "POST", "/projects/trust", {"path": path}, done=f"Trusted: {path}")

    @work(group="act")
    async def action_untrust(self) -> None:
        path = self.highlighted.path
        if await self.tui.is_sure(f"Stop trusting {path}? What its own rules allow is asked again."):
            await self.change("Saving", "POST", "/projects/untrust", {"path": path}, done=f"No longer trusted: {path}")

    @work(group="act")
    async def action_start(self) -> None:
        if await self.tui.session_flow.start(self.highlighted.path):
            self.dismiss(None)

    def action_feed(self) -> None:
        session_id = self.highlighted.sessions[0].session_id
        self.dismiss(None)
        self.tui.main_screen.go_to_session(session_id)

    def lines(self, item: ProjectPlace) -> Iterable[StyledLine]:
        return place_lines(item, self.tui.clock())
