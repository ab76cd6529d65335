"""Answering questions and filling in forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, RadioSet, Static

from quarterdeck.core.text import one_line, visible
from quarterdeck.surfaces.tui.card import fields_of, questions_of
from quarterdeck.surfaces.tui.dialogs.choices import Tick, one_of
from quarterdeck.surfaces.tui.dialogs.dialog import DecisionDialog
from quarterdeck.surfaces.tui.model import Asked

Json = dict[str, Any]
SAVE: list[BindingType] = [Binding("ctrl+s,f2", "save", "send", priority=True, key_display="^s")]


def answer_to(question: Mapping[str, Any], chosen: list[int], typed: str) -> str | list[str] | None:
    """The answer by what was chosen and typed; words of one's own go beside several choices, and instead of one."""
    labels = [str(option.get("label", "")) for option in question.get("options", [])]
    picked = [labels[place] for place in chosen]
    if question.get("multiSelect"):
        return [*picked, *([typed] if typed else [])] or None
    return typed or (picked[0] if picked else None)


class AnswerDialog(DecisionDialog[Json]):
    """Ends with the answers by the questions' texts."""

    heading = "Answer"
    BINDINGS: ClassVar[list[BindingType]] = SAVE

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._questions = questions_of(asked.shown)

    def inside(self) -> ComposeResult:
        if not self._questions:
            yield Static("This question has a form Quarterdeck does not know: answer it at its terminal.", markup=False)
        for place, question in enumerate(self._questions):
            yield Static(Content(visible(question["question"])).stylize("bold"), classes="says", markup=False)
            labels = [_option(option) for option in question.get("options", [])]
            if question.get("multiSelect"):
                for number, text in enumerate(labels):
                    yield Tick(text, id=f"tick{place}-{number}", compact=True)
            elif labels:
                yield one_of(f"one{place}", labels)
            yield Input(placeholder="or in your own words", id=f"typed{place}")

    def action_save(self) -> None:
        answers: Json = {}
        for place, question in enumerate(self._questions):
            answer = answer_to(
                question, self._chosen(place, question), self.query_one(f"#typed{place}", Input).value.strip()
            )
            if answer is None:
                self.trouble(f"not answered yet: {question['question']}")
                return
            answers[question["question"]] = answer
        if answers:
            self.send(answers)

    def _chosen(self, place: int, question: Mapping[str, Any]) -> list[int]:
        if question.get("multiSelect"):
            ticks = [self.query_one(f"#tick{place}-{n}", Tick) for n in range(len(question.get("options", [])))]
            return [number for number, tick in enumerate(ticks) if tick.value]
        if not question.get("options"):
            return []
        pressed = self.query_one(f"#one{place}", RadioSet).pressed_index
        return [pressed] if pressed >= 0 else []

    def on_input_submitted(self) -> None:
        self.action_save()


def _option(option: Mapping[str, Any]) -> Content:
    label, about = one_line(str(option.get("label", ""))), one_line(str(option.get("description", "")))
    return Content.assemble((label, "bold"), f"  {about}")


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
    BINDINGS: ClassVar[list[BindingType]] = SAVE

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._fields = fields_of(asked.shown)
        schema = asked.shown["tool_input"].get("requested_schema")
        needed = schema.get("required") if isinstance(schema, dict) else None
        self._needed = set(needed) if isinstance(needed, list) else set()

    def inside(self) -> ComposeResult:
        yield Static(
            Content(visible(str(self.asked.shown["tool_input"].get("message", "")))), classes="says", markup=False
        )
        for place, (name, field) in enumerate(self._fields.items()):
            words = one_line(str(field.get("title") or name)) + ("" if name in self._needed else " (may be left out)")
            choices = field.get("enum")
            if field.get("type") == "boolean":
                yield Tick(Content(words), id=f"field{place}", compact=True)
                continue
            yield Static(Content(words), classes="says", markup=False)
            if isinstance(choices, list):
                yield one_of(f"field{place}", [Content(one_line(str(c))) for c in choices])
            else:
                yield Input(placeholder=one_line(str(field.get("description") or "")), id=f"field{place}")

    def action_save(self) -> None:
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
        if isinstance(widget, Tick):
            return widget.value
        if isinstance(widget, RadioSet):
            return field["enum"][widget.pressed_index] if widget.pressed_index >= 0 else None
        assert isinstance(widget, Input)
        return read_value(field, widget.value) if widget.value.strip() else None

    def on_input_submitted(self) -> None:
        self.action_save()
