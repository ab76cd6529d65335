"""Adding an MCP server: a command with its variables, or an address with its headers."""

from __future__ import annotations

import shlex
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from quarterdeck.surfaces.tui.dialogs.choices import OneWord
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import OrderDialog
from quarterdeck.surfaces.tui.dialogs.text_area import Area
from quarterdeck.surfaces.tui.widgets.line_input import Field

Json = dict[str, Any]
TRANSPORTS = ("stdio", "http", "sse")
SCOPES = ("user", "local", "project")
WHOSE = ("yours everywhere", "yours in a project", "the project's")


def read_pairs(text: str, sign: str) -> dict[str, str] | str:
    """`NAME=value` or `Name: value`, one a line; or which line is none, in words."""
    found: dict[str, str] = {}
    for row in text.splitlines():
        name, there, value = row.partition(sign)
        if row.strip() and (not there or not name.strip()):
            return f"one a line, like {'API_KEY=…' if sign == '=' else 'Authorization: …'}; this is none: {row.strip()}"
        if row.strip():
            found[name.strip()] = value.strip()
    return found


def read_words(text: str) -> list[str] | str:
    """A command line as its words; or why it is none."""
    try:
        return shlex.split(text) or "a stdio server needs a command, like npx -y some-server"
    except ValueError as error:
        return f"the command cannot be read: {error}"


class ServerDialog(OrderDialog):
    """Ends with what Claude Code said."""

    heading = "Add an MCP server"
    doing = "Adding"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "send", "add it", priority=True, key_display="^s")]

    def fields(self) -> ComposeResult:
        yield Field(placeholder="name, like files", id="name", max_length=64)
        yield OneWord("transport", TRANSPORTS, 0, id="transport")
        yield Field(placeholder="", id="target", max_length=4096)
        yield Static("", id="pairs-are", classes="says", markup=False)
        yield Area(id="pairs", soft_wrap=True)
        yield OneWord("whose", WHOSE, 0, id="scope")
        yield Field(placeholder="the project's folder, from /", id="project", max_length=4096)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#name", Input).focus()
        self._changed()

    def on_chosen(self) -> None:
        self._changed()

    @property
    def _transport(self) -> str:
        return TRANSPORTS[self.query_one("#transport", OneWord).chosen]

    @property
    def _scope(self) -> str:
        return SCOPES[self.query_one("#scope", OneWord).chosen]

    def _changed(self) -> None:
        stdio = self._transport == "stdio"
        target = "command with its words, like npx -y some-server" if stdio else "address, like https://example.org/mcp"
        self.query_one("#target", Input).placeholder = target
        pairs = "Variables, one a line, NAME=value (may be empty):"
        headers = "Headers, one a line, Name: value (may be empty):"
        self.query_one("#pairs-are", Static).update(Content(pairs if stdio else headers))
        self.query_one("#project", Input).display = self._scope != "user"

    def wanted(self) -> tuple[str, Json, str] | str:
        name, target = (self.query_one(f"#{one}", Input).value.strip() for one in ("name", "target"))
        if not name:
            return "a server needs a name"
        there = self._there(target)
        if isinstance(there, str):
            return there
        body = {"name": name, "transport": self._transport, "scope": self._scope, **there}
        if self._scope == "user":
            return "/mcp", body, ""
        project = self.query_one("#project", Input).value.strip()
        return ("/mcp", {**body, "project": project}, project) if project else "name the project's folder"

    def _there(self, target: str) -> Json | str:
        """What runs or where it is, and what it gets."""
        stdio = self._transport == "stdio"
        pairs = read_pairs(self.query_one("#pairs", TextArea).text, "=" if stdio else ":")
        if isinstance(pairs, str):
            return pairs
        if not stdio:
            return {"url": target, "headers": pairs} if target else "a server needs an address"
        words = read_words(target)
        return words if isinstance(words, str) else {"command": words[0], "args": words[1:], "env": pairs}
