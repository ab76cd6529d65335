"""The dialog that adds an MCP server: a command with its variables, or an address with its headers."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.widgets import Input

from quarterdeck.surfaces.terminal.forms.mcp_form import SCOPES, TRANSPORTS, read_server
from quarterdeck.surfaces.tui.dialogs.base import label, save_key
from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import CommandDialog
from quarterdeck.surfaces.tui.widgets.inputs import LineInput, TextBox


class McpServerDialog(CommandDialog):
    """Ends with the output of Claude Code."""

    heading = "Add an MCP server"
    progress_label = "Adding"
    BINDINGS = [save_key("add it")]

    def fields(self) -> ComposeResult:
        yield LineInput(placeholder="name, like files", id="name", max_length=64)
        yield WordChoice("transport", TRANSPORTS, id="transport")
        yield LineInput(id="target", max_length=4096)
        yield label(id="pairs-are")
        yield TextBox(id="pairs", soft_wrap=True)
        yield WordChoice("whose", SCOPES, id="scope")
        yield LineInput(placeholder="the project's folder, from /", id="project", max_length=4096)

    def on_mount(self) -> None:
        self._update_fields()

    def on_chosen(self) -> None:
        self._update_fields()

    def _update_fields(self) -> None:
        stdio = self.value("transport") == "stdio"
        target = "command with its words, like npx -y some-server" if stdio else "address, like https://example.org/mcp"
        self.query_one("#target", Input).placeholder = target
        pairs = "Variables, one per line, NAME=value" if stdio else "Headers, one per line, Name: value"
        self.show_label("pairs-are", f"{pairs} (may be empty):")
        self.query_one("#project").display = self.value("scope") != "user"

    def read_command(self) -> tuple[str, dict[str, Any], str] | str:
        fields = {name: self.value(name) for name in ("name", "transport", "scope")}
        if not fields["name"]:
            return "a server needs a name"
        server = read_server(fields["transport"], self.value("target"), self.value("pairs"))
        if isinstance(server, str):
            return server
        if fields["scope"] == "user":
            return "/mcp", fields | server, ""
        project = self.value("project")
        return ("/mcp", {**fields, **server, "project": project}, project) if project else "name the project's folder"
