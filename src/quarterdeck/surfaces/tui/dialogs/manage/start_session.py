"""The dialog that starts a session: project, prompt, modes and model."""

from __future__ import annotations

import asyncio
from typing import Any

from rich.style import Style
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input, TextArea

from quarterdeck.errors import NoDaemon, QuarterdeckError
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.terminal.forms.project_choice import matching_projects, typed_folder
from quarterdeck.surfaces.terminal.lines.project_lines import project_row
from quarterdeck.surfaces.terminal.styled_text import fold, line
from quarterdeck.surfaces.tui.dialogs.base import save_key
from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import (
    KEEP_BINDING,
    CommandDialog,
    launch_fields,
    model_field,
)
from quarterdeck.surfaces.tui.widgets.item_view import ItemView
from quarterdeck.views.workspace.project_view import ProjectList, ProjectView

Json = dict[str, Any]
MAX_ROWS = 6
POLL_SECONDS = 0.5


class ProjectChoices(ItemView, can_focus=False):
    """The projects that match the typed text; one is chosen."""

    class Picked(Message):
        """A project was clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown: list[ProjectView] = []

    @property
    def chosen(self) -> ProjectView | None:
        return self._shown[self.cursor] if self._shown else None

    def update(self, projects: list[ProjectView], empty_text: str) -> None:
        """Show these projects; the chosen one stays chosen if it is still among them."""
        chosen_path = self.chosen.path if self.chosen else None
        self._shown = projects
        self.cursor = next((n for n, one in enumerate(projects) if one.path == chosen_path), 0)
        width = self.content_size.width or 80
        rows = [project_row(one, width) for one in projects] or list(fold([line((empty_text, "dim"), indent=1)], width))
        self.styles.height = max(1, min(len(rows), MAX_ROWS))
        self.show_items([row] for row in rows)

    def choose(self, path: str) -> None:
        """Choose the project in this folder, if it is among them."""
        self.cursor = next((n for n, one in enumerate(self._shown) if one.path == path), self.cursor)
        self.move(0)

    def move(self, step: int) -> None:
        self.cursor = min(max(0, self.cursor + step), max(0, len(self._shown) - 1))
        top = self.scroll_offset.y
        self.scroll_to(y=min(self.cursor, max(top, self.cursor - MAX_ROWS + 1)), animate=False)
        self.refresh()

    def row_style(self, number: int) -> Style | None:
        return super().row_style(number) if self._shown else None

    def on_click(self, event: events.Click) -> None:
        place = self.clicked_item(event)
        if place is not None and self._shown:
            self.cursor = place
            self.refresh()
            self.post_message(self.Picked())


class ProjectFilter(Input):
    """The input that filters the projects; up and down choose one."""

    BINDINGS = [
        Binding("up", "pick(-1)", "project above", show=False),
        Binding("down", "pick(1)", "project below", show=False),
        Binding("enter", "done", "to the prompt", priority=True),
    ]

    def action_pick(self, step: int) -> None:
        self.screen.query_one(ProjectChoices).move(step)

    def action_done(self) -> None:
        """Focus the prompt at once, so that the next keys go into it."""
        self.screen.set_focus(self.screen.query_one("#prompt"))


class StartDialog(CommandDialog):
    """Ends with the new session."""

    heading = "Start a session"
    progress_label = "Starting"
    draft_key = "start"
    BINDINGS = [
        KEEP_BINDING,
        save_key("start"),
    ]

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder
        self._projects: list[ProjectView] = []
        self._empty_text = "Looking for projects …"

    def fields(self) -> ComposeResult:
        yield ProjectFilter(placeholder="project: type to filter, ↑ ↓ choose; or a folder, from / or ~/", id="filter")
        yield ProjectChoices(id="projects")
        yield from self.prompt_box("^s starts with or without it")
        yield from launch_fields()
        yield WordChoice("works in", ((False, "the folder"), (True, "a new git worktree")), id="worktree")
        yield model_field("the usual one")

    def on_mount(self) -> None:
        self._read_projects()

    @work(exclusive=True, group="projects")
    async def _read_projects(self) -> None:
        """Read the known projects of this machine, and again as long as the daemon scans for them."""
        self._show_projects()
        is_scanning, is_first = True, True
        while is_scanning:
            try:
                listing = read_view(ProjectList, await self.tui.daemon.long_call("GET", "/projects"))
            except QuarterdeckError as error:
                self.show_failure(error)
                if not isinstance(error, NoDaemon):
                    return
                await asyncio.sleep(POLL_SECONDS)
                continue
            self._projects, is_scanning = listing.projects, listing.scan.state == "running"
            reason = "No project matches" if self._projects else "No projects yet (projects.roots sets where to look)"
            self._empty_text = f"{reason}; or type a folder that starts with / or ~/"
            self._show_projects()
            if is_first:
                self.query_one(ProjectChoices).choose(self._folder)
            is_first = False
            await asyncio.sleep(POLL_SECONDS)

    def _show_projects(self) -> None:
        text = self.value("filter")
        folder = typed_folder(text)
        empty_text = f"in {folder}" if folder else self._empty_text
        self.query_one(ProjectChoices).update(matching_projects(self._projects, text), empty_text)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_projects)

    def on_input_changed(self, event: Input.Changed) -> None:
        if isinstance(event.input, ProjectFilter):
            self._show_projects()

    def on_project_choices_picked(self) -> None:
        self.query_one("#prompt", TextArea).focus()

    def read_command(self) -> tuple[str, Json, str] | str:
        self._show_projects()
        chosen = self.query_one(ProjectChoices).chosen
        folder = chosen.path if chosen else typed_folder(self.value("filter"))
        if folder is None:
            return "choose a project first"
        names = ("mode", "permission_mode", "prompt", "model", "worktree")
        return "/sessions", {"cwd": folder, **self.filled(*names)}, folder
