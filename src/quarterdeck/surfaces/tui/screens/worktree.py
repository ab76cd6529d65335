"""What a session's worktree has changed, and where that goes: merged into its base, or discarded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.tui.dialogs.rule import SureDialog
from quarterdeck.surfaces.tui.screens.page import PageScreen
from quarterdeck.surfaces.tui.session_orders import called, runs_here
from quarterdeck.surfaces.tui.wall import Wall
from quarterdeck.surfaces.tui.worktrees import discard_question, losses, merge_question, tree_lines, tree_of, unmerged

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]


async def read_tree(app: QuarterdeckApp, session: Json) -> tuple[Json, Json]:
    """The worktree of a session, and what it has changed."""
    tree = tree_of((await app.talk.slowly("GET", "/worktrees"))["worktrees"], session["session_id"])
    if tree is None:
        raise Refused(f"{called(session)} has no worktree")
    return tree, await app.talk.slowly("GET", f"{_path(session)}/diff")


async def merge(app: QuarterdeckApp, session: Json) -> bool:
    """Into its base, once the person is sure; whether it was."""
    try:
        tree, _ = await read_tree(app, session)
        if why := unmerged(tree):
            raise Refused(why)
        if not await app.push_screen_wait(SureDialog(merge_question(tree))):
            return False
        await app.talk.slowly("POST", f"{_path(session)}/merge", {})
    except QuarterdeckError as error:
        app.say(f"Not merged: {error}", "error")
        return False
    app.say(f"Merged {tree['branch']} into {tree['base']}")
    return True


async def discard(app: QuarterdeckApp, session: Json) -> bool:
    """Away with folder and branch, once the person has read what is lost; whether it is away. What came after the
    question was read is not thrown away where nothing was to be lost."""
    try:
        if runs_here(app.model.sessions.get(session["session_id"], session)):
            raise Refused(f"{called(session)} still runs; end it first")
        tree, diff = await read_tree(app, session)
        lost = losses(tree, diff)
        if not await app.push_screen_wait(SureDialog(discard_question(tree, lost))):
            return False
        await app.talk.slowly("DELETE", f"{_path(session)}{'?force=true' if lost else ''}")
    except QuarterdeckError as error:
        app.say(f"Not discarded: {error}", "error")
        return False
    app.say(f"Discarded {tree['branch']}")
    return True


def _path(session: Json) -> str:
    return f"/worktrees/{quote(session['session_id'], safe='')}"


class WorktreePage(PageScreen):
    """The files and the lines that are changed."""

    heading = "Worktree"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "merge", "merge", tooltip="merge its commits into the branch it began on"),
        Binding("minus,delete", "discard", "discard", key_display="-", tooltip="take folder and branch away"),
    ]

    def __init__(self, session: Json) -> None:
        super().__init__()
        self._session = session

    def inside(self) -> ComposeResult:
        yield Wall(classes="page", id="worktree")

    def on_mount(self) -> None:
        self.name_it(f"of {called(self._session)}")
        self.query_one("#worktree", Wall).focus()
        self.action_reload()

    def action_reload(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        try:
            tree, diff = await read_tree(self.face, self._session)
        except QuarterdeckError as error:
            self.trouble(str(error))
            return
        self.trouble("")
        self.query_one("#worktree", Wall).show(tree_lines(tree, diff))

    @work(group="act")
    async def action_merge(self) -> None:
        if await merge(self.face, self._session):
            self.action_reload()

    @work(group="act")
    async def action_discard(self) -> None:
        if await discard(self.face, self._session):
            self.dismiss(None)
