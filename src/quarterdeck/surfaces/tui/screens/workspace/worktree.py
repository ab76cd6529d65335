"""The worktree page: the changes of a session's worktree, to be merged into its base or discarded."""

from __future__ import annotations

from textual import work
from textual.binding import Binding

from quarterdeck.surfaces.terminal.actions.worktree_actions import discard_worktree, merge_worktree, read_worktree
from quarterdeck.surfaces.terminal.lines.worktree_lines import worktree_lines
from quarterdeck.surfaces.terminal.session_actions import session_label
from quarterdeck.surfaces.tui.screens.base import TextPage
from quarterdeck.views.resources.session_view import SessionView


class WorktreePage(TextPage):
    """The changed files and lines."""

    heading = "Worktree"
    BINDINGS = [
        Binding("m", "merge", "merge", tooltip="merge its commits into the branch it began on"),
        Binding("minus,delete", "discard", "discard", key_display="-", tooltip="delete folder and branch"),
    ]

    def __init__(self, session: SessionView) -> None:
        super().__init__()
        self._session = session

    def on_mount(self) -> None:
        self.set_subtitle(f"of {session_label(self._session)}")

    async def read(self) -> None:
        self.show(worktree_lines(*await read_worktree(self.tui, self._session)))

    @work(group="act")
    async def action_merge(self) -> None:
        if await merge_worktree(self.tui, self._session):
            self.action_reload()

    @work(group="act")
    async def action_discard(self) -> None:
        if await discard_worktree(self.tui, self._session):
            self.dismiss(None)
