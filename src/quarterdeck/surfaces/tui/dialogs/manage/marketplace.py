"""Adding a marketplace: a folder, an address, or a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import OrderDialog
from quarterdeck.surfaces.tui.widgets.line_input import Field

Json = dict[str, Any]


class MarketplaceDialog(OrderDialog):
    """Ends with what Claude Code said."""

    heading = "Add a marketplace"
    doing = "Adding"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "send", "add it", priority=True, key_display="^s")]

    def fields(self) -> ComposeResult:
        yield Static("A folder, an address, or a repository of GitHub:", classes="says", markup=False)
        yield Field(placeholder="like /home/ann/market or owner/repository", id="source", max_length=2048)
        yield Static("Adding it installs nothing: its plugins are offered to be installed.", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#source", Input).focus()

    def on_input_submitted(self) -> None:
        self.action_send()

    def wanted(self) -> tuple[str, Json, str] | str:
        source = self.query_one("#source", Input).value.strip()
        if not source:
            return "name a folder, an address, or owner/repository"
        if source.startswith("."):
            return "a folder is named from / or from ~"
        if source.startswith("~/"):
            source = str(Path(source).expanduser())
        return "/plugins/marketplaces", {"source": source}, ""
