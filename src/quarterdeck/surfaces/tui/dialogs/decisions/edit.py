"""Changing the input of a tool before it may run: in an editor here, or in $EDITOR."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.widgets import Static, TextArea

from quarterdeck.core.text.sanitize import UNSEEN, visible
from quarterdeck.surfaces.client.connection import aside
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.dialogs.text_area import Area
from quarterdeck.surfaces.tui.widgets.suspend import lend_screen

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]
LARGE = 100_000
"""Characters beyond which the editor here would be slow."""


def field_of(tool_input: Json) -> str | None:
    """The field that is edited as plain text: a command that shows as it is. Anything else is edited as JSON."""
    command = tool_input.get("command")
    return "command" if isinstance(command, str) and not UNSEEN.search(command) else None


def written(tool_input: Json) -> str:
    """The input as the editor shows it: nothing in it hides."""
    name = field_of(tool_input)
    if name:
        return str(tool_input[name])
    readable = json.dumps(tool_input, indent=2, ensure_ascii=False)
    return json.dumps(tool_input, indent=2) if UNSEEN.search(readable) else readable


def read_back(text: str, tool_input: Json) -> Json | str:
    """The input that an edited text means; or why it means none, in words. Nothing that hides is taken."""
    if hidden := UNSEEN.search(text):
        how = "take it away" if field_of(tool_input) else "write it as an escape, like \\u200b"
        return f"it holds a character that does not show, {visible(hidden.group())}: {how}"
    name = field_of(tool_input)
    if name:
        return (
            {**tool_input, name: text.removesuffix("\n")} if text.strip() else "an empty command runs nothing: deny it"
        )
    try:
        found = json.loads(text)
    except ValueError as error:
        return f"not JSON: {error}"
    return found if isinstance(found, dict) else "it must be a JSON object"


def allowing(tool_input: Json, edited: Json) -> Json:
    """The decision that lets an input run; one that was left as it was is not called edited."""
    same = edited == tool_input and json.dumps(edited, sort_keys=True) == json.dumps(tool_input, sort_keys=True)
    return {"decision": "allow"} | ({} if same else {"updated_input": edited})


class EditDialog(DecisionDialog[Json]):
    """Ends with the new input."""

    heading = "Edit, then allow"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2", "save", "allow this", priority=True, key_display="^s"),
        Binding("ctrl+e", "editor", "open in $EDITOR", priority=True),
    ]

    def __init__(self, asked: Asked, text: str | None = None) -> None:
        """`text` is the input as it is written, where that was done before."""
        super().__init__(asked)
        self._input: Json = asked.shown["tool_input"]
        self._text = asked.drafts.get(self.heading) or (written(self._input) if text is None else text)

    @property
    def _is_large(self) -> bool:
        return len(self._text) > LARGE

    def inside(self) -> ComposeResult:
        name = field_of(self._input)
        words = f"{'The command' if name else 'The input, as JSON'}:"
        if self._is_large:
            words = f"{len(self._text):,} characters are too many to edit here: ^e opens your editor"
        shown = self._text[:LARGE]
        yield Static(words, classes="says", markup=False)
        yield Area(shown, id="text", soft_wrap=True, show_line_numbers=not name, read_only=self._is_large)

    def save(self) -> None:
        if self._is_large:
            self.run_worker(self._save_aside(), group="save", exclusive=True)
            return
        text = self.query_one("#text", TextArea).text
        self._save(text, read_back(text, self._input))

    async def _save_aside(self) -> None:
        self._save(self._text, await aside(lambda: read_back(self._text, self._input)))

    def _save(self, text: str, found: Json | str) -> None:
        if isinstance(found, str):
            self.trouble(found)
        else:
            self.asked.drafts[self.heading] = text
            self.send(found)

    def action_editor(self) -> None:
        self.once_typed(self._open_editor)

    def _open_editor(self) -> None:
        self.run_worker(self._edit_outside(), group="editor", exclusive=True)

    async def _edit_outside(self) -> None:
        area = self.query_one("#text", TextArea)
        text = self._text if self._is_large else area.text
        suffix = "json" if field_of(self._input) is None else "sh"
        try:
            self._text = await lend_screen(cast("QuarterdeckApp", self.app), lambda: edited(text, suffix))
        except SuspendNotSupported:
            self.trouble("this terminal cannot be handed to an editor")
        except (OSError, ValueError) as error:
            self.trouble(f"the editor did not start: {error}")
        else:
            area.text = self._text[:LARGE]
            area.read_only = self._is_large


def edited(text: str, suffix: str) -> str:
    """The text as the person's own editor leaves it; the file is theirs alone, and gone after."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="qd-edit-") as folder:
        file = Path(folder) / f"input.{suffix}"
        file.write_text(text, encoding="utf-8")
        subprocess.run([*command, str(file)], check=False)  # noqa: S603
        return file.read_text(encoding="utf-8", errors="replace")
