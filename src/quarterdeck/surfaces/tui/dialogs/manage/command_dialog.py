"""Dialogs that order something of a session: they stay, with what was typed, until the daemon has done it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, cast
from urllib.parse import urlencode

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static, TextArea

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.dialogs.text_area import Area

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]
TICK_SECONDS = 0.2
KEEP = Binding("escape", "cancel", "keep for later", tooltip="leave; the prompt is there the next time", priority=True)
"""Escape where a prompt is written."""


class OrderDialog(Dialog[Json]):
    """Ends with what the daemon answered. `path` and `body` say what is ordered, `folder` where it must be trusted."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "send", "send", priority=True, key_display="^s")]
    doing = "Sending"
    draft_of = ""
    """What the prompt is for: under this name it is kept when it is not sent."""

    def __init__(self) -> None:
        super().__init__()
        self._since: float | None = None

    @property
    def face(self) -> QuarterdeckApp:
        return cast("QuarterdeckApp", self.app)

    def inside(self) -> ComposeResult:
        yield from self.fields()
        yield Static("", id="progress", classes="says", markup=False)

    def prompt_box(self, sends: str, begin: str = "") -> ComposeResult:
        """A prompt of several lines, with the keys that it takes; it begins with what was kept."""
        yield Static(f"Prompt: Enter begins a new line, {sends}, esc keeps it for later", classes="says", markup=False)
        yield Area(begin or self.face.drafts.get(self.draft_of, ""), id="prompt", soft_wrap=True)

    @property
    def prompt(self) -> str:
        return self.query_one("#prompt", TextArea).text.strip()

    def fields(self) -> ComposeResult:
        """What is asked of the person."""
        yield from ()

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self._tell_progress)

    def _tell_progress(self) -> None:
        words = "" if self._since is None else f"{self.doing} … {time.monotonic() - self._since:.0f} s"
        self.query_one("#progress", Static).update(Content(words))

    def wanted(self) -> tuple[str, Json, str] | str:
        """The path to post to, the body, and the folder that must be trusted for it, if any; or what is missing."""
        return "there is nothing to order"

    def action_send(self) -> None:
        self.once_typed(self._send)

    def _send(self) -> None:
        found = self.wanted()
        if isinstance(found, str):
            self.trouble(found[:1].upper() + found[1:])
        elif self._since is None:
            self._order(*found)

    @work(exclusive=True, group="order")
    async def _order(self, path: str, body: Json, folder: str) -> None:
        """Have it done; what is refused is said, and nothing that was typed is lost."""
        self.trouble("")
        self._since = time.monotonic()
        try:
            if folder and not await self._is_trusted(folder):
                self.trouble("Not trusted, so nothing was started")
                return
            self._since = time.monotonic()
            done = await self.face.talk.slowly("POST", path, body)
            self.face.drafts.pop(self.draft_of, None)
            self.dismiss(done)
        except QuarterdeckError as error:
            self.trouble(one_line(str(error)))
        finally:
            self._since = None

    def action_cancel(self) -> None:
        self.once_typed(self._leave)

    def _leave(self) -> None:
        """What is on its way goes on, unseen; what was not sent is kept for the next time."""
        if self._since is not None:
            self.face.say(f"Not waited for: {self.doing.lower()} goes on", "warning")
        elif self.draft_of and self.prompt:
            self.face.drafts[self.draft_of] = self.prompt
            self.face.say("Not sent; what you typed is kept for the next time")
        else:
            self.face.drafts.pop(self.draft_of, None)
        self.dismiss(None)

    async def _is_trusted(self, folder: str) -> bool:
        """Whether a folder is trusted, after the person was asked where it is not."""
        talk = self.face.talk
        brings = await talk.slowly("GET", f"/projects/brings?{urlencode({'path': folder})}")
        if brings["trusted"]:
            return True
        self._since = None
        if not await self.app.push_screen_wait(TrustDialog(brings)):
            return False
        await talk.post("/projects/trust", {"path": brings["path"]})
        return True
