"""The dialog that answers questions, one after the other: by number, in your own words, with a note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from quarterdeck.core.text.sanitize import one_line, visible
from quarterdeck.surfaces.terminal.forms.answers import question_answer, questions_of
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, label, save_key
from quarterdeck.surfaces.tui.dialogs.choices import DIGITS, Chosen, NumberedChoice
from quarterdeck.surfaces.tui.widgets.inputs import LineInput

Json = dict[str, Any]
NOTE_LIMIT = 4_000


class QuestionBox(Vertical):
    """One question: its text, its numbered options, an input for your own words and one for a note."""

    DEFAULT_CSS = "QuestionBox { height: auto; }"

    def __init__(self, place: int, question: Mapping[str, Any], start: str) -> None:
        super().__init__(id=f"question{place}")
        self.question = question
        self._place = place
        self._start = [int(start) - 1] if start in DIGITS and start else []

    def compose(self) -> ComposeResult:
        several = bool(self.question.get("multiSelect"))
        words = visible(str(self.question["question"])) + (" (several may be chosen)" if several else "")
        yield Static(Content(words).stylize("bold"), classes="says", markup=False)
        options = [(str(o.get("label", "")), str(o.get("description", ""))) for o in self.question.get("options", [])]
        chosen = [place for place in self._start if place < len(options)]
        if options:
            yield NumberedChoice(options, several=several, chosen=chosen, id=f"pick{self._place}")
        also = "other, beside these, in your own words" if several else "other: in your own words"
        yield LineInput(placeholder=also if options else "in your own words", id=f"typed{self._place}")
        yield LineInput(placeholder="a note for the agent, or nothing", max_length=NOTE_LIMIT, id=f"note{self._place}")

    @property
    def numbered(self) -> NumberedChoice | None:
        return next(iter(self.query(NumberedChoice)), None)

    @property
    def answer(self) -> str | list[str] | None:
        typed = self.query_one(f"#typed{self._place}", Input).value.strip()
        return question_answer(self.question, self.numbered.picked if self.numbered else [], typed)

    @property
    def note(self) -> str:
        return self.query_one(f"#note{self._place}", Input).value.strip()

    def begin(self) -> None:
        """Focus the first widget that answers."""
        (self.numbered or self.query_one(f"#typed{self._place}", Input)).focus()

    def on_chosen(self, message: Chosen) -> None:
        """Replace typed words by the choice, if only one answer is allowed."""
        if not self.question.get("multiSelect"):
            self.query_one(f"#typed{self._place}", Input).value = ""

    def on_input_changed(self, event: Input.Changed) -> None:
        """Replace the choice by typed words, if only one answer is allowed."""
        is_answer = event.value and event.input.id == f"typed{self._place}"
        if is_answer and self.numbered and not self.question.get("multiSelect"):
            self.numbered.clear()


class AnswerDialog(DecisionDialog[Json]):
    """Ends with the answers and the notes, by the text of their question."""

    heading = "Answer"
    BINDINGS = [
        Binding("enter", "go_on", "next, or send", tooltip="to the next question; after the last one it sends"),
        Binding("pagedown", "turn(1)", "next question", show=False),
        Binding("pageup", "turn(-1)", "previous question", show=False),
        save_key("send"),
    ]

    def __init__(self, item: RequestItem, start: str = "") -> None:
        super().__init__(item)
        self._questions = questions_of(item.shown)
        self._start = start
        self._place = 0

    def compose_box(self) -> ComposeResult:
        if not self._questions:
            yield label("This question has a form Quarterdeck does not know: answer it at its terminal.")
        for place, question in enumerate(self._questions):
            yield QuestionBox(place, question, self._start if not place else "")

    def on_mount(self) -> None:
        self._turn_to(0)

    def _turn_to(self, place: int) -> None:
        """Show one question."""
        self._place = min(max(0, place), max(0, len(self._questions) - 1))
        for position, box in enumerate(self.query(QuestionBox)):
            box.display = position == self._place
            if box.display:
                box.begin()
        if self._questions:
            topic = one_line(str(self._questions[self._place].get("header") or ""))[:40]
            parts = (self.heading, f"{self._place + 1} of {len(self._questions)}", topic)
            self.query_one("#box").border_title = Content(" · ".join(part for part in parts if part))

    def action_turn(self, step: int) -> None:
        self._turn_to(self._place + step)

    def action_go_on(self) -> None:
        """Go to the next question once this one is answered; after the last one send all answers."""
        box = self.query_one(f"#question{self._place}", QuestionBox) if self._questions else None
        if box is not None and box.answer is None:
            self.show_error("Pick one by its number, or type your own words")
        elif self._place + 1 < len(self._questions):
            self.show_error("")
            self._turn_to(self._place + 1)
        else:
            self.save()

    def on_input_submitted(self) -> None:
        self.action_go_on()

    def save(self) -> None:
        answers: Json = {}
        notes: dict[str, str] = {}
        for position, box in enumerate(self.query(QuestionBox)):
            text = str(box.question["question"])
            answer = box.answer
            if answer is None:
                self._turn_to(position)
                self.show_error(f"not answered yet: {text}")
                return
            answers[text] = answer
            notes |= {text: box.note} if box.note else {}
        if answers:
            self.send({"answers": answers, "notes": notes or None})
