"""The dialog that fills in a form of an MCP server."""

from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from quarterdeck.core.text.forms import FormField
from quarterdeck.core.text.sanitize import UNSEEN, one_line, visible
from quarterdeck.surfaces.terminal.forms.answers import checked_value, fields_of, read_value, value_text
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, label, save_key
from quarterdeck.surfaces.tui.dialogs.choices import NumberedChoice, WordChoice
from quarterdeck.surfaces.tui.widgets.inputs import LineInput

Json = dict[str, Any]


class FormDialog(DecisionDialog[Json]):
    """Ends with the content of the form."""

    heading = "Fill in"
    BINDINGS = [save_key("send")]

    def __init__(self, item: RequestItem) -> None:
        super().__init__(item)
        self._fields = fields_of(item.shown)

    def compose_box(self) -> ComposeResult:
        message = visible(str(self.item.shown["tool_input"].get("message", "")))
        yield Static(Content(message).stylize("bold"), classes="says", markup=False)
        for place, field in enumerate(self._fields):
            yield label(f"{field.title or field.name}{'' if field.required else ' (optional)'}")
            if field.type == "boolean":
                yield WordChoice("", ((False, "no"), (True, "yes")), field.default is True, id=f"field{place}")
            elif field.choices:
                titles = [(title, "") for _, title in field.choices]
                yield NumberedChoice(titles, several=field.type == "array", id=f"field{place}")
            else:
                yield from self._input(place, field)

    def _input(self, place: int, field: FormField) -> ComposeResult:
        text = "" if field.default is None else value_text(field.default)
        if UNSEEN.search(text):
            words = f"The default has hidden characters, so type the value yourself: {visible(text)}"
            yield label(words, classes="warns")
            text = ""
        yield LineInput(text, placeholder=one_line(field.description), id=f"field{place}")

    def save(self) -> None:
        content: Json = {}
        for place, field in enumerate(self._fields):
            try:
                value = self._value(place, field)
            except ValueError as error:
                self.show_error(f"{field.name}: {error}")
                return
            if value is None and field.required:
                self.show_error(f"{field.name} is required")
                return
            if value is not None:
                content[field.name] = value
        self.send(content)

    def _value(self, place: int, field: FormField) -> Any:
        widget = self.query_one(f"#field{place}")
        if isinstance(widget, WordChoice):
            return widget.value
        if isinstance(widget, NumberedChoice):
            picked = [field.choices[number][0] for number in widget.picked]
            return checked_value(field, picked if field.type == "array" else picked[0]) if picked else None
        assert isinstance(widget, Input)
        return read_value(field, widget.value) if widget.value.strip() else None

    def on_input_submitted(self) -> None:
        self.save()
