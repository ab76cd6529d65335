"""The dialogs of session commands: write a prompt, continue a conversation, change the mode or model."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.widgets import Static, TextArea

from quarterdeck.surfaces.terminal.session_actions import MODES, PERMISSION_MODES, session_label, session_path
from quarterdeck.surfaces.tui.dialogs.base import label, save_key
from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import (
    KEEP_BINDING,
    CommandDialog,
    launch_fields,
    model_field,
)
from quarterdeck.views.resources.session_view import SessionView

Json = dict[str, Any]
UNCHANGED = (None, "as it is")


class SessionDialog(CommandDialog):
    """A dialog about one session."""

    def __init__(self, session: SessionView) -> None:
        super().__init__()
        self.session = session

    @property
    def path(self) -> str:
        return session_path(self.session)

    def summary(self) -> Static:
        """The session in one line."""
        title = f" · {self.session.title}" if self.session.title else ""
        return label(f"{session_label(self.session)}{title}")


class PromptDialog(SessionDialog):
    """Sends a prompt to an owned session."""

    heading = "Write to a session"
    BINDINGS = [KEEP_BINDING, save_key("send")]

    def __init__(self, session: SessionView) -> None:
        super().__init__(session)
        self.draft_key = f"write {session.session_id}"

    def fields(self) -> ComposeResult:
        yield self.summary()
        yield from self.prompt_box("^s sends it")

    def on_mount(self) -> None:
        box = self.query_one("#prompt", TextArea)
        box.move_cursor(box.document.end)

    def read_command(self) -> tuple[str, Json, str] | str:
        prompt = self.value("prompt")
        return (f"{self.path}/messages", {"prompt": prompt}, "") if prompt else "write something first"


class ContinueDialog(SessionDialog):
    """Continues a conversation: resumes, forks, or takes over."""

    BINDINGS = [KEEP_BINDING, save_key("go on")]
    HEADINGS: ClassVar[dict[str, str]] = {
        "resume": "Resume a conversation",
        "fork": "Fork a conversation",
        "takeover": "Take a session over",
    }
    progress_label = "Starting"

    def __init__(self, session: SessionView, action: str, words: str = "") -> None:
        super().__init__(session)
        self._action = action
        self._words = words
        self.heading = self.HEADINGS[action]
        self.draft_key = f"{action} {session.session_id}"

    def fields(self) -> ComposeResult:
        yield self.summary()
        yield from self.prompt_box("^s goes on with or without it", self._words)
        yield from launch_fields(self.session.mode, self.session.permission_mode or "")
        if self._action == "resume":
            yield model_field("the usual one")

    def read_command(self) -> tuple[str, Json, str] | str:
        body = self.filled("mode", "permission_mode", "prompt")
        if self._action == "resume":
            more = {"resume": self.session.session_id} | self.filled("model")
            return "/sessions", body | more, self.session.cwd
        return f"{self.path}/{self._action}", body, self.session.cwd


class SwitchDialog(SessionDialog):
    """Changes the mode, or the model and permission mode of an SDK session."""

    heading = "Change mode or model"
    progress_label = "Changing"
    BINDINGS = [save_key("change")]

    def fields(self) -> ComposeResult:
        yield self.summary()
        yield WordChoice("mode", MODES, self.session.mode, id="mode")
        if self.session.mode == "sdk":
            yield WordChoice("permissions", (UNCHANGED, *PERMISSION_MODES), id="permission_mode")
            yield model_field("the one it has")

    def read_command(self) -> tuple[str, Json, str] | str:
        mode = self.value("mode")
        changes = self.filled("permission_mode", "model") if self.session.mode == "sdk" else {}
        if mode == self.session.mode:
            return (f"{self.path}/mode", changes, "") if changes else "choose what to change"
        if changes:
            return "change one thing at a time: the mode, or the rest"
        return f"{self.path}/mode", {"mode": mode}, ""
