"""What a session's worktree has changed, and where that goes: merged into its base, or discarded."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol
from urllib.parse import quote

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.terminal.send_decision import Face
from quarterdeck.surfaces.terminal.session_actions import called, runs_here
from quarterdeck.surfaces.terminal.worktree_lines import (
    discard_question,
    losses,
    merge_question,
    tree_lines,
    tree_of,
    unmerged,
)
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.widgets.text_view import Wall

Json = dict[str, Any]


class AskingFace(Face, Protocol):
    """Who can be asked whether they are sure."""

    async def is_sure(self, question: str) -> bool: ...


async def read_tree(face: AskingFace, session: Json) -> tuple[Json, Json]:
    """The worktree of a session, and what it has changed."""
    tree = tree_of((await face.talk.slowly("GET", "/worktrees"))["worktrees"], session["session_id"])
    if tree is None:
        raise Refused(f"{called(session)} has no worktree")
    return tree, await face.talk.slowly("GET", f"{_path(session)}/diff")


async def merge(face: AskingFace, session: Json) -> bool:
    """Into its base, once the person is sure; whether it was."""
    try:
        tree, _ = await read_tree(face, session)
        if why := unmerged(tree):
            raise Refused(why)
        if not await face.is_sure(merge_question(tree)):
            return False
        await face.talk.slowly("POST", f"{_path(session)}/merge", {})
    except QuarterdeckError as error:
        face.say(f"Not merged: {error}", "error")
        return False
    face.say(f"Merged {tree['branch']} into {tree['base']}")
    return True


async def discard(face: AskingFace, session: Json) -> bool:
    """Away with folder and branch, once the person has read what is lost; whether it is away. What came after the
    question was read is not thrown away where nothing was to be lost."""
    try:
        if runs_here(face.model.sessions.get(session["session_id"], session)):
            raise Refused(f"{called(session)} still runs; end it first")
        tree, diff = await read_tree(face, session)
        lost = losses(tree, diff)
        if not await face.is_sure(discard_question(tree, lost)):
            return False
        await face.talk.slowly("DELETE", f"{_path(session)}{'?force=true' if lost else ''}")
    except QuarterdeckError as error:
        face.say(f"Not discarded: {error}", "error")
        return False
    face.say(f"Discarded {tree['branch']}")
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
