"""The dialog that adds a marketplace: a folder, an address, or a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.app import ComposeResult

from quarterdeck.surfaces.tui.dialogs.base import label, save_key
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import CommandDialog
from quarterdeck.surfaces.tui.widgets.inputs import LineInput


class MarketplaceDialog(CommandDialog):
    """The dialog that adds a marketplace; its result is Claude Code's output."""

    heading = "Add a marketplace"
    progress_label = "Adding"
    BINDINGS = [save_key("add it")]

    def fields(self) -> ComposeResult:
        yield label("A folder, an address, or a GitHub repository:")
        yield LineInput(placeholder="like /home/ann/market or owner/repository", id="source", max_length=2048)
        yield label("Adding it installs nothing: its plugins are offered to be installed.")

    def on_input_submitted(self) -> None:
        self.action_save()

    def read_command(self) -> tuple[str, dict[str, Any], str] | str:
        source = self.value("source")
        if not source:
            return "name a folder, an address, or owner/repository"
        if source.startswith("."):
            return "a folder must start with / or ~"
        if source.startswith("~/"):
            source = str(Path(source).expanduser())
        return "/plugins/marketplaces", {"source": source}, ""
