"""Starting a session: in which project, how, and with which prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from rich.style import Style
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input, TextArea

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import cut
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.session_actions import MODES, PERMISSION_MODES
from quarterdeck.surfaces.terminal.styled_text import Row, Span, fold, line
from quarterdeck.surfaces.tui.dialogs.choices import OneWord
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import KEEP, OrderDialog
from quarterdeck.surfaces.tui.widgets.line_input import Field
from quarterdeck.surfaces.tui.widgets.text_view import Wall, cursor_colour

Json = dict[str, Any]
MOST_ROWS = 6
LOOK_SECONDS = 0.5
NAME = 22


def used_at(project: Json) -> float:
    """When a project was last worked in with an agent, else when it last changed."""
    return float(max([project["last_modified"], *(one["last_used_at"] for one in project["prior_sessions"])]))


def fitting(projects: Iterable[Json], text: str) -> list[Json]:
    """The projects that hold every word of a text; trusted ones first, then the latest."""
    words = text.lower().split()
    found = [one for one in projects if all(word in one["path"].lower() for word in words)]
    return sorted(found, key=lambda one: (not one["trusted"], -one["live_sessions"], -used_at(one), one["path"]))


def typed_folder(text: str) -> str | None:
    """The folder that a text names by itself, from the root or from home."""
    stripped = text.strip()
    return str(Path(stripped).expanduser()) if stripped.startswith(("/", "~/")) else None


def project_row(project: Json, width: int) -> Row:
    """One project: trusted or not, by a sign and a word; its name, branch and folder."""
    trusted = project["trusted"]
    name = cut(one_line(project["name"]), NAME)
    branch = f"  {cut(one_line(project['git_branch']), 20)}" if project["git_branch"] else ""
    parts = [
        Span(" ✓ trusted  " if trusted else " · untrusted", "good" if trusted else "dim"),
        Span(f" {name}", "strong"),
        Span(branch, "dim"),
    ]
    room = max(8, width - sum(len(part.text) for part in parts) - 3)
    return (*parts, Span(f"  {cut(one_line(project['path']), room)}", "dim"))


class Projects(Wall, can_focus=False):
    """The projects that fit what was typed; one is chosen."""

    class Picked(Message):
        """One was clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._found: list[Json] = []
        self.cursor = 0

    @property
    def chosen(self) -> Json | None:
        return self._found[self.cursor] if self._found else None

    def tell(self, found: list[Json], nothing: str) -> None:
        """Other projects; the choice stays where it was, if it is still among them."""
        held = self.chosen["path"] if self.chosen else None
        self._found = found
        self.cursor = next((n for n, one in enumerate(found) if one["path"] == held), 0)
        width = self.content_size.width or 80
        rows = [project_row(one, width) for one in found] or list(fold([line((nothing, "dim"), indent=1)], width))
        self.styles.height = max(1, min(len(rows), MOST_ROWS))
        self.show_rows(rows)

    def choose(self, path: str) -> None:
        """The project in this folder, if it is among them."""
        self.cursor = next((n for n, one in enumerate(self._found) if one["path"] == path), self.cursor)
        self.move(0)

    def move(self, step: int) -> None:
        self.cursor = min(max(0, self.cursor + step), max(0, len(self._found) - 1))
        top = self.scroll_offset.y
        self.scroll_to(y=min(self.cursor, max(top, self.cursor - MOST_ROWS + 1)), animate=False)
        self.refresh()

    def row_style(self, number: int) -> Style | None:
        return Style(bgcolor=cursor_colour(self)) if self._found and number == self.cursor else None

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y + self.scroll_offset.y < len(self._found):
            self.cursor = offset.y + self.scroll_offset.y
            self.refresh()
            self.post_message(self.Picked())


class Filter(Input):
    """Narrows the projects as one types; up and down choose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "pick(-1)", "project above", show=False),
        Binding("down", "pick(1)", "project below", show=False),
        Binding("enter", "done", "to the prompt", priority=True),
    ]

    def action_pick(self, step: int) -> None:
        self.screen.query_one(Projects).move(step)

    def action_done(self) -> None:
        """At once, so that what is typed next is the prompt."""
        self.screen.set_focus(self.screen.query_one("#prompt"))


class StartDialog(OrderDialog):
    """Ends with the session that was started."""

    heading = "Start a session"
    doing = "Starting"
    draft_of = "start"
    BINDINGS: ClassVar[list[BindingType]] = [
        KEEP,
        Binding("ctrl+s,f2", "send", "start", priority=True, key_display="^s"),
    ]

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder
        self._projects: list[Json] = []
        self._nothing = "Looking for projects …"

    def fields(self) -> ComposeResult:
        yield Filter(placeholder="project: type to filter, ↑ ↓ choose; or a folder, from / or ~/", id="filter")
        yield Projects(id="projects")
        yield from self.prompt_box("^s starts with or without it")
        yield OneWord("mode", MODES, 0, id="mode")
        yield OneWord("permissions", PERMISSION_MODES, 0, id="permissions")
        yield OneWord("works in", ("the folder", "a new git worktree"), 0, id="worktree")
        yield Field(placeholder="model: leave empty for the usual one", id="model", max_length=200)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(Filter).focus()
        self._read()

    @work(exclusive=True, group="projects")
    async def _read(self) -> None:
        """The projects of this machine, as far as they are known, and again while the daemon looks for them."""
        self._tell()
        looking, is_first = True, True
        while looking:
            try:
                found = await self.face.talk.slowly("GET", "/projects")
            except QuarterdeckError as error:
                self.trouble(str(error))
                return
            self._projects, looking = found["projects"], found["scan"]["state"] == "running"
            few = "No project fits" if self._projects else "No projects yet (projects.roots names where to look)"
            self._nothing = f"{few}; a folder can be given from / or ~/"
            self._tell()
            if is_first:
                self.query_one(Projects).choose(self._folder)
            is_first = False
            await asyncio.sleep(LOOK_SECONDS)

    def _tell(self) -> None:
        text = self.query_one(Filter).value
        folder = typed_folder(text)
        nothing = f"in {folder}" if folder else self._nothing
        self.query_one(Projects).tell(fitting(self._projects, text), nothing)

    def on_resize(self) -> None:
        self.call_after_refresh(self._tell)

    def on_input_changed(self, event: Input.Changed) -> None:
        if isinstance(event.input, Filter):
            self._tell()

    def on_projects_picked(self) -> None:
        self.query_one("#prompt", TextArea).focus()

    def wanted(self) -> tuple[str, Json, str] | str:
        self._tell()
        chosen = self.query_one(Projects).chosen
        folder = chosen["path"] if chosen else typed_folder(self.query_one(Filter).value)
        if folder is None:
            return "choose a project first"
        mode = MODES[self.query_one("#mode", OneWord).chosen]
        body = {
            "cwd": folder,
            "mode": mode,
            "permission_mode": PERMISSION_MODES[self.query_one("#permissions", OneWord).chosen],
            "prompt": self.prompt or None,
            "model": self.query_one("#model", Input).value.strip() or None,
            "worktree": bool(self.query_one("#worktree", OneWord).chosen) or None,
        }
        return "/sessions", {name: value for name, value in body.items() if value is not None}, folder
