"""What more a session needs to be told: a prompt, how it goes on, or another mode or model."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import quote

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.session_actions import MODES, PERMISSION_MODES, called
from quarterdeck.surfaces.tui.dialogs.choices import OneWord
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import KEEP, OrderDialog
from quarterdeck.surfaces.tui.widgets.line_input import Field

Json = dict[str, Any]
AS_IT_IS = "as it is"


def path_of(session: Json) -> str:
    """Where a session is in the API."""
    return f"/sessions/{quote(session['session_id'], safe='')}"


class SessionDialog(OrderDialog):
    """About one session."""

    def __init__(self, session: Json) -> None:
        super().__init__()
        self.session = session

    @property
    def at(self) -> str:
        return path_of(self.session)

    def what(self) -> Static:
        """Which session it is about."""
        title = f" · {self.session['title']}" if self.session["title"] else ""
        return Static(Content(one_line(f"{called(self.session)}{title}")), classes="says", markup=False)


class WriteDialog(SessionDialog):
    """A prompt for a session of ours."""

    heading = "Write to a session"
    BINDINGS: ClassVar[list[BindingType]] = [
        KEEP,
        Binding("ctrl+s,f2", "send", "send", priority=True, key_display="^s"),
    ]

    def __init__(self, session: Json) -> None:
        super().__init__(session)
        self.draft_of = f"write {session['session_id']}"

    def fields(self) -> ComposeResult:
        yield self.what()
        yield from self.prompt_box("^s sends it")

    def on_mount(self) -> None:
        super().on_mount()
        box = self.query_one("#prompt", TextArea)
        box.focus()
        box.move_cursor(box.document.end)

    def wanted(self) -> tuple[str, Json, str] | str:
        return (f"{self.at}/messages", {"prompt": self.prompt}, "") if self.prompt else "write something first"


class GoOnDialog(SessionDialog):
    """A conversation goes on: resumed, forked, or taken over."""

    BINDINGS: ClassVar[list[BindingType]] = [
        KEEP,
        Binding("ctrl+s,f2", "send", "go on", priority=True, key_display="^s"),
    ]
    HEADINGS: ClassVar[dict[str, str]] = {
        "resume": "Resume a conversation",
        "fork": "Fork a conversation",
        "takeover": "Take a session over",
    }
    doing = "Starting"

    def __init__(self, session: Json, how: str, words: str = "") -> None:
        super().__init__(session)
        self._how = how
        self._words = words
        self.heading = self.HEADINGS[how]
        self.draft_of = f"{how} {session['session_id']}"

    def fields(self) -> ComposeResult:
        yield self.what()
        yield from self.prompt_box("^s goes on with or without it", self._words)
        mode = self.session["mode"]
        yield OneWord("mode", MODES, MODES.index(mode) if mode in MODES else 0, id="mode")
        had = self.session["permission_mode"]
        place = PERMISSION_MODES.index(had) if had in PERMISSION_MODES else 0
        yield OneWord("permissions", PERMISSION_MODES, place, id="permissions")
        if self._how == "resume":
            yield Field(placeholder="model: leave empty for the usual one", id="model", max_length=200)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#prompt", TextArea).focus()

    def wanted(self) -> tuple[str, Json, str] | str:
        body: Json = {
            "mode": MODES[self.query_one("#mode", OneWord).chosen],
            "permission_mode": PERMISSION_MODES[self.query_one("#permissions", OneWord).chosen],
        }
        if self.prompt:
            body["prompt"] = self.prompt
        folder = self.session["cwd"]
        if self._how == "resume":
            model = self.query_one("#model", Input).value.strip()
            more = {"resume": self.session["session_id"]} | ({"model": model} if model else {})
            return "/sessions", body | more, folder
        return f"{self.at}/{self._how}", body, folder


class SwitchDialog(SessionDialog):
    """Another mode; or, where it runs over the SDK, another model or permission mode."""

    heading = "Let it go on otherwise"
    doing = "Changing"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "send", "change", priority=True, key_display="^s")]

    def fields(self) -> ComposeResult:
        yield self.what()
        yield OneWord("mode", MODES, MODES.index(self.session["mode"]), id="mode")
        if self.session["mode"] == "sdk":
            yield OneWord("permissions", (AS_IT_IS, *PERMISSION_MODES), 0, id="permissions")
            yield Field(placeholder="model: leave empty for the one it has", id="model", max_length=200)

    def wanted(self) -> tuple[str, Json, str] | str:
        mode = MODES[self.query_one("#mode", OneWord).chosen]
        more = self._more()
        if mode == self.session["mode"]:
            return (f"{self.at}/mode", more, "") if more else "choose what shall be otherwise"
        return "one thing at a time: the mode, or the rest" if more else (f"{self.at}/mode", {"mode": mode}, "")

    def _more(self) -> Json:
        if self.session["mode"] != "sdk":
            return {}
        place = self.query_one("#permissions", OneWord).chosen
        model = self.query_one("#model", Input).value.strip()
        more = {"permission_mode": PERMISSION_MODES[place - 1]} if place else {}
        return more | ({"model": model} if model else {})
