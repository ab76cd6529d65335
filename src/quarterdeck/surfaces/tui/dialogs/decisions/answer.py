"""Answering questions, one after the other: by number, in own words, with a note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from quarterdeck.core.text.sanitize import one_line, visible
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.terminal.request_card import questions_of
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.dialogs.choices import DIGITS, Chosen, Numbered
from quarterdeck.surfaces.tui.widgets.line_input import Field

Json = dict[str, Any]
NOTE_LIMIT = 4_000


def answer_to(question: Mapping[str, Any], chosen: list[int], typed: str) -> str | list[str] | None:
    """The answer by what was chosen and typed; words of one's own go beside several choices, and instead of one."""
    labels = [str(option.get("label", "")) for option in question.get("options", [])]
    picked = [labels[place] for place in chosen]
    if question.get("multiSelect"):
        return [*picked, *([typed] if typed else [])] or None
    return typed or (picked[0] if picked else None)


class Question(Vertical):
    """One question: its text, its numbered options, room for own words and for a note."""

    DEFAULT_CSS = "Question { height: auto; }"

    def __init__(self, place: int, asked: Mapping[str, Any], start: str) -> None:
        super().__init__(id=f"question{place}")
        self.asked = asked
        self._place = place
        self._start = [int(start) - 1] if start in DIGITS and start else []

    def compose(self) -> ComposeResult:
        several = bool(self.asked.get("multiSelect"))
        words = visible(str(self.asked["question"])) + (" (several may be chosen)" if several else "")
        yield Static(Content(words).stylize("bold"), classes="says", markup=False)
        options = [(str(o.get("label", "")), str(o.get("description", ""))) for o in self.asked.get("options", [])]
        chosen = [place for place in self._start if place < len(options)]
        if options:
            yield Numbered(options, several=several, chosen=chosen, id=f"pick{self._place}")
        also = "other, beside these, in your own words" if several else "other: in your own words"
        yield Field(placeholder=also if options else "in your own words", id=f"typed{self._place}")
        yield Field(placeholder="a note for the agent, or nothing", max_length=NOTE_LIMIT, id=f"note{self._place}")

    @property
    def numbered(self) -> Numbered | None:
        return next(iter(self.query(Numbered)), None)

    @property
    def answer(self) -> str | list[str] | None:
        typed = self.query_one(f"#typed{self._place}", Input).value.strip()
        return answer_to(self.asked, self.numbered.picked if self.numbered else [], typed)

    @property
    def note(self) -> str:
        return self.query_one(f"#note{self._place}", Input).value.strip()

    def begin(self) -> None:
        """Ready to be answered."""
        (self.numbered or self.query_one(f"#typed{self._place}", Input)).focus()

    def on_chosen(self, message: Chosen) -> None:
        """One choice takes the place of words that were typed."""
        if not self.asked.get("multiSelect"):
            self.query_one(f"#typed{self._place}", Input).value = ""

    def on_input_changed(self, event: Input.Changed) -> None:
        """Words that are typed take the place of one choice."""
        numbered = self.numbered
        if event.value and event.input.id == f"typed{self._place}" and numbered and not self.asked.get("multiSelect"):
            numbered.clear()


class AnswerDialog(DecisionDialog[Json]):
    """Ends with the answers and the notes by the questions' texts."""

    heading = "Answer"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go_on", "next, or send", tooltip="to the next question; after the last one it sends"),
        Binding("pagedown", "turn(1)", "next question", show=False),
        Binding("pageup", "turn(-1)", "previous question", show=False),
        Binding("ctrl+s,f2", "save", "send", priority=True, key_display="^s"),
    ]

    def __init__(self, asked: Asked, start: str = "") -> None:
        super().__init__(asked)
        self._questions = questions_of(asked.shown)
        self._start = start
        self._place = 0

    def inside(self) -> ComposeResult:
        if not self._questions:
            yield Static("This question has a form Quarterdeck does not know: answer it at its terminal.", markup=False)
        for place, question in enumerate(self._questions):
            yield Question(place, question, self._start if not place else "")

    def on_mount(self) -> None:
        super().on_mount()
        self._turn_to(0)

    def _turn_to(self, place: int) -> None:
        """Show one question."""
        self._place = min(max(0, place), max(0, len(self._questions) - 1))
        for number, question in enumerate(self.query(Question)):
            question.display = number == self._place
            if question.display:
                question.begin()
        if self._questions:
            topic = one_line(str(self._questions[self._place].get("header") or ""))[:40]
            parts = (self.heading, f"{self._place + 1} of {len(self._questions)}", topic)
            self.query_one("#box").border_title = Content(" · ".join(part for part in parts if part))

    def action_turn(self, step: int) -> None:
        self._turn_to(self._place + step)

    def action_go_on(self) -> None:
        """To the next question, once this one is answered; after the last one all is sent."""
        shown = self.query_one(f"#question{self._place}", Question) if self._questions else None
        if shown is not None and shown.answer is None:
            self.trouble("Pick one by its number, or type your own words")
        elif self._place + 1 < len(self._questions):
            self.trouble("")
            self._turn_to(self._place + 1)
        else:
            self.save()

    def on_input_submitted(self) -> None:
        self.action_go_on()

    def save(self) -> None:
        answers: Json = {}
        notes: dict[str, str] = {}
        for place, question in enumerate(self.query(Question)):
            text = str(question.asked["question"])
            answer = question.answer
            if answer is None:
                self._turn_to(place)
                self.trouble(f"not answered yet: {text}")
                return
            answers[text] = answer
            notes |= {text: question.note} if question.note else {}
        if answers:
            self.send({"answers": answers, "notes": notes or None})
