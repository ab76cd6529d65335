"""The dialog that edits a tool's input before it runs: here, or in $EDITOR."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding
from textual.widgets import TextArea

from quarterdeck.surfaces.client.connection import run_in_thread
from quarterdeck.surfaces.terminal.forms.tool_input import (
    command_field,
    edit_in_editor,
    editable_text,
    read_edited_input,
)
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, label, save_key
from quarterdeck.surfaces.tui.terminal_handover import suspend_for
from quarterdeck.surfaces.tui.widgets.inputs import TextBox

Json = dict[str, Any]
MAX_EDITABLE = 100_000
"""Characters beyond which Textual's text area gets slow; longer inputs are read-only here."""


class EditDialog(DecisionDialog[Json]):
    """Ends with the new input."""

    heading = "Edit, then allow"
    BINDINGS = [
        save_key("allow this"),
        Binding("ctrl+e", "editor", "open in $EDITOR", priority=True),
    ]

    def __init__(self, item: RequestItem, text: str | None = None) -> None:
        """`text`: the input as text, if the caller has made it already."""
        super().__init__(item)
        self._input: Json = item.shown["tool_input"]
        self._text = item.drafts.get(self.heading) or (editable_text(self._input) if text is None else text)

    @property
    def _is_large(self) -> bool:
        return len(self._text) > MAX_EDITABLE

    def compose_box(self) -> ComposeResult:
        name = command_field(self._input)
        words = f"{'The command' if name else 'The input, as JSON'}:"
        if self._is_large:
            words = f"{len(self._text):,} characters are too many to edit here: ^e opens your editor"
        shown = self._text[:MAX_EDITABLE]
        yield label(words)
        yield TextBox(shown, id="text", soft_wrap=True, show_line_numbers=not name, read_only=self._is_large)

    def save(self) -> None:
        if self._is_large:
            self.run_worker(self._save_in_thread(), group="save", exclusive=True)
            return
        text = self.query_one("#text", TextArea).text
        self._save(text, read_edited_input(text, self._input))

    async def _save_in_thread(self) -> None:
        self._save(self._text, await run_in_thread(lambda: read_edited_input(self._text, self._input)))

    def _save(self, text: str, tool_input: Json | str) -> None:
        if isinstance(tool_input, str):
            self.show_error(tool_input)
        else:
            self.item.drafts[self.heading] = text
            self.send(tool_input)

    def action_editor(self) -> None:
        self.after_typed_keys(self._open_editor)

    def _open_editor(self) -> None:
        self.run_worker(self._edit_in_editor(), group="editor", exclusive=True)

    async def _edit_in_editor(self) -> None:
        area = self.query_one("#text", TextArea)
        text = self._text if self._is_large else area.text
        suffix = "json" if command_field(self._input) is None else "sh"
        try:
            self._text = await suspend_for(self.tui, lambda: edit_in_editor(text, suffix))
        except SuspendNotSupported:
            self.show_error("this terminal cannot be suspended for an editor")
        except (OSError, ValueError) as error:
            self.show_error(f"the editor did not start: {error}")
        else:
            area.text = self._text[:MAX_EDITABLE]
            area.read_only = self._is_large
