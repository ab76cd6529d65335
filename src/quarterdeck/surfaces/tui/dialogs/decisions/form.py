"""Filling in the form of an MCP server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from quarterdeck.core.text.sanitize import UNSEEN, one_line, visible
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.terminal.request_card import fields_of
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.dialogs.choices import Numbered, OneWord
from quarterdeck.surfaces.tui.widgets.line_input import Field

Json = dict[str, Any]


def read_value(field: Mapping[str, Any], text: str) -> Any:
    """What a text means for a field of a form; ValueError says why it means nothing."""
    kind = field.get("type")
    if kind == "integer":
        return int(text)
    if kind == "number":
        return float(text)
    return json.loads(text) if kind in ("object", "array") else text


class FormDialog(DecisionDialog[Json]):
    """Ends with the content of the form."""

    heading = "Fill in"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f2", "save", "send", priority=True, key_display="^s")]

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._fields = fields_of(asked.shown)
        schema = asked.shown["tool_input"].get("requested_schema")
        needed = schema.get("required") if isinstance(schema, dict) else None
        self._needed = set(needed) if isinstance(needed, list) else set()

    def inside(self) -> ComposeResult:
        message = visible(str(self.asked.shown["tool_input"].get("message", "")))
        yield Static(Content(message).stylize("bold"), classes="says", markup=False)
        for place, (name, field) in enumerate(self._fields.items()):
            words = one_line(str(field.get("title") or name)) + ("" if name in self._needed else " (may be left out)")
            yield Static(Content(words), classes="says", markup=False)
            choices = field.get("enum")
            if field.get("type") == "boolean":
                yield OneWord("", ("no", "yes"), int(field.get("default") is True), id=f"field{place}")
            elif isinstance(choices, list):
                yield Numbered([(str(choice), "") for choice in choices], id=f"field{place}")
            else:
                default = field.get("default")
                if UNSEEN.search(str(default)):
                    words = f"It offers what does not all show, and is left for you to type: {visible(str(default))}"
                    yield Static(Content(one_line(words)), classes="warns", markup=False)
                    default = None
                hint = one_line(str(field.get("description") or ""))
                yield Field("" if default is None else str(default), placeholder=hint, id=f"field{place}")

    def save(self) -> None:
        content: Json = {}
        for place, (name, field) in enumerate(self._fields.items()):
            try:
                value = self._value(place, field)
            except ValueError as error:
                self.trouble(f"{name}: {error}")
                return
            if value is None and name in self._needed:
                self.trouble(f"{name} is needed")
                return
            if value is not None:
                content[name] = value
        self.send(content)

    def _value(self, place: int, field: Mapping[str, Any]) -> Any:
        widget = self.query_one(f"#field{place}")
        if isinstance(widget, OneWord):
            return bool(widget.chosen)
        if isinstance(widget, Numbered):
            return field["enum"][widget.picked[0]] if widget.picked else None
        assert isinstance(widget, Input)
        return read_value(field, widget.value) if widget.value.strip() else None

    def on_input_submitted(self) -> None:
        self.save()
