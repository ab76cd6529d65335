"""The base of dialogs that send a command: they stay open, with the typed text, until the daemon has done it."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlencode

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.session_actions import MODES, PERMISSION_MODES
from quarterdeck.surfaces.tui.dialogs.base import Dialog, label
from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.widgets.inputs import LineInput, TextBox

Json = dict[str, Any]
TICK_SECONDS = 0.2
KEEP_BINDING = Binding("escape", "cancel", "keep for later", tooltip="close; the prompt is kept", priority=True)
"""Escape in dialogs with a prompt."""


def launch_fields(mode: str = "", permission_mode: str = "") -> ComposeResult:
    """How a session is to run. They start with the first of each, or with those of a session."""
    yield WordChoice("mode", MODES, mode, id="mode")
    yield WordChoice("permissions", PERMISSION_MODES, permission_mode, id="permission_mode")


def model_field(usual: str) -> LineInput:
    return LineInput(placeholder=f"model: leave empty for {usual}", id="model", max_length=200)


class CommandDialog(Dialog[Json]):
    """Ends with the daemon's answer."""

    progress_label = "Sending"
    draft_key = ""
    """The name under which a prompt that was not sent is kept."""

    def __init__(self) -> None:
        super().__init__()
        self._sent_at: float | None = None

    def compose_box(self) -> ComposeResult:
        yield from self.fields()
        yield label(id="progress")

    def prompt_box(self, sends: str, text: str = "") -> ComposeResult:
        """A prompt of several lines with a line about its keys. It starts with `text`, else with the kept prompt."""
        yield label(f"Prompt: Enter begins a new line, {sends}, esc keeps it for later")
        yield TextBox(text or self.tui.drafts.get(self.draft_key, ""), id="prompt", soft_wrap=True)

    def filled(self, *names: str) -> Json:
        """The values of those fields that are not empty."""
        return {name: value for name in names if (value := self.value(name))}

    def fields(self) -> ComposeResult:
        """The inputs of this dialog."""
        yield from ()

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self._show_progress)

    def _show_progress(self) -> None:
        words = "" if self._sent_at is None else f"{self.progress_label} … {time.monotonic() - self._sent_at:.0f} s"
        for place in self.query("#progress").results(Static):  # the dialog may be closed by now
            place.update(Content(words))

    def read_command(self) -> tuple[str, Json, str] | str:
        """The path to post to, the body, and the folder that must be trusted first (or empty); or an error text."""
        return "there is nothing to send"

    def save(self) -> None:
        command = self.read_command()
        if isinstance(command, str):
            self.show_error(command[:1].upper() + command[1:])
        elif self._sent_at is None:
            self._submit(*command)

    @work(exclusive=True, group="command")
    async def _submit(self, path: str, body: Json, folder: str) -> None:
        """Send the command. Show the error if the daemon refuses it, and keep the typed text."""
        self.show_error("")
        self._sent_at = time.monotonic()
        try:
            if folder and not await self._ensure_trusted(folder):
                self.show_error("Not trusted, so nothing was started")
                return
            self._sent_at = time.monotonic()
            done = await self.tui.daemon.long_call("POST", path, body)
            self.tui.drafts.pop(self.draft_key, None)
            self.dismiss(done)
        except QuarterdeckError as error:
            self.show_failure(error)
        finally:
            self._sent_at = None

    def action_cancel(self) -> None:
        self.after_typed_keys(self._close)

    def _close(self) -> None:
        """Close the dialog: a command that was sent goes on in the daemon, an unsent prompt is kept for next time."""
        if self._sent_at is not None:
            self.tui.say(f"{self.progress_label} goes on in the background", "warning")
        elif self.draft_key and (prompt := self.value("prompt")):
            self.tui.drafts[self.draft_key] = prompt
            self.tui.say("Not sent; what you typed is kept for the next time")
        else:
            self.tui.drafts.pop(self.draft_key, None)
        self.dismiss(None)

    async def _ensure_trusted(self, folder: str) -> bool:
        """True if the folder is trusted, or the person trusts it now in a dialog."""
        daemon = self.tui.daemon
        project_config = await daemon.long_call("GET", f"/projects/brings?{urlencode({'path': folder})}")
        if project_config["trusted"]:
            return True
        self._sent_at = None
        if not await self.app.push_screen_wait(TrustDialog(project_config)):
            return False
        await daemon.post("/projects/trust", {"path": project_config["path"]})
        return True
